"""Settings that decide which questions a test set has."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias, TypedDict

from pydantic import BaseModel, ConfigDict

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.questions._model import KINDS, LENGTHS, STYLES, Kind, Length, Persona, Style

__all__ = [
    "OPTIONAL",
    "SET_DEFAULTS",
    "AnySettings",
    "CheckSettings",
    "SetArgs",
    "TestSetSettings",
    "TrafficSettings",
    "counts_of",
    "left_out_of",
    "one_or_more",
    "settings_of",
]


OPTIONAL: Final = ("question_quality", "closed_book_accuracy")
"""Metrics that a judge may be unable to measure, and without which questions can be checked."""


class _Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    def differences(self, other: BaseModel) -> Iterator[str]:
        """Settings that differ, each as "seed: 0, not 1"."""
        mine, its = self.model_dump(mode="json"), other.model_dump(mode="json")
        for name in {**mine, **its}:
            if mine.get(name) != its.get(name):
                yield f"{name}: {mine.get(name)}, not {its.get(name)}"


class CheckSettings(_Settings):
    """Settings that decide which questions of an existing set pass; a folder takes the same settings only.

    Attributes:
        corpus: digest of the documents.
        questions: digest of the questions.
        checker: identity of the model that checks.
        left_out: metrics that were not measured.
        first_hit_share: maximum share of the questions that BM25's first hit alone answers.
        redacted: whether private parts were removed from the documents.
    """

    corpus: str
    questions: str
    checker: str
    left_out: tuple[str, ...] = ()
    first_hit_share: float = 0.7
    redacted: bool = False


class TrafficSettings(_Settings):
    """Settings that decide which questions of a run are chosen; a folder takes the same settings only.

    Attributes:
        corpus: digest of the documents.
        run: digest of the samples of the run.
        per: number of questions for each stratum of a label or metric, by name; or in all.
        seed: seed of the choice.
        first_hit_share: not limited, because nothing was checked.
        redacted: whether private parts were removed from documents and questions.
    """

    corpus: str
    run: str
    per: int | Mapping[str, int]
    seed: int = 0
    first_hit_share: float = 1.0
    redacted: bool = False


AnySettings: TypeAlias = "TestSetSettings | CheckSettings | TrafficSettings"


class TestSetSettings(_Settings):
    """Settings that decide on the questions of a test set; a folder takes the same settings only.

    Attributes:
        corpus: digest of the documents.
        judge, checker: identities of the models that write and check.
        per: number of questions for each value of a label of the documents, by label; or in all.
        kinds: weights of the kinds of questions.
        styles, lengths, personas: labels that the questions take in turn; empty if not set.
        language: language of the questions; None for the language of the passages.
        seed: seed of the order of the passages and labels.
        first_hit_share: maximum share of the questions that BM25's first hit alone answers, of the number
            that is asked for.
        tries: maximum number of candidates for each question that is asked for.
        left_out: metrics that were not measured.
        redacted: whether private parts were removed from the documents.
    """

    __test__ = False  # for pytest: not a test

    corpus: str
    judge: str
    checker: str
    per: int | Mapping[str, int]
    kinds: Mapping[Kind, float]
    styles: tuple[Style, ...] = ()
    lengths: tuple[Length, ...] = ()
    personas: tuple[Persona, ...] = ()
    language: str | None = None
    seed: int = 0
    first_hit_share: float = 0.7
    tries: int = 3
    left_out: tuple[str, ...] = ()
    redacted: bool = False


class SetArgs(TypedDict, total=False):
    """Keywords of `generate_questions` that decide which questions are written and kept."""

    kinds: Sequence[str] | Mapping[str, float]
    styles: Sequence[str]
    lengths: Sequence[str]
    personas: Sequence[Persona | str]
    language: str | None
    seed: int
    first_hit_share: float
    tries: int
    leave_out: Sequence[str]


SET_DEFAULTS: Mapping[str, Any] = {
    "kinds": ("single_hop_specific",),
    "styles": (),
    "lengths": (),
    "personas": (),
    "language": None,
    "seed": 0,
    "first_hit_share": 0.7,
    "tries": 3,
    "leave_out": (),
}
"""Defaults of these keywords."""


def settings_of(
    corpus: str,
    judge: str,
    checker: str,
    per: int | Mapping[str, int],
    given: SetArgs,
    *,
    redacted: bool,
) -> TestSetSettings:
    """Check the settings of a call.

    Raises:
        ConfigError: a setting is invalid; the message names the value.
    """
    chosen: Any = {**SET_DEFAULTS, **given}
    kinds: Sequence[str] | Mapping[str, float] = one_or_more(chosen["kinds"])
    styles, lengths = one_or_more(chosen["styles"]), one_or_more(chosen["lengths"])
    counts_of(per)
    weights: dict[str, Any] = dict(kinds) if isinstance(kinds, Mapping) else dict.fromkeys(kinds, 1.0)
    for what, values, known in (
        ("kind", weights, KINDS), ("style", styles, STYLES), ("length", lengths, LENGTHS)
    ):  # fmt: skip
        for value in values:
            if value not in known:
                raise ConfigError(f"there is no {what} {value!r}; the {what}s are {', '.join(known)}")
    for kind, weight in weights.items():
        if not isinstance(weight, int | float) or not 0 <= weight < float("inf"):
            raise ConfigError(f"the weight of {kind} must be a number of 0 or more, not {weight!r}")
    if not any(weights.values()):
        raise ConfigError(f"kinds is empty: name at least one of {', '.join(KINDS)}")
    if not 0 <= chosen["first_hit_share"] <= 1:
        raise ConfigError(f"first_hit_share must be from 0 to 1, not {chosen['first_hit_share']}")
    if chosen["tries"] < 1:
        raise ConfigError(f"tries must be at least 1, not {chosen['tries']}")
    chosen |= {
        "kinds": {kind: weights[kind] for kind in KINDS if kind in weights},
        "styles": tuple(styles),
        "lengths": tuple(lengths),
        "personas": tuple([_persona(each) for each in one_or_more(chosen["personas"])]),
        "left_out": left_out_of(chosen.pop("leave_out")),
    }
    return TestSetSettings(corpus=corpus, judge=judge, checker=checker, per=per, redacted=redacted, **chosen)


def counts_of(per: int | Mapping[str, int]) -> dict[str, int]:
    """The numbers of questions by label; a number in all has the label "".

    Raises:
        ConfigError: a number is not a whole number of at least 1, or there is none.
    """
    counts = {"": per} if isinstance(per, int) else dict(per)
    for label, count in counts.items():
        if type(count) is not int or count < 1:
            place = f" for {label!r}" if label else ""
            raise ConfigError(f"per must be a whole number of at least 1{place}, not {count!r}")
    if not counts:
        raise ConfigError("per names no label: pass a number, or {'country': 5}")
    return counts


def left_out_of(names: Sequence[str]) -> tuple[str, ...]:
    """The metrics that are left out, in order.

    Raises:
        ConfigError: the questions cannot be checked without one of them.
    """
    given = set(one_or_more(names))
    if wrong := sorted(given - set(OPTIONAL)):
        raise ConfigError(f"leave_out takes {' or '.join(OPTIONAL)}, not {wrong[0]!r}")
    return tuple(sorted(given))


def one_or_more(given: Any) -> Any:
    """The values of a setting that takes several; one alone may be given without a list."""
    return (given,) if isinstance(given, str | Persona) else given


def _persona(given: object) -> Persona:
    """A persona, also from "NAME: ROLE"."""
    if isinstance(given, Persona):
        return given
    if not isinstance(given, str):
        raise ConfigError(f"a persona is a text such as 'Ada: a nurse', or a Persona, not {given!r}")
    name, _, role = given.partition(":")
    if not name.strip():
        raise ConfigError(f"a persona needs a name, as in 'Ada: a nurse who works at night', not {given!r}")
    return Persona(name=name.strip(), role_description=role.strip())
