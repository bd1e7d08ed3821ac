"""The card of a judge on texts that people labelled, and where such cards are kept."""

from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, TypeAdapter

from ragmetrics_core.boundary.writing import write_whole
from ragmetrics_core.models.identity import is_unnamed
from ragmetrics_core.probe._card import CardPart, Count, Replies, StoredEstimate, read_json
from ragmetrics_core.runs import Run
from ragmetrics_core.study import Column, Estimate, Question, reliability_bar

__all__ = [
    "PEOPLE",
    "CardGroup",
    "PairedGain",
    "People",
    "PeopleCard",
    "Ranking",
    "ReliabilityBin",
    "Saving",
    "cards_json",
    "carried_cards",
    "keep_card",
    "measured_on_people",
    "read_cards",
]

PEOPLE = "people.json"
"""The name of the file of a folder's cards."""


class Ranking(CardPart):
    """Agreement of one score of the items with people's labels.

    Attributes:
        name: which score: the metric's own, another one of its verdicts, a baseline, or one of the file.
        n: items that have this score and the metric's own.
        area: area under the ROC curve; of labels that are good or bad.
        balanced: balanced accuracy, each half at the threshold that the other half fitted; the thresholds are
            taken as they are, their own uncertainty is not in the interval.
        spearman, kendall: rank correlations with people's mean rating; of ratings.
        preferred: how often it prefers the answer that people prefer, ties counting half; of pairs.
        gain: what the metric's own score has more than this one, of the figure that the set gives (area,
            Spearman or share of pairs), on the same items.
    """

    name: Annotated[str, Column("score")]
    n: Count
    area: StoredEstimate | None = None
    balanced: Annotated[StoredEstimate | None, Column("balanced accuracy")] = None
    spearman: Annotated[StoredEstimate | None, Column("Spearman")] = None
    kendall: Annotated[StoredEstimate | None, Column("Kendall")] = None
    preferred: Annotated[StoredEstimate | None, Column("prefers as people")] = None
    gain: Annotated[StoredEstimate | None, Column("metric less this")] = None

    @property
    def main(self) -> Estimate:
        """The figure that the set gives."""
        return self.area or self.spearman or self.preferred or Estimate(None)


class CardGroup(CardPart):
    """A class or a task of the set.

    Attributes:
        by: "class" or the column of the tasks.
        value: its name.
        n, good: how many items, and how many good ones.
        area: within the group, where it has good and bad items.
        right: the share of items on the right side of the fitted threshold.
    """

    by: str
    value: str
    n: Count
    good: Count
    area: StoredEstimate | None = None
    right: Annotated[StoredEstimate | None, Column("right at the fitted threshold")] = None


class ReliabilityBin(CardPart):
    """Items of similar probability: their mean probability and share of good ones.

    Attributes:
        low, high: the ends of the probabilities.
        n: number of items.
        mean: their mean probability.
        good: share of good ones.
    """

    low: float
    high: float
    n: Count
    mean: float
    good: StoredEstimate

    @property
    def probability(self) -> str:
        """Range of probabilities: "0.1 to 0.2"."""
        return f"{self.low:.1f} to {self.high:.1f}"

    @property
    def figure(self) -> str:
        """The share of good items as a bar, with a mark at the probability."""
        return reliability_bar(self.good.value or 0.0, self.mean)


class Saving(CardPart):
    """Savings and losses of a cascade with one band.

    Attributes:
        low, high: between these probabilities its cheap judge does not decide.
        saved: share of items without a call of the expensive judge for verdicts.
        agreement: balanced accuracy of the decisions against people's labels.
        lost: loss compared with the measured band, with an interval of the paired difference.
    """

    low: float
    high: float
    saved: Annotated[StoredEstimate, Column("calls saved")]
    agreement: Annotated[StoredEstimate, Column("balanced accuracy")]
    lost: StoredEstimate

    @property
    def unsure(self) -> str:
        """The band: "0.2 to 0.8"."""
        return f"{self.low:g} to {self.high:g}"


class People(CardPart):
    """Agreement of people with each other.

    Attributes:
        annotators: number of annotators.
        items: number of items with labels of at least two annotators.
        alpha: Krippendorff's alpha, nominal for good and bad, ordinal for ratings.
        balanced: balanced accuracy of one person against the majority of the others; of good and bad.
        spearman, kendall: of one person with the mean of the others; of ratings.
    """

    annotators: Count
    items: Count
    alpha: StoredEstimate
    balanced: StoredEstimate | None = None
    spearman: StoredEstimate | None = None
    kendall: StoredEstimate | None = None


class PairedGain(CardPart):
    """Gain of one setting of a metric over another, on the same items.

    Attributes:
        over: signature of the other setting.
        prompts: digests of the other setting's prompts, by name with version.
        scored: number of items (pairs for preferences) with a score by the other setting.
        n: number of items with both scores.
        gain: gain in the set's main figure (area, Spearman or share of pairs); its interval is that of the
            difference.
    """

    over: str
    prompts: dict[str, str]
    scored: Count
    n: Count
    gain: StoredEstimate


class PeopleCard(CardPart):
    """Accuracy of a judge's scores on a labelled set.

    A card covers one judge, one metric with its settings, and the prompts that were asked; of no other.

    Attributes:
        schema_version: format of the card; it rises only when a meaning changes.
        judge, embedder: identities of the models.
        model: the name of the judge's model, where it has one: the same model may answer at another address.
        metric: the metric's signature.
        prompts: digests of the prompts that were asked, by their names with version.
        question: subject of the labels.
        set_name, set_digest: the labelled set, and the digest of its contents and labels.
        label: the column of the labels.
        kind: "truth" for good and bad, "rating" for numbers, "preference" for pairs.
        n, good, sources: numbers of scored items (pairs for preferences), of good ones, and of sources.
        source: column or rule that groups items by source.
        dropped: number of rows without a valid label, by reason.
        statuses: number of measurements by status; only "ok" has a score.
        rankings: the metric's own score first, then other scores of its verdicts, baselines, published ones.
        gains: gain over each other setting of the metric that was measured with it.
        own: balanced accuracy of the judge's decisions: every statement supported, or not; of "faithful".
        groups: by class and by task.
        reliability: good items by the probability of the least probable statement, where verdicts have one.
        calibration: expected calibration error of it: how far probability and share of good items are apart.
        savings: of a cascade, by the band in which the cheap judge is unsure, the one measured last.
        people: people against people; None with one annotator.
        replies: readability of the replies.
        calls, tokens, cost: for one item.
        seconds: for one item, with as many calls in flight as there were; None if several settings were
            measured together.
        date, versions: when, as the caller wrote it, and with what.
    """

    schema_version: int = 1
    judge: str
    model: str | None = None
    embedder: str | None = None
    metric: str
    prompts: dict[str, str]
    question: Question
    set_name: str
    set_digest: str
    label: str
    kind: Literal["truth", "rating", "preference"]
    n: Count
    good: Count | None = None
    sources: Count
    source: str
    dropped: dict[str, Count]
    statuses: dict[str, Count]
    rankings: tuple[Ranking, ...]
    gains: tuple[PairedGain, ...] = ()
    own: StoredEstimate | None = None
    groups: tuple[CardGroup, ...] = ()
    reliability: tuple[ReliabilityBin, ...] = ()
    calibration: float | None = None
    savings: tuple[Saving, ...] = ()
    people: People | None = None
    replies: Replies
    calls: float | None = None
    tokens: float | None = None
    cost: float | None = None
    seconds: float | None = None
    date: str | None = None
    versions: dict[str, str] = Field(default_factory=dict)

    @property
    def key(self) -> tuple[str, ...]:
        """Key of the card's subject and set: a later card with the same key replaces it."""
        digests = ",".join(sorted(self.prompts.values()))
        return self.judge, self.embedder or "", self.metric, digests, self.set_name, self.question

    @property
    def line(self) -> str:
        """The card in one line: "area 0.73 (0.68, 0.77) on ragtruth, 678 items of 112 sources"."""
        of = {"truth": "area", "rating": "Spearman", "preference": "prefers as people do"}[self.kind]
        figure = self.rankings[0].main if self.rankings else Estimate(None)
        return f"{of} {figure:.2f} on {self.set_name}, {self.n:,} {self.things} of {self.sources:,} sources"

    @property
    def things(self) -> str:
        """Counted units: "items", or "pairs" for preferences."""
        return "pairs" if self.kind == "preference" else "items"

    @property
    def asked(self) -> int:
        """Number of items (pairs), including those without a score."""
        # of a pair there are statuses of both sides
        return sum(self.statuses.values()) // (2 if self.kind == "preference" else 1)


_CARDS: TypeAdapter[tuple[PeopleCard, ...]] = TypeAdapter(
    tuple[PeopleCard, ...], config=ConfigDict(defer_build=True)
)


def read_cards(path: str | Path) -> tuple[PeopleCard, ...]:
    """The cards of a file, or of the file `people.json` in a folder; none where there is no file.

    Raises:
        RecordError: it cannot be read, or has other content.
    """
    place = Path(path)
    place = place / PEOPLE if place.is_dir() else place
    return read_json(place, _CARDS, "holds no cards") or ()


def keep_card(folder: str | Path, card: PeopleCard) -> Path:
    """Add a card to the cards of a folder; a card with the same key is replaced."""
    path = Path(folder) / PEOPLE
    others = [other for other in read_cards(path) if other.key != card.key]
    write_cards(path, [*others, card])
    return path


def write_cards(path: Path, cards: Iterable[PeopleCard]) -> None:
    """Write a file of cards."""
    write_whole(path, cards_json(cards))


def cards_json(cards: Iterable[PeopleCard]) -> str:
    """Cards as their file has them."""
    return _CARDS.dump_json(tuple(cards), indent=1, exclude_none=True).decode() + "\n"


@cache
def carried_cards() -> tuple[PeopleCard, ...]:
    """The cards in the package, of judges that everybody has."""
    data = files("ragmetrics_core.probe") / "library" / PEOPLE
    return _CARDS.validate_json(data.read_bytes()) if data.is_file() else ()


def measured_on_people(run: Run, metric: str | None = None) -> dict[str, tuple[PeopleCard, ...]]:
    """The cards valid for a run's metrics, by signature; empty for metrics without a card.

    A card is valid if judge, embedder and signature are the same, and every prompt of the run with a name
    from the card has the card's digest. A run with a panel or repeats has its own judge.

    Args:
        run: the run.
        metric: signature of a metric. Default: all metrics of the run.
    """
    signatures = [entry.signature for entry in run.metrics if metric in (None, entry.signature)]
    if run.manifest.repeats != 1:
        return dict.fromkeys(signatures, ())

    def speaks(card: PeopleCard) -> bool:
        digests, names = set(card.prompts.values()), {name.partition(".")[0] for name in card.prompts}
        asked = {digest for digest, text in run.prompts.items() if text.name in names}
        is_one = card.judge == run.judge and not is_unnamed(card.judge)
        return is_one and card.embedder in (None, run.embedder) and asked <= digests

    beside = read_cards(run.path) if run.path is not None else ()
    # of a key the first counts, which is the one beside the run
    cards = {card.key: card for card in reversed([*beside, *carried_cards()]) if speaks(card)}
    spoken = [card for card in (*beside, *carried_cards()) if cards.get(card.key) is card]
    return {signature: tuple(card for card in spoken if card.metric == signature) for signature in signatures}
