"""The fitness card: results of the probes of a judge."""

from pathlib import Path
from typing import Annotated, Self, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from ragmetrics_core.boundary.shapes import is_mapping
from ragmetrics_core.errors import RecordError
from ragmetrics_core.study import Estimate, wilson_interval

__all__ = [
    "CardPart",
    "Consistency",
    "FitnessCard",
    "Injection",
    "KnownAnswers",
    "Position",
    "Replies",
    "ShareOf",
    "StoredEstimate",
    "Verbosity",
]

Count = Annotated[int, Field(ge=0)]


def _without_none(figure: Estimate) -> dict[str, float]:
    ends = zip(("value", "low", "high"), figure, strict=True)
    return {name: end for name, end in ends if end is not None}


def _with_value(given: object) -> object:
    return {"value": None, **given} if is_mapping(given) else given


StoredEstimate = Annotated[Estimate, BeforeValidator(_with_value), PlainSerializer(_without_none)]
"""A figure with its interval as in a card's file; undefined values are left out."""

Share = Annotated[float, Field(ge=0, le=1)]
Reason = Annotated[str, StringConstraints(min_length=1)]


T = TypeVar("T")


def read_json(path: Path, form: TypeAdapter[T], otherwise: str) -> T | None:
    """Content of a file; None if there is no file.

    Raises:
        RecordError: it cannot be read or has other content; `otherwise` is the message.
    """
    try:
        return form.validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror or error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise RecordError(f"{path} {otherwise}: {where}{': ' * bool(where)}{first['msg']}") from error


class CardPart(BaseModel):
    """A part of a card: plain data, of which none is unknown."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class ShareOf(CardPart):
    """A share with Wilson's 95 % interval.

    Attributes:
        count: numerator.
        n: denominator.
        value, low, high: the share and its interval, in [0, 1]; None if n is 0.
        undefined: why there is no value; None if there is one.
    """

    count: Count
    n: Count
    value: Share | None = None
    low: Share | None = None
    high: Share | None = None
    undefined: Reason | None = None

    @model_validator(mode="after")
    def _has_value_or_reason(self) -> Self:
        if (self.value is None) != (self.n == 0) or (self.value is None) != (self.undefined is not None):
            raise ValueError("a rate has a value exactly when n is above 0, and else a reason")
        return self

    @classmethod
    def of(cls, count: int, n: int, *, otherwise: str) -> "ShareOf":
        """The share of `count` in `n`; `otherwise` says why there is none when n is 0."""
        value, low, high = wilson_interval(count, n)
        return cls(count=count, n=n, value=value, low=low, high=high, undefined=None if n else otherwise)

    @property
    def estimate(self) -> Estimate:
        """The share with its interval."""
        return Estimate(self.value, self.low, self.high)


class Replies(CardPart):
    """Readability of the judge's replies, over all probes.

    Attributes:
        read: share of replies that could be read completely at the first attempt.
        by_prompt: the same for each prompt.
        rules: number of replies read in each form.
        asked_again: number of repeated requests, which name the problem; see `read_again`.
        cut: number of replies cut by the length limit.
        statuses: number of measurements by status; "incomplete" ones lack a verdict after all attempts.
        read_again: number of repeated requests with a readable reply; the others failed.
    """

    read: ShareOf = Field(title="read at first asking")
    by_prompt: dict[str, ShareOf]
    rules: dict[str, Count]
    asked_again: Count
    cut: Count
    statuses: dict[str, Count]
    read_again: Count = 0


class KnownAnswers(CardPart):
    """Verdicts on statements and chunks of which the truth is known.

    Attributes:
        answered: verdicts that were given, of all that were asked for.
        accuracy: right verdicts of those that were given.
        statements, chunks: the same for statements alone ("supported"), for chunks alone ("relevant").
        precision: of the statements that were called supported, those that are.
        recall: of the statements that are supported, those that were called so.
        by_kind: accuracy on statements by what makes them hard.
        by_language: accuracy on statements and chunks by language.
        wrong: what was judged wrongly: "lighthouse statement 2".
    """

    answered: ShareOf = Field(title="verdicts given")
    accuracy: ShareOf = Field(title="accuracy")
    statements: ShareOf = Field(title="accuracy on statements")
    chunks: ShareOf = Field(title="accuracy on chunks")
    precision: ShareOf = Field(title="precision of supported")
    recall: ShareOf = Field(title="recall of supported")
    by_kind: dict[str, ShareOf]
    by_language: dict[str, ShareOf]
    wrong: tuple[str, ...]


class Injection(CardPart):
    """Effect of attacks on verdicts that are right without them.

    Attributes:
        variant: variant of the prompts.
        attacks: number of attacks; the prompts of `paper` show only contexts and statements.
        steered: share of attacks that changed the verdict as they wish, of those with a right verdict.
        silenced: share of attacks after which that verdict was missing, of the same.
        by_field, by_kind: the steered rate by the attack's place and by its kind.
        steered_by: successful attacks.
    """

    variant: str
    attacks: Count
    steered: ShareOf = Field(title="steered, {0.name}")
    silenced: ShareOf = Field(title="silenced, {0.name}")
    by_field: dict[str, ShareOf]
    by_kind: dict[str, ShareOf]
    steered_by: tuple[str, ...]

    @property
    def name(self) -> str:
        """The variant without its number: "strict", "paper"."""
        return self.variant.partition(".")[0]


class Position(CardPart):
    """Verdicts that change when the same things are shown in the reverse order.

    Attributes:
        statements: verdicts on statements that changed with the order of the statements.
        contexts: verdicts on statements that changed with the order of the chunks.
        chunks: verdicts on chunks that changed with the order of the chunks.
        towards_first: of the changed verdicts on statements and chunks that were themselves moved, those that
            were "yes" in the earlier of the two places. Far from 0.5, the judge prefers a place.
    """

    statements: ShareOf = Field(title="changed, statements reversed")
    contexts: ShareOf = Field(title="changed, chunks reversed")
    chunks: ShareOf = Field(title="chunk verdicts changed, reversed")
    towards_first: ShareOf = Field(title="of these, yes in the earlier place")


class Verbosity(CardPart):
    """Verdicts on the same statements, plain and after meaningless padding.

    Attributes:
        shift: share of "yes" with padding minus share of "yes" without, over the same statements, in [-1, 1];
            None if no statement has both verdicts.
        turned_yes, turned_no: verdicts that padding turned to "yes" and to "no"; `shift` is their difference.
        accuracy: right verdicts on the padded statements.
        undefined: why there is no shift.
    """

    shift: Annotated[float, Field(ge=-1, le=1)] | None = Field(title="shift of the share of yes")
    turned_yes: ShareOf = Field(title="turned to yes by padding")
    turned_no: ShareOf = Field(title="turned to no by padding")
    accuracy: ShareOf = Field(title="accuracy on padded statements")
    undefined: Reason | None = None


class Consistency(CardPart):
    """Verdicts on the same statements, asked several times as further draws.

    Attributes:
        draws: how often each was asked.
        agreed: statements on which all draws gave the same verdict, of those that have all verdicts.
    """

    draws: Count
    agreed: ShareOf = Field(title="all {0.draws} draws agree")


class FitnessCard(CardPart):
    """Results of the probes of a judge; a probe that was not run is None.

    Attributes:
        schema_version: format of the card; it increases only if a meaning changes.
        judge: identity of the judge, as in records.
        versions: versions of ragmetrics and of the sentence splitter.
        corpus: digest of the corpus; cards of different corpora are not comparable.
        date: date of the probe, as given by the caller; None if not given.
        limit: largest number of passages and attacks; None for all.
    """

    schema_version: int = 1
    judge: str
    versions: dict[str, str]
    corpus: str
    date: str | None = None
    limit: Count | None = None
    replies: Replies
    known_answers: KnownAnswers
    injection: tuple[Injection, ...] | None = None
    position: Position | None = None
    verbosity: Verbosity | None = None
    consistency: Consistency | None = None

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a card's file.

        Raises:
            RecordError: there is no file, or it holds no card.
        """
        card = read_json(Path(path), TypeAdapter(cls), "is no fitness card")
        if card is None:
            raise RecordError(f"there is no fitness card {path}")
        return card

    def steered(self, variant: str = "strict") -> ShareOf | None:
        """The steered rate for a variant ("strict", "paper"); None if it was not probed."""
        return next((part.steered for part in self.injection or () if part.name == variant), None)
