"""Judges from a judge, a function or a name, and two judges in a cascade."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, cast

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.models._foreign_lines import line_for
from ragmetrics_core.models._plugins import plugin_forms, plugin_judge, plugin_options, rule_judge
from ragmetrics_core.models._secrets import without_secrets
from ragmetrics_core.models._wrapping import CallableJudge, kind_of
from ragmetrics_core.models.names import BUILT_IN, SERVER_FORM, SETTINGS, TIMEOUT, advice_on, at_server
from ragmetrics_core.models.wrapper import PromptChecker, unwrapped
from ragmetrics_core.parsers import PASSED_ON, UNPROVEN, NumberedVerdict, VerdictList
from ragmetrics_core.protocol import Completion, Generate, Judge, Narrow, TextFunction

if TYPE_CHECKING:
    from ragmetrics_core.models.grounded import Checker

__all__ = ["Cascade", "as_judge", "judge_by_name", "judges_by_name"]

UNSURE: Final = (0.2, 0.8)
# What `none` stands for where it is not the parameter's own: no form is asked for, nothing goes along.
_NONE: Final[Mapping[str, Any]] = {"response_format": "text", "extra_body": {}, "logprobs": False}
_JUDGES = (
    '"embedded" (a small support model, no language model), "embedded:FILE.json" for one that you trained '
    '(ragmetrics train-judge), "openai:MODEL", '
    f"{SERVER_FORM}, "
    '"entailment:MODEL" for an NLI model with the embedded rules, '
    '"grounded:MODEL" for MiniCheck, FactCG, LettuceDetect and similar models with the same rules, '
    '"decisions:MODEL" for a decision model, with @URL at another address, '
    '"calibrated:CARD.json,JUDGE" for a judge with calibrated probabilities, '
    '"cascade:CHEAP,EXPENSIVE" for two judges, the cheap one first'
)


def as_judge(judge: Judge | TextFunction | str, *, identity: str | None = None, asked: bool = True) -> Judge:
    """A judge from a judge, from any callable `str -> str` (synchronous or not), or from a name.

    Names are those of the command line: "embedded", "openai:MODEL", "openai:MODEL@URL", "entailment:MODEL",
    "grounded:MODEL", "decisions:MODEL", "calibrated:CARD.json,JUDGE", "cascade:CHEAP,EXPENSIVE", and those of
    installed packages ("mine:MODEL").

    A function is identified by a digest of its bytecode, defaults, closure, bound arguments and the globals
    it uses, but not of what it reads while it runs. A function that holds an object without a digest, such as
    a client, needs an `identity`: without one, its run cannot be resumed, merged or compared.

    Args:
        judge: a judge, a callable or a name.
        identity: a function's name in records, instead of the digest. Change it when the replies change.
        asked: False if a judge given by name is never called and needs no key, package or file.

    Raises:
        ConfigError: `judge` is invalid, or `identity` is empty or given for a judge that has one.
    """
    if not isinstance(judge, Judge) and (line := line_for("judge", judge)) is not None:
        raise ConfigError(line)
    if isinstance(judge, type):
        raise ConfigError(f"a judge is an object, not the class {judge.__name__}: call it first")
    # A wrapper has the methods of every kind; what it goes around says what it is.
    is_judge = isinstance(judge, Judge) and isinstance(unwrapped(judge), Judge)
    if identity is not None and (is_judge or not callable(judge) or not identity.strip()):
        raise ConfigError(
            "identity= must be text that names a function; other judges have their own identity"
        )
    if isinstance(judge, str):
        return judge_by_name(judge, asked=asked)
    if isinstance(judge, CallableJudge) and not judge.is_chosen:
        judge = judge.function  # which may be another one by now
    elif is_judge:
        return cast("Judge", judge)
    if callable(judge):
        return CallableJudge(function=judge, identity=identity or "")
    raise ConfigError(
        "a judge is an object with `identity` and `agenerate`, or a function from text to text, "
        f"not {kind_of(judge)}"
    )


def judges_by_name(
    names: Sequence[str], *, options: Mapping[str, Any] | None = None, asked: bool = True
) -> tuple[Judge, ...]:
    """The judges of a panel; each takes the options that it has.

    Raises:
        ConfigError: as for `judge_by_name`, or no judge has one of the options.
    """
    settings = {key: value for key, value in (options or {}).items() if key != TIMEOUT}
    if settings:
        options_taken = frozenset[str]().union(*map(_options_of, names))
        if unknown := sorted(settings.keys() - options_taken):
            which = (
                f"the judge {without_secrets(names[0])!r} has no" if len(names) == 1 else "no judge has an"
            )
            known = ", ".join([*sorted(options_taken), TIMEOUT])
            raise ConfigError(f"{which} option {unknown[0]!r}; its options are {known}")
    return tuple(_judge(name, settings, asked=asked) for name in names)


def judge_by_name(name: str, *, options: Mapping[str, Any] | None = None, asked: bool = True) -> Judge:
    """The judge with a name: "embedded", "openai:MODEL" and so on.

    Args:
        name: the judge's name.
        options: the judge's settings by name; None omits a parameter.
        asked: False if the judge is never called and needs no key, package or file.

    Raises:
        ConfigError: the name or an option is unknown, or the model's package, key or file is missing.
    """
    return judges_by_name([name], options=options, asked=asked)[0]


def _options_of(name: str) -> frozenset[str]:
    """The options, other than the timeout, that the judge with a name takes."""
    kind, _, rest = name.partition(":")
    if kind == "openai":
        return SETTINGS
    if kind == "calibrated":
        return _options_of(_parts(rest)[-1])
    if kind == "cascade":
        return frozenset[str]().union(*map(_options_of, _parts(rest)))
    return frozenset() if kind in BUILT_IN else plugin_options(kind, SETTINGS)


def _parts(rest: str) -> list[str]:
    """Two parts with a comma between them; the first may be a calibrated judge, which has one of its own."""
    own = 2 if rest.lstrip().startswith("calibrated:") else 1
    names = rest.split(",", own)
    return [name.strip() for name in (",".join(names[:own]), *names[own:])]


def _judge(name: str, settings: Mapping[str, Any], *, asked: bool) -> Judge:
    kind, colon, rest = name.partition(":")
    if kind == "openai" and rest:
        model, base_url = at_server(rest)
        own: dict[str, Any] = {
            key: _NONE.get(key) if value is None else value for key, value in settings.items()
        }
        from ragmetrics_core.models._openai_compatible import OpenAIJudge

        return OpenAIJudge(model, base_url=base_url, asked=asked, **own)
    if kind == "entailment" and rest:
        from ragmetrics_core.models._encoders import CrossEncoderScorer
        from ragmetrics_core.models._entailment import EntailmentJudge

        scorer = CrossEncoderScorer(model=rest, label="entailment", too_long="cut", asked=asked)
        return EntailmentJudge(scorer=scorer, others=rule_judge())
    if kind == "grounded" and rest:
        from ragmetrics_core.models.grounded import GroundedJudge

        return GroundedJudge(checker=_checker(rest, asked=asked), others=rule_judge())
    if kind == "decisions" and rest:
        from ragmetrics_core.models._decisions import DecisionJudge, DecisionServer

        model, base_url = at_server(rest)
        return DecisionJudge(decisions=DecisionServer(model, base_url=base_url, asked=asked))
    if kind == "calibrated" and len(parts := _parts(rest)) == 2 and all(parts):
        from ragmetrics_core.models._calibration import CalibratedJudge

        return CalibratedJudge(_judge(parts[1], settings, asked=asked), card=parts[0])
    if kind == "cascade" and len(parts := _parts(rest)) == 2 and all(parts):
        cheap, dear = (_judge(part, settings, asked=asked) for part in parts)
        return Cascade(cheap, dear)
    if kind == "llama":
        raise ConfigError(
            f"the judge {name!r} ran a model file in this process, which is no longer done: serve the file "
            "(llama-server -m FILE --port 8080) and write openai:MODEL@http://127.0.0.1:8080/v1"
        )
    if kind not in BUILT_IN and (rest or not colon):
        judge = plugin_judge(kind, rest, settings, asked=asked)
        if judge is not None:
            return judge
    forms = ", ".join([_JUDGES, *plugin_forms()])
    raise ConfigError(f"there is no judge {without_secrets(name)!r}; {advice_on(name, 'judge', forms)}")


def _checker(rest: str, *, asked: bool) -> "Checker":
    """The grounded model with a name that says which prompt format it takes."""
    from ragmetrics_core.models import grounded

    model, base_url = at_server(rest)
    known = model.rstrip("/").rpartition("/")[2].casefold()
    if "bespoke-minicheck" in known:
        return grounded.BespokeMiniCheck(model=model, base_url=base_url)
    if "granite-guardian" in known:
        return grounded.GraniteGuardian(model=model, base_url=base_url)
    if base_url is None and "minicheck" in known:
        for kind in grounded.MiniCheck.kinds:
            if kind in known:
                return grounded.MiniCheck(model=model, kind=kind, asked=asked)
    if base_url is None and "factcg" in known:
        return grounded.FactCG(model=model, asked=asked)
    if base_url is None and "lettuce" in known:
        return grounded.LettuceDetect(model=model, asked=asked)
    raise ConfigError(
        f"the name {without_secrets(rest)!r} is not a grounded model's: it must contain minicheck with "
        "roberta, deberta or flan-t5, factcg, or lettucedetect; "
        "or bespoke-minicheck or granite-guardian, at a server"
    )


@dataclass(frozen=True)
class Cascade:
    """Ask a cheap judge for verdicts, and an expensive one about those the cheap one is unsure of.

    The cheap judge decides a "no" with a probability below `unsure` and a "yes" with a probability above it.
    All other verdicts of a call, including missing ones and those without a probability, go to the expensive
    judge in one call. Prompts that do not request verdicts on numbered items, and prompts the cheap judge
    cannot answer, go to the expensive judge directly. The record's step and the verdict name the judge that
    decided.

    Attributes:
        cheap: a judge that gives verdicts with probabilities: "embedded", an entailment model, a grounded
            judge.
        dear: the expensive judge; decides the rest and answers all other prompts.
        unsure: range of probabilities in which the cheap judge does not decide.

    Raises:
        ConfigError: the range is not within 0 and 1, or a judge is invalid.
    """

    cheap: Judge
    dear: Judge
    unsure: tuple[float, float] = UNSURE

    def __post_init__(self) -> None:
        object.__setattr__(self, "cheap", as_judge(self.cheap))
        object.__setattr__(self, "dear", as_judge(self.dear))
        low, high = self.unsure
        if not 0 <= low <= high <= 1:
            raise ConfigError(f"unsure must be a range within 0 and 1, such as (0.2, 0.8), not {self.unsure}")

    @property
    def identity(self) -> str:
        """Both judges and the range."""
        return f"cascade({self.cheap_identity} | {self.dear.identity})"

    @property
    def model(self) -> str:
        """The expensive judge's model, whose price counts."""
        return str(getattr(self.dear, "model", ""))

    @property
    def cacheable(self) -> bool:
        """Whether replies may be kept for later runs."""
        return all(getattr(judge, "cacheable", True) for judge in (self.cheap, self.dear))

    @property
    def draws_at_once(self) -> bool:
        """Whether one call gives several draws."""
        return all(getattr(judge, "draws_at_once", False) for judge in (self.cheap, self.dear))

    @property
    def concurrency(self) -> int:
        """The smaller concurrency of the two judges."""
        widths = [judge.concurrency for judge in (self.cheap, self.dear) if isinstance(judge, Narrow)]
        return min(widths, default=sys.maxsize)

    def check_prompts(self, names: Iterable[str]) -> None:
        """Raise `ConfigError` if the expensive judge cannot answer one of the prompts."""
        if isinstance(self.dear, PromptChecker):
            self.dear.check_prompts(names)

    @property
    def cheap_identity(self) -> str:
        """The cheap judge's name in records, with the range: a different range makes different decisions."""
        low, high = self.unsure
        return f"{self.cheap.identity}, unsure from {low:g} to {high:g}"

    def decider(self, request: Generate[Any]) -> str:
        """Identity of the judge that answers the request; the cheap judge's includes the range."""
        return self.cheap_identity if self.is_first(request) else self.dear.identity

    def is_first(self, request: Generate[Any]) -> bool:
        """Whether the cheap judge is asked: only for verdicts on numbered items, and only the first time."""
        if request.passed_on or request.again or not issubclass(request.prompt.answer, VerdictList):
            return False
        if not request.expected.numbers:
            return False
        try:
            if isinstance(self.cheap, PromptChecker):
                self.cheap.check_prompts([request.prompt.name])
        except ConfigError:
            return False
        return True

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        """The replies of the judge that is asked; the cheap judge's verdicts outside the range are final.

        Raises:
            ModelError: the judge did not answer.
        """
        if not self.is_first(request):
            return await self.dear.agenerate(request._replace(passed_on=False))
        return [self.sure(request, reply) for reply in await self.cheap.agenerate(request)]

    def sure(self, request: Generate[Any], reply: Completion) -> Completion:
        """The cheap judge's reply with all unsure verdicts marked as deferred."""
        expected = request.expected._replace(graded=reply.held_to == "graded")
        reading = request.prompt.answer.read(reply.text, expected)
        read = reading.value.verdicts if isinstance(reading.value, VerdictList) else ()
        known = {verdict.number: self._verdict(verdict) for verdict in read}
        unknown = {"verdict": PASSED_ON}
        verdicts = [{"number": number, **known.get(number, unknown)} for number in expected.numbers]
        text = json.dumps({"verdicts": verdicts})
        return replace(reply, text=text, finish_reason="stop", held_to="graded")

    def _verdict(self, verdict: NumberedVerdict) -> dict[str, object]:
        low, high = self.unsure
        share = verdict.probability
        is_sure = share is not None and (share > high if verdict.supported else share < low)
        is_sure &= verdict.verdict != UNPROVEN
        return {
            "reason": verdict.reason,
            "evidence": verdict.evidence,
            **({"unsupported": list(verdict.unsupported)} if verdict.unsupported else {}),
            **({} if share is None else {"probability": share}),
            "verdict": verdict.verdict if is_sure else PASSED_ON,
        }
