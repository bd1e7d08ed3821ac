"""The scores of a run for studies: values by metric and sample, and reasons for missing values."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import partial
from hashlib import blake2b
from math import inf
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import signature_of
from ragmetrics_core.runs import Declines, MetricEntry, Outcome, Run
from ragmetrics_core.samples import Label, Sample, grouping_labels
from ragmetrics_core.study._tables import short
from ragmetrics_core.study._verdict_probabilities import verdict_probabilities
from ragmetrics_core.texts.wording import number_of

__all__ = [
    "DECLINED",
    "LeftOut",
    "Oriented",
    "Scores",
    "label_names_of",
    "measured_notes",
    "metrics_of_all",
    "named_runs",
    "read_scores",
]

DECLINED = "declined"
"""Name of the share of answers that decline, in limits."""

LeftOut = tuple[tuple[str, int], ...]

T = TypeVar("T")


class Oriented(NamedTuple):
    """A metric's values by sample id, turned so that higher is better, and their name."""

    name: str
    values: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class Scores:
    """The scores of a run.

    Attributes:
        name: what the run is called in tables.
        values: for each metric's signature, the scores with a value, by sample id.
        absent: likewise, the status of the scores that have none.
        labels: for each sample its labels with session and turn, in the order of the run.
        questions: for each sample its question.
        finished: whether the run measured all its samples.
        lower_is_better: signatures of metrics for which lower is better.
        ranges: for each signature the ends of the metric's range; 0 and 1 for one that is not here.
        sure: for each signature what a decision may count on, by sample id: the value, the worse bound of an
            incomplete score, the bad end of the range where a score failed or the answer says nothing.
        expected: for each sample a digest of its expected texts and its labels of relevance.
        models: what judged, embedded and rated, by kind, how often each verdict was asked for, and whether
            the texts were redacted.
        exceeds: the signatures of the metrics whose scores may lie above their range.
        rejected: number of invalid rows.
        doubled: ids of samples that an invalid row has too, so that it is unknown which row is the sample.
        unread: the other invalid rows, one line each.
        corrected: number of scores with a person's correction of a verdict, by signature.
        repetitions: number of whole measurements behind a score, by signature, if there are several.
        declining: whether the answer of each sample declines; None if unknown, see `Run.declining`.
        declines: counts of answers that decline.
        asks: whether any step of the run checked whether an answer declines.
        of_answers: signatures of metrics whose score is lost if the answer declines.
        by_reference: signatures of metrics that need a reference, so that declining gains nothing.
        probabilities: function from a signature to the probabilities of each scored sample's verdicts.
    """

    name: str
    values: Mapping[str, Mapping[str, float]]
    absent: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    labels: Mapping[str, Mapping[str, Label]] = field(default_factory=dict[str, Mapping[str, Label]])
    questions: Mapping[str, str | None] = field(default_factory=dict[str, str | None])
    finished: bool = True
    lower_is_better: frozenset[str] = frozenset()
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])
    sure: Mapping[str, Mapping[str, float]] = field(default_factory=dict[str, Mapping[str, float]])
    expected: Mapping[str, str] = field(default_factory=dict[str, str])
    models: Mapping[str, str] = field(default_factory=dict[str, str])
    exceeds: frozenset[str] = frozenset()
    rejected: int = 0
    doubled: frozenset[str] = frozenset()
    unread: frozenset[str] = frozenset()
    corrected: Mapping[str, int] = field(default_factory=dict[str, int])
    repetitions: Mapping[str, int] = field(default_factory=dict[str, int])
    declining: Mapping[str, bool | None] = field(default_factory=dict[str, bool | None])
    declines: Declines = field(default_factory=Declines)
    asks: bool = False
    of_answers: frozenset[str] = frozenset()
    by_reference: frozenset[str] = frozenset()
    probabilities: Callable[[str], Mapping[str, Sequence[float]]] = field(
        default=verdict_probabilities, compare=False
    )

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics' signatures."""
        return tuple(self.values)

    @property
    def samples(self) -> tuple[str, ...]:
        """The samples' ids."""
        return tuple(self.labels)

    @property
    def label_names(self) -> str:
        """The names of the samples' labels, in a sentence's words; "none" without one."""
        return label_names_of([self])

    def metric(self, name: str) -> str:
        """The signature of a metric that is named by its name, an alias or its signature.

        Raises:
            ConfigError: the run has no such metric, or several.
        """
        name = name if name in self.values else signature_of(name)
        of_name = [metric for metric in self.values if name in (metric, metric.partition("/")[0])]
        if name in self.values or len(of_name) == 1:
            return name if name in self.values else of_name[0]
        if of_name:
            raise ConfigError(f"{self.name} has several metrics {name!r}: name one of {', '.join(of_name)}")
        near = get_close_matches(name, self.values, n=3) or list(self.values)
        raise ConfigError(f"{self.name} has no metric {name!r}; it has {', '.join(near) or 'none'}")

    def oriented(self, metric: str, among: Sequence[str]) -> Oriented:
        """A metric's values with more being better, under its short name among others.

        If lower is better, they are reversed within the range, and the name says so: "1 - hallucination".
        """
        name, values = short(metric, among), self.values[metric]
        if metric not in self.lower_is_better:
            return Oriented(name, values)
        ends = sum(self.range_of(metric))
        # 1 - 0.7 is more than 0.3 in floats, and thresholds are met exactly
        turned = {sample_id: round(ends - value, 12) for sample_id, value in values.items()}
        return Oriented(f"{ends:g} - {name}", turned)

    def only(self, ids: Collection[str]) -> "Scores":
        """The scores of some samples."""

        def kept(column: Mapping[str, T]) -> dict[str, T]:
            return {sample_id: cell for sample_id, cell in column.items() if sample_id in ids}

        columns = {"values": self.values, "absent": self.absent, "sure": self.sure}
        by_metric: dict[str, Any] = {
            name: {metric: kept(column) for metric, column in of_metrics.items()}
            for name, of_metrics in columns.items()
        }
        return replace(self, labels=kept(self.labels), declining=kept(self.declining), **by_metric)

    def against(self, before: "Scores") -> "Scores":
        """The same without the scores of answers that decline and did not in an earlier run.

        An undecided answer that did not decline earlier keeps only the scores that a reference holds, if the
        run asks at all whether answers decline.
        """
        was, now = before.declining, self.declining
        declined = {each for each in self.labels if now.get(each) and not was.get(each)}
        doubtful = {each for each in self.labels if was.get(each) is False and now.get(each) is None}
        held = self.only(self.labels.keys() - declined)
        certain = self.only(self.labels.keys() - declined - doubtful) if self.asks else held

        def column(name: str) -> dict[str, Mapping[str, Any]]:
            columns: dict[str, Mapping[str, Any]] = {}
            for metric in getattr(self, name):
                kept = held if metric in self.by_reference else certain
                columns[metric] = getattr(kept if metric in self.of_answers else self, name)[metric]
            return columns

        return replace(self, values=column("values"), absent=column("absent"), sure=column("sure"))

    def unasked(self, metrics: Iterable[str]) -> tuple[str, ...]:
        """The metrics that a refusal may raise, if nothing in the run asks whether an answer declines."""
        if self.asks:
            return ()
        return tuple(each for each in metrics if each in self.of_answers - self.by_reference)

    def of_declining(self) -> "Scores":
        """Whether answers decline, as scores of a metric: 1 where they do, 0 where not, none if undecided."""
        values = {each: float(declined) for each, declined in self.declining.items() if declined is not None}
        kept = {DECLINED: values if self.declines.asked else {}}
        return replace(self, values=kept, lower_is_better=frozenset({DECLINED}))

    def range_of(self, metric: str) -> tuple[float, float]:
        """The ends of a metric's range."""
        return self.ranges.get(metric, (0.0, 1.0))

    def ends(self, metric: str) -> tuple[float, float]:
        """The ends of a metric's range; the upper one is infinite where its scores may lie above."""
        low, high = self.range_of(metric)
        return low, inf if metric in self.exceeds else high

    def worst(self, metric: str, *, lowest: bool | None = None) -> float:
        """The bad end of a metric's range, or the worst score where that lies beyond it.

        Args:
            metric: its signature.
            lowest: whether the low end is the bad one; without it as the metric says.
        """
        values, (low, high) = self.values.get(metric, {}).values(), self.range_of(metric)
        is_low = metric not in self.lower_is_better if lowest is None else lowest
        return min(low, *values, low) if is_low else max(high, *values, high)

    def left_out(self, metric: str, ids: Iterable[str]) -> LeftOut:
        """Number of samples without a value of a metric, by cause."""
        values = self.values[metric]
        causes = Counter(self.why_absent(metric, sample_id) for sample_id in ids if sample_id not in values)
        return tuple(causes.most_common())

    def why_absent(self, metric: str, sample_id: str) -> str:
        """The cause of a missing value: a status, or "not measured"."""
        return self.absent.get(metric, {}).get(sample_id, "not measured").replace("_", " ")


def label_names_of(runs: Iterable[Scores]) -> str:
    """The names of the labels of all samples, in a sentence's words; "none" without one."""
    return (
        ", ".join(sorted({name for run in runs for labels in run.labels.values() for name in labels}))
        or "none"
    )


def read_scores(run: Run, *, name: str | None = None, apart: bool = False) -> Scores:
    """Read the scores of a run; if a metric was measured several times, each sample's mean.

    Args:
        run: the run, finished or not.
        name: name of the run in tables. Default: the folder's name.
        apart: treat repeated whole measurements as separate metrics, by their signatures.

    Raises:
        RecordError: a file of the run was changed after it was written.
    """
    run.refuse_altered()
    metrics = {entry.signature: entry for entry in run.metrics if apart or entry.repetition == 1}
    outcomes = run.outcomes() if apart else run.averaged_outcomes()
    frame = [(*key, outcome) for key, outcome in outcomes if key.signature in metrics]

    def column(cell: Callable[[MetricEntry, Outcome], T | None]) -> dict[str, dict[str, T]]:
        """An attribute of the outcomes by metric and sample, without None."""
        columns: dict[str, dict[str, T]] = {signature: {} for signature in metrics}
        for sample_id, signature, outcome in frame:
            if (content := cell(metrics[signature], outcome)) is not None:
                columns[signature][sample_id] = content
        return columns

    rejected = run.rejected
    corrected = Counter(signature for _, signature, outcome in frame if outcome.corrected)
    samples = [
        (sample.id, grouping_labels(sample), sample.question, _expected(sample)) for sample in run.samples()
    ]
    repetitions = {signature: 1 if apart else len(run.repetitions(signature)) for signature in metrics}
    return Scores(
        name=name or (run.path.name if run.path else "run"),
        values=column(lambda _, outcome: outcome.value),
        absent=column(lambda _, outcome: outcome.status if outcome.value is None else None),
        labels={sample_id: labels for sample_id, labels, _, _ in samples},
        questions={sample_id: question for sample_id, _, question, _ in samples},
        finished=run.finished,
        lower_is_better=frozenset(each.signature for each in run.metrics if not each.higher_is_better),
        ranges={each.signature: (each.low, each.high) for each in run.metrics},
        sure=column(lambda metric, outcome: outcome.sure(worst=metric.worst, best=metric.best)),
        expected={sample_id: expected for sample_id, _, _, expected in samples},
        models=_models(run),
        exceeds=frozenset(each.signature for each in run.metrics if each.exceeds),
        rejected=len(rejected),
        doubled=frozenset(row.sample_id for row in rejected if row.sample_id is not None),
        unread=frozenset(str(row) for row in rejected if row.sample_id is None),
        corrected=dict(corrected),
        repetitions={signature: count for signature, count in repetitions.items() if count > 1},
        declining=run.declining(),
        declines=run.declines,
        asks=any(outcome.declined is not None for _, outcome in run.outcomes()),
        of_answers=frozenset(each.signature for each in run.metrics if each.reads_answer),
        by_reference=frozenset(each.signature for each in run.metrics if each.by_reference),
        probabilities=partial(verdict_probabilities, records=run.records),
    )


def _expected(sample: Sample) -> str:
    """Digest of the expected texts and relevance labels of a sample."""
    texts = (
        *(sample.reference, sample.references, sample.reference_contexts),
        *(sample.reference_context_ids, sample.reference_context_grades),
    )
    return blake2b(repr(texts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _models(run: Run) -> dict[str, str]:
    named = {name: getattr(run.manifest, name) for name in ("judge", "embedder", "scorer")}
    redacted = "redacted" if run.manifest.redacted else "as they were"
    asked = {
        "number of repeats": str(run.manifest.repeats),
        "number of full repeats": str(max((entry.repetition for entry in run.metrics), default=1)),
        "state of the texts": redacted,
    }
    return {name: identity for name, identity in named.items() if identity} | asked


def named_runs(paths: Sequence[Path]) -> dict[str, Path]:
    """Short unique names for runs: folder names, with as many parent folders as needed.

    Raises:
        ConfigError: a run is given twice.
    """
    resolved = [path.resolve() for path in paths]
    if len(set(resolved)) < len(resolved):
        raise ConfigError("a run is given twice; give each run once")
    names: list[str] = []
    for depth in range(1, max((len(path.parts) for path in resolved), default=1) + 1):
        names = ["/".join(path.parts[-depth:]) for path in resolved]
        if len(set(names)) == len(names):
            break
    return dict(zip(names, paths, strict=True))


def metrics_of_all(runs: Sequence[Scores], wanted: Sequence[str] | None = None) -> tuple[str, ...]:
    """The metrics, by signature, that all runs measured in the same way.

    Args:
        runs: the runs.
        wanted: names or signatures. Default: all metrics that the runs share.

    Raises:
        ConfigError: a wanted metric is missing in a run, a metric was measured in different variants, or the
            runs share none.
    """
    first, *others = runs
    shared = tuple(metric for metric in first.metrics if all(metric in run.values for run in others))
    if wanted is None and shared:
        return shared
    for run in others:
        there = {metric.partition("/")[0] for metric in run.metrics}
        names = dict.fromkeys(metric.partition("/")[0] for metric in first.metrics)
        for name in [each for each in names if each in there] if wanted is None else wanted:
            one, other = first.metric(name), run.metric(name)
            if one != other:
                raise ConfigError(
                    f"{first.name} measured {one}, but {run.name} {other}: different variants or settings "
                    "cannot be compared; evaluate both in the same way"
                )
    if wanted is None:
        measured = "; ".join(f"{run.name}: {', '.join(run.metrics) or 'none'}" for run in runs)
        raise ConfigError(f"the runs share no metric ({measured})")
    return tuple(dict.fromkeys(first.metric(name) for name in wanted))


def measured_notes(runs: Sequence[Scores], metrics: Sequence[str]) -> Iterator[str]:
    """Notes on corrections and repeated measurements behind the scores of some metrics."""
    for run in runs:
        if run.rejected:
            count = number_of(run.rejected, "row was", "rows were")
            shared, others = run.rejected - len(run.unread), len(run.unread)
            told = f"{shared} under an id that a sample has, {others} that are no samples"
            yield f"of the data of {run.name}, {count} left out: {told}"
    for run in runs:
        corrected = [(run.corrected.get(each), short(each, metrics)) for each in metrics]
        if counts := ", ".join(f"{count} of {name}" for count, name in corrected if count):
            yield (f"{run.name} has verdicts corrected by people; numbers of samples: {counts}")
    for run in runs:
        repetitions = sorted({run.repetitions[each] for each in metrics if each in run.repetitions})
        if counts := " or ".join(map(str, repetitions)):
            yield f"each score of {run.name} is the mean of {counts} whole measurements"
