"""Training the embedded judge on a user's labelled claims, and the card of the training."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from ragmetrics_core.boundary.writing import write_whole
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.models import judge_training
from ragmetrics_core.package.version import VERSION
from ragmetrics_core.probe._card import CardPart, Count, StoredEstimate
from ragmetrics_core.probe._weighted import area, balanced_accuracy, stored
from ragmetrics_core.runs import Source
from ragmetrics_core.study import Column, LabelledSet, StudyTable, read_labelled, table_of

__all__ = ["JudgeRow", "TrainedJudge", "TrainingCard", "train_judge", "training_table"]


class JudgeRow(CardPart):
    """Agreement of one judge with the labels.

    Attributes:
        judge: "trained", each claim judged without its source; "bundled"; or "bundled, recalibrated", with
            only offset and slope fitted in the same folds.
        area: area under the ROC curve.
        balanced: balanced accuracy of its decisions.
        area_gain, balanced_gain: gain of the trained judge over this one, paired by claim.
    """

    judge: str
    area: StoredEstimate
    balanced: Annotated[StoredEstimate, Column("balanced accuracy")]
    area_gain: Annotated[StoredEstimate | None, Column("area gain")] = None
    balanced_gain: Annotated[StoredEstimate | None, Column("accuracy gain")] = None


class TrainingCard(CardPart):
    """Figures of a training, all on claims of sources that the judge was not trained on.

    Attributes:
        judge: identity of the trained judge.
        set_name, set_digest: the labelled set, and the digest of its contents and labels.
        label: the column of the labels.
        n, good, sources: numbers of claims, of supported ones, and of sources.
        source: column or rule that groups claims by source.
        left_out: number of claims that do not count, by reason.
        folds: number of folds of the cross-validation.
        features: number of features with a weight.
        rows: the trained judge, and the judges to compare it with.
        version: version of ragmetrics.
    """

    judge: str
    set_name: str
    set_digest: str
    label: str
    n: Count
    good: Count
    sources: Count
    source: str
    left_out: dict[str, Count]
    folds: Count
    features: Count
    rows: tuple[JudgeRow, ...]
    version: str = VERSION

    @property
    def is_gain_shown(self) -> bool:
        """Whether area or balanced accuracy is above that of the bundled judge by more than chance."""
        gains = [
            gain for row in self.rows if row.judge == "bundled" for gain in (row.area_gain, row.balanced_gain)
        ]
        return any(gain is not None and gain.low is not None and gain.low > 0 for gain in gains)


@dataclass(frozen=True, kw_only=True)
class TrainedJudge:
    """A trained judge: its card, and the file of its weights."""

    card: TrainingCard
    text: str

    def write(self, path: str | Path) -> None:
        """Write the file that `judge="embedded:PATH"` reads."""
        write_whole(Path(path), self.text)


def train_judge(
    data: Source,
    *,
    label: str | None = None,
    source: str | None = None,
    good: Collection[str] = (),
    name: str | None = None,
) -> TrainedJudge:
    """Train the embedded judge on labelled claims; see `ragmetrics train-judge`.

    Args:
        data: path, rows or data frame with a claim, contexts and a label in each row.
        label: column of the labels. Default: from the columns' names.
        source: column of the source of a claim. Default: `source_id` and the like, else equal contexts.
        good: label values that count as supported, if they are not among the known words.
        name: name of the set, if it is not a file.

    Raises:
        ConfigError: the labels are not about support by contexts, or there are too few of them.
        SampleError: the file cannot be read, or none of its rows is a labelled claim.
    """
    labelled = read_labelled(data, label=label, source=source, good=good, name=name)
    if labelled.question != "faithful" or labelled.kind != "truth":
        about = (
            labelled.question if labelled.kind == "truth" else f"{labelled.question}, as a {labelled.kind}"
        )
        raise ConfigError(
            f"the labels in {labelled.column!r} are about {about!r}: training needs labels that say for each "
            "claim whether its contexts support it, yes or no; choose the column with --label"
        )
    rows = [row for row in labelled.rows if any(text.strip() for text in row.sample.contexts or ())]
    if not rows:
        raise ConfigError(f"no claim of {labelled.name} has contexts: add a column contexts, or evidence")
    trained = judge_training()(
        [(row.sample.answer or "", row.sample.contexts or ()) for row in rows],
        [bool(row.label) for row in rows],
        [row.source for row in rows],
        are_claims=labelled.claims,
    )
    left_out = Counter[str]([*trained.left_out.values()])
    left_out.update(labelled.dropped)
    left_out["no contexts"] += len(labelled.rows) - len(rows)
    card = _card(labelled, trained, [rows[place] for place in trained.places], +left_out)
    return TrainedJudge(card=card, text=trained.text(card.model_dump(mode="json", exclude_none=True)))


def _card(labelled: LabelledSet, trained: Any, rows: list[Any], left_out: Mapping[str, int]) -> TrainingCard:
    """The card, from the decisions by judges that were not trained on a claim's source."""
    labels = np.array([bool(row.label) for row in rows])
    sources = [row.source for row in rows]
    figures = {
        name: (area(odds, labels), balanced_accuracy(odds >= 0, labels))
        for name, odds in trained.decisions.items()
    }
    own, *_ = figures.values()
    made: list[JudgeRow] = []
    for name, of_judge in figures.items():
        values = [stored(figure, sources) for figure in of_judge]
        gains: list[Any] = [None, None]
        if of_judge is not own:
            gains = [stored(mine, sources, less=less) for mine, less in zip(own, of_judge, strict=True)]
        made.append(
            JudgeRow(
                judge=name, area=values[0], balanced=values[1], area_gain=gains[0], balanced_gain=gains[1]
            )
        )
    return TrainingCard(
        judge=trained.identity,
        set_name=labelled.name,
        set_digest=labelled.digest,
        label=labelled.column,
        n=len(rows),
        good=int(labels.sum()),
        sources=len(set(sources)),
        source=labelled.source,
        left_out=dict(left_out),
        folds=trained.folds,
        features=trained.features,
        rows=tuple(made),
    )


def training_table(card: TrainingCard) -> StudyTable:
    """The card as a table."""
    title = f"{card.judge}, trained on {card.set_name}"
    columns = "judge area balanced area_gain balanced_gain"
    return table_of("training", title, JudgeRow, card.rows, columns, _notes(card))


def _notes(card: TrainingCard) -> Iterator[str]:
    counted = f"{card.n:,} claims, {card.good:,} of them supported, of {card.sources:,} sources"
    yield f"{counted} (by {card.source}); label: {card.label}"
    yield (
        f"each claim is judged without its source: {card.folds} folds of whole sources; offset, slope and "
        "weights are fitted, and their cost is chosen, on the other folds alone"
    )
    yield "gain: what the trained judge has more than this one, paired by claim"
    yield "intervals of 95 %, for which whole sources were drawn"
    yield "bundled, recalibrated: only the offset and the slope of its log-odds are fitted, in the same folds"
    if card.features:
        yield f"the judge in the file is trained on all claims; {card.features} features have a weight"
    else:
        yield "no features count: the cross-validation found them no better than an offset and a slope"
    if not card.is_gain_shown:
        yield "no gain over bundled has an interval above 0: these labels do not show that training helps"
    if card.left_out:
        yield f"left out: {', '.join(f'{count} {name}' for name, count in card.left_out.items())}"
