"""Settings that decide which questions a test set has."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypedDict

from pydantic import BaseModel, ConfigDict

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.questions._model import KINDS, LENGTHS, STYLES, Kind, Length, Persona, Style

__all__ = ["SET_DEFAULTS", "SetArgs", "TestSetSettings", "settings_of"]


class TestSetSettings(BaseModel):
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
        redacted: whether private parts were removed from the documents.
    """

    __test__ = False  # for pytest: not a test

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

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
    redacted: bool = False

    def differences(self, other: "TestSetSettings") -> Iterator[str]:
        """Settings that differ, each as "seed: 0, not 1"."""
        mine, its = self.model_dump(mode="json"), other.model_dump(mode="json")
        for name, value in mine.items():
            if value != its[name]:
                yield f"{name}: {value}, not {its[name]}"


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


SET_DEFAULTS: Mapping[str, Any] = {
    "kinds": ("single_hop_specific",),
    "styles": (),
    "lengths": (),
    "personas": (),
    "language": None,
    "seed": 0,
    "first_hit_share": 0.7,
    "tries": 3,
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
    kinds: Sequence[str] | Mapping[str, float] = chosen["kinds"]
    styles, lengths = chosen["styles"], chosen["lengths"]
    counts = {"": per} if isinstance(per, int) else dict(per)
    for label, count in counts.items():
        if count < 1:
            raise ConfigError(f"per must be at least 1{f' for {label!r}' if label else ''}, not {count}")
    if not counts:
        raise ConfigError("per names no label: pass a number, or {'country': 5}")
    weights: dict[str, Any] = dict(kinds) if isinstance(kinds, Mapping) else dict.fromkeys(kinds, 1.0)
    for what, values, known in (
        ("kind", weights, KINDS), ("style", styles, STYLES), ("length", lengths, LENGTHS)
    ):  # fmt: skip
        for value in values:
            if value not in known:
                raise ConfigError(f"there is no {what} {value!r}; the {what}s are {', '.join(known)}")
    if bad := [kind for kind, weight in weights.items() if not 0 <= weight < float("inf")]:
        raise ConfigError(f"the weight of {bad[0]} must be 0 or more, not {weights[bad[0]]}")
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
        "personas": tuple([_persona(each) for each in chosen["personas"]]),
    }
    return TestSetSettings(corpus=corpus, judge=judge, checker=checker, per=per, redacted=redacted, **chosen)


def _persona(given: Persona | str) -> Persona:
    """A persona, also from "NAME: ROLE"."""
    if isinstance(given, Persona):
        return given
    name, _, role = given.partition(":")
    if not name.strip():
        raise ConfigError(f"a persona needs a name, as in 'Ada: a nurse who works at night', not {given!r}")
    return Persona(name=name.strip(), role_description=role.strip())
