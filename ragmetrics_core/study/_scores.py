"""The scores of a run as the study reads them: numbers by metric and sample, and why others have none."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from hashlib import blake2b
from math import inf
from pathlib import Path
from typing import NamedTuple, TypeVar

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import signature_of
from ragmetrics_core.runs import Run
from ragmetrics_core.samples import Label, Sample
from ragmetrics_core.study._tables import short

__all__ = [
    "LeftOut",
    "Oriented",
    "Scores",
    "Taken",
    "measured_notes",
    "metrics_of_all",
    "named_runs",
    "read_scores",
    "taken",
]

LeftOut = tuple[tuple[str, int], ...]

T = TypeVar("T")


class Oriented(NamedTuple):
    """A metric's values by sample id with more being better, and what they are called."""

    name: str
    values: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class Scores:
    """What a run's records came to.

    Attributes:
        name: what the run is called in tables.
        values: for each metric's signature, the scores with a value, by sample id.
        absent: likewise, the status of the scores that have none.
        labels: for each sample its labels, in the order of the run.
        questions: for each sample its question.
        finished: whether the run measured all its samples.
        lower_is_better: the signatures of the metrics whose low end is the good one.
        ranges: for each signature the ends of the metric's range; 0 and 1 for one that is not here.
        sure: for each signature what a decision may count on, by sample id: the value, the worse bound of an
            incomplete score, the bad end of the range where a score failed or the answer says nothing.
        expected: for each sample a digest of its expected texts and its labels of relevance.
        models: what judged, embedded and rated, by kind, how often each verdict was asked for, and whether
            the texts were redacted.
        exceeds: the signatures of the metrics whose scores may lie above their range.
        rejected: how many rows were no samples, so that nothing is known of them.
        corrected: for each signature how many scores hold a person's correction of a verdict.
        repetitions: for each signature how many whole measurements a score is the mean of, where there are
            several.
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
    corrected: Mapping[str, int] = field(default_factory=dict[str, int])
    repetitions: Mapping[str, int] = field(default_factory=dict[str, int])

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
        return ", ".join(sorted({name for labels in self.labels.values() for name in labels})) or "none"

    def metric(self, name: str) -> str:
        """The signature of a metric that is named by its name, an alias or its signature.

        Raises:
            ConfigError: the run has no such metric, or several.
        """
        if name in self.values:
            return name
        if (name := signature_of(name)) in self.values:
            return name
        found = [each for each in self.values if each.partition("/")[0] == name]
        if len(found) == 1:
            return found[0]
        if found:
            raise ConfigError(f"{self.name} has several metrics {name!r}: name one of {', '.join(found)}")
        near = get_close_matches(name, self.values, n=3) or list(self.values)
        raise ConfigError(f"{self.name} has no metric {name!r}; it has {', '.join(near) or 'none'}")

    def oriented(self, metric: str, among: Sequence[str]) -> Oriented:
        """A metric's values with more being better, under its short name among others.

        Where lower is better they are turned round within the range, and say so: "1 - hallucination".
        """
        name, values = short(metric, among), self.values[metric]
        if metric not in self.lower_is_better:
            return Oriented(name, values)
        ends = sum(self.range_of(metric))
        # 1 - 0.7 is more than 0.3 in floats, and thresholds are met exactly
        turned = {each: round(ends - value, 12) for each, value in values.items()}
        return Oriented(f"{ends:g} - {name}", turned)

    def only(self, ids: Collection[str]) -> "Scores":
        """The scores of some samples."""
        return replace(
            self,
            values=_only(self.values, ids),
            absent=_only(self.absent, ids),
            sure=_only(self.sure, ids),
            labels={each: labels for each, labels in self.labels.items() if each in ids},
        )

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
        """How many of some samples have no value of a metric, by cause."""
        lacking = (each for each in ids if each not in self.values[metric])
        return tuple(Counter(self.why_absent(metric, each) for each in lacking).most_common())

    def why_absent(self, metric: str, sample_id: str) -> str:
        """Why a sample has no value of a metric: a status, or "not measured"."""
        return self.absent.get(metric, {}).get(sample_id, "not measured").replace("_", " ")


class Taken(NamedTuple):
    """The samples that an analysis rests on, and how many it leaves out for which cause."""

    ids: tuple[str, ...]
    left_out: LeftOut


def taken(scores: Scores, metrics: Sequence[str], label: Mapping[str, object], named: str) -> Taken:
    """The samples with a value of each metric and a label; the first cause that a sample lacks one counts."""
    ids: list[str] = []
    causes: Counter[str] = Counter()
    for sample_id in scores.samples:
        lacking = next((each for each in metrics if sample_id not in scores.values[each]), None)
        if label.get(sample_id) is None:
            causes[f"without {named}"] += 1
        elif lacking is None:
            ids.append(sample_id)
        else:
            causes[f"{short(lacking, metrics)} {scores.why_absent(lacking, sample_id)}"] += 1
    return Taken(tuple(ids), tuple(causes.most_common()))


def read_scores(run: Run, *, name: str | None = None, apart: bool = False) -> Scores:
    """Read what a run's records came to; of a metric that was measured several times, each sample's mean.

    Args:
        run: the run, whose scores are taken as they are: finished or not.
        name: what to call it in tables; its folder's name without one.
        apart: take whole measurements that were repeated for metrics of their own, by their signatures.
    """
    first = [entry.signature for entry in run.metrics if apart or entry.repetition == 1]
    values: dict[str, dict[str, float]] = {signature: {} for signature in first}
    absent: dict[str, dict[str, str]] = {signature: {} for signature in first}
    sure: dict[str, dict[str, float]] = {signature: {} for signature in first}
    ends = {entry.signature: (entry.worst, entry.best) for entry in run.metrics}
    corrected = Counter[str]()
    for key, outcome in run.outcomes() if apart else run.averaged_outcomes():
        if key.signature not in values:
            continue
        corrected[key.signature] += outcome.corrected
        worst, best = ends[key.signature]
        if (counts := outcome.sure(worst=worst, best=best)) is not None:
            sure[key.signature][key.sample_id] = counts
        if outcome.value is None:
            absent[key.signature][key.sample_id] = outcome.status
        else:
            values[key.signature][key.sample_id] = outcome.value
    labels: dict[str, Mapping[str, Label]] = {}
    questions: dict[str, str | None] = {}
    expected: dict[str, str] = {}
    for sample in run.samples():
        labels[sample.id], questions[sample.id] = sample.labels, sample.question
        expected[sample.id] = _expected(sample)
    return Scores(
        name=name or (run.path.name if run.path else "run"),
        values=values,
        absent=absent,
        labels=labels,
        questions=questions,
        finished=run.finished,
        lower_is_better=frozenset(each.signature for each in run.metrics if not each.higher_is_better),
        ranges={each.signature: (each.low, each.high) for each in run.metrics},
        sure=sure,
        expected=expected,
        models=_models(run),
        exceeds=frozenset(each.signature for each in run.metrics if each.exceeds),
        rejected=len(run.rejected),
        corrected={signature: count for signature, count in corrected.items() if count},
        repetitions={
            signature: count
            for signature in first
            if not apart and (count := len(run.repetitions(signature))) > 1
        },
    )


def _expected(sample: Sample) -> str:
    """What an answer and what was retrieved are held to, in short."""
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


def _only(columns: Mapping[str, Mapping[str, T]], ids: Collection[str]) -> dict[str, dict[str, T]]:
    return {
        metric: {each: value for each, value in column.items() if each in ids}
        for metric, column in columns.items()
    }


def named_runs(paths: Sequence[Path]) -> dict[str, Path]:
    """Short names for runs: the folders' names, with as many folders above them as tell them apart.

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
        wanted: names or signatures; without it all that the runs share.

    Raises:
        ConfigError: a wanted metric is missing in a run, a metric was measured in different variants, or the
            runs share none.
    """
    if wanted is not None:
        chosen = tuple(dict.fromkeys(runs[0].metric(name) for name in wanted))
        for run in runs[1:]:
            _check_same(runs[0], run, chosen, tuple(run.metric(name) for name in wanted))
        return chosen
    shared = tuple(each for each in runs[0].metrics if all(each in run.values for run in runs))
    if not shared:
        for run in runs[1:]:
            here = {each.partition("/")[0]: each for each in runs[0].metrics}
            there = {each.partition("/")[0]: each for each in run.metrics}
            common = [name for name in here if name in there]
            _check_same(
                runs[0], run, tuple(here[name] for name in common), tuple(there[name] for name in common)
            )
        measured = "; ".join(f"{run.name}: {', '.join(run.metrics) or 'none'}" for run in runs)
        raise ConfigError(f"the runs share no metric ({measured})")
    return shared


def measured_notes(runs: Sequence[Scores], metrics: Sequence[str]) -> Iterator[str]:
    """What stands behind the scores of some metrics that a reader does not see: corrections, repetitions."""
    for run in runs:
        corrected = {each: run.corrected[each] for each in metrics if run.corrected.get(each)}
        if corrected:
            told = ", ".join(f"{count} of {short(each, metrics)}" for each, count in corrected.items())
            yield f"{run.name} holds verdicts that people corrected, in the scores of so many samples: {told}"
    for run in runs:
        counts = {run.repetitions[each] for each in metrics if each in run.repetitions}
        if counts:
            told = " or ".join(map(str, sorted(counts)))
            yield f"each score of {run.name} is the mean of {told} whole measurements"


def _check_same(first: Scores, run: Scores, here: Sequence[str], there: Sequence[str]) -> None:
    for one, other in zip(here, there, strict=False):
        if one != other:
            raise ConfigError(
                f"{first.name} measured {one}, but {run.name} {other}: different variants or settings "
                "cannot be compared; evaluate both in the same way"
            )
