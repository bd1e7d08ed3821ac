"""The base of all metrics: immutable settings and one generator that measures a sample."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

from typing_extensions import TypeIs

from ragmetrics_core import prompts
from ragmetrics_core.boundary.keywords import refuse_unknown
from ragmetrics_core.boundary.shapes import is_dict, is_list, is_tuple
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.measurement import Bounds, Measurement
from ragmetrics_core.metrics._settings import checked, escaped
from ragmetrics_core.parsers import StandaloneQuestion
from ragmetrics_core.prompts import Prompt, PromptText, load_version
from ragmetrics_core.protocol import Part, Steps
from ragmetrics_core.samples import View

__all__ = ["Metric", "Needs", "signature_of"]

V = TypeVar("V", bound=View)

Needs = frozenset[str]

_OWN_VARIANTS = frozenset({"strict", "paper", "turn"})
_FOREIGN_VARIANTS = ("ragas-", "squad")
# Up to here a float holds every whole number.
_WHOLE = 2**53


@dataclass(frozen=True, kw_only=True)
class Metric(Generic[V]):
    """A metric: the dataclass's fields are its settings, `measure` is its procedure.

    A variant is a named and versioned set of settings. Explicit settings override it.

    Attributes:
        name: the metric's name, the same as its module's.
        inputs: the view of a sample that `measure` takes; it defines the required fields.
        needs: the models it uses, of "judge", "embedder" and "scorer".
        low, high: the range of the score with any settings; `range` is the range with these settings.
        higher_is_better: whether higher scores are better.
        scores_blanks: whether a blank answer gets a score; otherwise the score is undefined, without a call.
        packages: packages needed to measure it, as (module, extra of ragmetrics); recomputing a record needs
            none of them.
        variants: settings by variant name; the first one is the default.
        variant: the variant; a name without a version ("paper") means the newest version, and "strict" the
            version that is the default.
        repetition: number of this measurement among repeated ones; each repetition draws its own replies.
        window: for a sample with a history, number of its last turns that count; None for all.
        standalone: the prompt that rewrites a question that has a history.
    """

    name: ClassVar[str]
    inputs: ClassVar[type[View]]
    needs: ClassVar[Needs] = frozenset({"judge"})
    low: ClassVar[float] = 0.0
    high: ClassVar[float] = 1.0
    higher_is_better: ClassVar[bool] = True
    scores_blanks: ClassVar[bool] = False
    packages: ClassVar[tuple[tuple[str, str], ...]] = ()
    variants: ClassVar[Mapping[str, Mapping[str, Any]]] = {"strict.1": {}}

    variant: str = "strict.1"
    repetition: int = 1
    window: int | None = None
    standalone: Prompt[StandaloneQuestion] = prompts.STANDALONE
    _given: ClassVar[frozenset[str]] = frozenset()

    if not TYPE_CHECKING:  # an editor would show `**settings` in place of the settings

        def __new__(cls, **settings: object) -> Self:
            """Remember the explicit settings, so that the variant does not override them."""
            if not settings.keys() <= {each.name for each in fields(cls) if each.init}:
                taken = inspect.signature(cls.__init__).parameters
                if not any(each.kind is inspect.Parameter.VAR_KEYWORD for each in taken.values()):
                    refuse_unknown(settings, *[name for name in taken if name != "self"], taker=cls.__name__)
            metric = super().__new__(cls)
            object.__setattr__(metric, "_given", frozenset(settings))
            return metric

    def __post_init__(self) -> None:
        """Fill in the variant's settings, then check all."""
        given = self._given
        object.__setattr__(self, "variant", self._variant_name(self.variant))
        for name, value in self.variants[self.variant].items():
            if name not in given:
                object.__setattr__(self, name, value)
        for setting in fields(self):
            value = getattr(self, setting.name)
            if value is not setting.default:
                object.__setattr__(self, setting.name, checked(type(self), setting.name, value))
        self.check_count("repetition")
        if self.window is not None:
            self.check_count("window")
        self.check()

    def check(self) -> None:
        """Raise `ConfigError` when a setting is out of its range."""

    def measure(self, sample: V) -> Steps[Measurement]:
        """Measure one sample: yield requests, return the outcome."""
        raise NotImplementedError

    def check_score(self, setting: str) -> None:
        """Raise `ConfigError` when a setting that replaces a score is outside the metric's range."""
        value = getattr(self, setting)
        if value is not None and not self.low <= value <= self.high:
            raise ConfigError(
                f"{self.name}: {setting} must be a score from {self.low:g} to {self.high:g}, not {value}"
            )

    def check_count(self, setting: str) -> None:
        """Raise `ConfigError` when a setting that counts something is below 1."""
        if getattr(self, setting) < 1:
            raise ConfigError(f"{self.name}: {setting} must be at least 1, not {getattr(self, setting)}")

    @property
    def range(self) -> Bounds:
        """The range of the score with these settings."""
        return Bounds(self.low, self.high)

    @property
    def exceeds(self) -> bool:
        """Whether a score may exceed the range; its upper end is then only the usual maximum."""
        return False

    @property
    def view(self) -> type[View]:
        """The view that these settings need: `inputs`, unless a setting asks for other fields."""
        return self.inputs

    @property
    def leaves_blanks_out(self) -> bool:
        """Whether a blank answer or reference makes the score undefined.

        Variants that follow another library treat blanks as that library does; metrics with `scores_blanks`
        score them.
        """
        return not self.scores_blanks and self.variant.partition(".")[0] in _OWN_VARIANTS

    @property
    def reads_answer(self) -> bool:
        """Whether it scores the content of the answer, so that declining loses against answering."""
        return "answer" in (*self.view.required(), *self.view.optional())

    @property
    def knows_conversations(self) -> bool:
        """Whether the history of a sample counts: not in variants that follow another library."""
        return not self.variant.startswith(_FOREIGN_VARIANTS)

    @cached_property
    def reads_question(self) -> bool:
        """Whether a prompt, a comparison or a rating of this metric itself has the question."""
        asked = self.prompts_asked.values()
        return self._compares_question or any("question" in each.variables for each in asked)

    @property
    def _compares_question(self) -> bool:
        """Whether an embedder or a scorer may get the question."""
        return "question" in self.view.required() and bool(self.needs - {"judge"})

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The settings that differ from the variant's own, as JSON."""
        usual = type(self)(variant=self.variant)
        return {
            each.name: _as_json(getattr(self, each.name))
            for each in fields(self)
            if each.init and each.name != "variant" and getattr(self, each.name) != getattr(usual, each.name)
        }

    @cached_property
    def signature(self) -> str:
        """Name, variant and the settings that differ from it: `answer_correctness/strict.1(weights=1:0)`."""
        return signature_of(self.name, self.variant, self.settings)

    @property
    def idle(self) -> frozenset[str]:
        """Settings with prompts or parts that are unused because of another setting."""
        return frozenset()

    @property
    def prompts_asked(self) -> dict[str, Prompt[Any]]:
        """The prompts that this metric itself asks, by setting.

        Without the prompts of its parts, and without the one for samples with a history.
        """
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        left_out = {"standalone", *self.idle}
        return {name: value for name, value in values.items() if is_prompt(value) and name not in left_out}

    @property
    def prompt_names(self) -> frozenset[str]:
        """Names of the prompts that this metric itself asks."""
        return frozenset(prompt.name for prompt in self.prompts_asked.values())

    @property
    def parts_used(self) -> tuple[Part, ...]:
        """The metrics that this metric measures as its parts."""
        values = (getattr(self, each.name) for each in fields(self))
        each_as_tuple = (value if is_tuple(value) else (value,) for value in values)
        return tuple(part for group in each_as_tuple for part in group if isinstance(part, Part))

    @classmethod
    def from_settings(cls, variant: str, settings: Mapping[str, Any]) -> Self:
        """Build the metric from a record's `variant` and `settings`; prompts come from the record's steps.

        Raises:
            ConfigError: the variant or a setting does not exist, or a value is not allowed.
        """
        if "variant" in settings:
            raise ConfigError(
                f"{cls.name}: the variant is not a setting; write {cls.name}/{settings['variant']}"
            )
        known = {each.name: each for each in fields(cls) if each.init}
        unknown = sorted(set(settings) - set(known))
        if unknown:
            own = sorted(set(known) - {"repetition", "variant"})
            raise ConfigError(f"{cls.name} has no setting {unknown[0]!r}; it has {own}")
        usual = cls(variant=variant)
        values = {
            name: _from_json(value, getattr(usual, name) or cls._prompt_of_a_variant(name))
            for name, value in settings.items()
        }
        return cls(variant=variant, **values)

    @classmethod
    def _prompt_of_a_variant(cls, setting: str) -> Prompt[Any] | None:
        """A variant's prompt for a setting in which this variant has none."""
        values = (each.get(setting) for each in cls.variants.values())
        return next((each for each in values if is_prompt(each)), None)

    @classmethod
    def _variant_name(cls, name: object) -> str:
        if not isinstance(name, str):  # of a configuration file
            raise ConfigError(f"{cls.name}: the variant must be a text, not {name!r}")
        if name in cls.variants:
            return name
        versions = [each for each in cls.variants if each.rpartition(".")[0] == name]
        usual = next(iter(cls.variants))
        if usual in versions:
            return usual
        if versions:
            return max(versions, key=lambda each: int(each.rpartition(".")[2]))
        from difflib import get_close_matches

        near = get_close_matches(name, cls.variants, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ConfigError(f"{cls.name} has no variant {name!r}, only {', '.join(cls.variants)}{hint}")


def is_metric(value: object) -> TypeIs[Metric[Any]]:
    """Whether a value is a metric object (not a metric class)."""
    return isinstance(value, Metric)


def is_metric_class(value: object) -> TypeIs[type[Metric[Any]]]:
    """Whether a value is a metric class."""
    return isinstance(value, type) and issubclass(value, Metric)


def is_prompt(value: object) -> TypeIs[Prompt[Any]]:
    """Whether a value is a prompt."""
    return isinstance(value, Prompt)


def signature_of(name: str, variant: str, settings: Mapping[str, Any]) -> str:
    """Signature of a metric with these settings, in the form that records keep."""
    told = ",".join(f"{each}={_in_short(value)}" for each, value in sorted(settings.items()))
    return f"{name}/{variant}" + (f"({told})" if told else "")


def _as_json(value: Any) -> Any:
    match value:
        case _ if is_prompt(value):
            told: dict[str, Any] = {"prompt": value.id, "digest": value.digest}
            translations = {language: _as_json(each) for language, each in value.translations.items()}
            return told | ({"translations": translations} if translations else {})
        case PromptText():
            return {"prompt": value.id, "digest": value.digest}
        case Part():
            told = {
                "part": value.metric,
                "variant": value.variant,
                "settings": {name: _as_json(each) for name, each in value.settings.items()},
            }
            prompts = {key: _as_json(text) for key, text in value.prompts.items()}
            return told | ({"prompts": prompts} if prompts else {})
        case _ if is_tuple(value):
            return [_as_json(each) for each in value]
        case _:
            return value


def _from_json(value: Any, usual: Any) -> Any:
    if is_dict(value) and "prompt" in value:
        return usual
    if isinstance(value, str) and is_prompt(usual) and ".v" in value:
        return load_version(value, usual=usual)
    if is_dict(value) and "part" in value:
        part: dict[str, Any] = value
        return Part(part["part"], part.get("variant"), part.get("settings", {}))
    if is_list(value):
        return tuple(_from_json(each, usual[0] if is_tuple(usual) and usual else None) for each in value)
    return value


def _in_short(value: Any) -> str:
    match value:
        case _ if is_list(value):
            # "a:b" and "c" are not "a" and "b:c"
            return ":".join(escaped(each) if isinstance(each, str) else _in_short(each) for each in value)
        case {"digest": digest, "prompt": prompt}:
            translations = sorted(value.get("translations", {}).items())
            return ":".join([f"{prompt}@{digest[:8]}", *(_in_short(each) for _, each in translations)])
        case {"part": name, "variant": variant, "settings": settings}:
            inner = [f"{key}={_in_short(each)}" for key, each in sorted(settings.items())]
            inner += [_in_short(each) for _, each in sorted(value.get("prompts", {}).items())]
            named = f"{name}/{variant}" if variant else name
            return named + (f"({','.join(inner)})" if inner else "")
        case bool() | None:
            return str(value).lower()
        case float():
            if value.is_integer() and abs(value) < _WHOLE:
                return str(int(value))  # as the whole number that equals it
            short = f"{value:g}"
            return short if float(short) == value else repr(value)
        case _:
            return str(value)
