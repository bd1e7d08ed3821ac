"""A run: the scores of many samples."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from ragmetrics_core.drivers import Difference, by_vote, correct, self_contained
from ragmetrics_core.errors import ConfigError, RecordError
from ragmetrics_core.metrics import Metric
from ragmetrics_core.package.lazy import NOTEBOOK_PAGES
from ragmetrics_core.prompts import PromptText
from ragmetrics_core.records import Record
from ragmetrics_core.runs._auditing import audited
from ragmetrics_core.runs._decisions import read_decisions
from ragmetrics_core.runs._diagnosis import Findings, diagnose, findings_of
from ragmetrics_core.runs._folder import Folder
from ragmetrics_core.runs._loading import BadRow
from ragmetrics_core.runs._manifest import Manifest, MetricEntry
from ragmetrics_core.runs._metric_lookup import as_the_metric_says, entry_of, nearest, repetitions_of
from ragmetrics_core.runs._sample_rows import rows_of
from ragmetrics_core.runs._stored_lines import Key
from ragmetrics_core.runs._summary import Declines, Mean, Outcome, averaged, declines, summarise
from ragmetrics_core.runs._unused_columns import unused_columns
from ragmetrics_core.samples import Sample, session_of
from ragmetrics_core.scoring import Spread, nested_spread
from ragmetrics_core.texts.wording import number_of

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["Run"]


class Run:
    """The finished scores of a run, read from its folder or from memory when needed.

    Args:
        folder: the run's folder.
        metrics: metric objects by signature; only needed for metrics that are not in the catalogue.
    """

    def __init__(self, folder: Folder, *, metrics: dict[str, Metric[Any]] | None = None) -> None:
        self._folder = folder
        self._metrics = metrics or {}
        self._entries = tuple(
            as_the_metric_says(entry, self._metrics.get(entry.signature)) for entry in folder.manifest.metrics
        )

    @classmethod
    def load(cls, path: str | Path, *, metrics: Iterable[Metric[Any]] = ()) -> Self:
        """Open a run from its folder.

        Args:
            path: the run's folder.
            metrics: metrics of the run that are not in the catalogue, needed to recompute their scores.

        Raises:
            RecordError: there is no run, or it cannot be read.
        """
        return cls(Folder.open(path), metrics={metric.signature: metric for metric in metrics})

    @property
    def path(self) -> Path | None:
        """The run's folder; None for a run in memory."""
        return self._folder.path

    @property
    def judge(self) -> str | None:
        """Identity of the judge."""
        return self._folder.manifest.judge

    @property
    def embedder(self) -> str | None:
        """Identity of the embedder."""
        return self._folder.manifest.embedder

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the run for its caller."""
        notes = self._folder.manifest.notes
        if self.finished and not self.sample_ids and not self.rejected:
            return (*notes, "no samples were given, so nothing was measured")
        unused = unused_columns(self.outcomes(), self.sample)
        return notes if unused is None else (*notes, unused)

    @property
    def tally(self) -> dict[str, int]:
        """Calls, shared calls, embedded texts, failures and tokens of the whole run."""
        return dict(self._folder.manifest.tally)

    @property
    def metrics(self) -> tuple[MetricEntry, ...]:
        """The run's metrics; a known metric's own range replaces the stored one."""
        return self._entries

    @property
    def finished(self) -> bool:
        """Whether all samples were measured; False when the run was interrupted."""
        return self._folder.manifest.finished

    @property
    def is_written(self) -> bool:
        """Whether another process was writing to the run when it was opened."""
        return self._folder.is_written

    @property
    def manifest(self) -> Manifest:
        """Metrics, models, versions, notes and tally of the run."""
        return self._folder.manifest

    @property
    def prompts(self) -> Mapping[str, PromptText]:
        """Texts of all prompts that were asked, by digest."""
        return self._folder.prompt_texts

    @property
    def keys(self) -> Collection[Key]:
        """Keys of the scores: sample id and metric signature."""
        return self._folder.index.keys

    @property
    def rejected(self) -> list[BadRow]:
        """The rows that were left out, with the reason for each."""
        return list(self._folder.rejected)

    @property
    def sample_ids(self) -> Collection[str]:
        """The ids of all samples, in the order in which they were finished."""
        return self._folder.index.sample_ids

    def __len__(self) -> int:
        """The number of samples."""
        return len(self.sample_ids)

    def __repr__(self) -> str:
        """The run's place; reads nothing."""
        return f"<Run in {'memory' if self.path is None else self.path}>"

    def __str__(self) -> str:
        """The means and the number of rows left out."""
        lines = [f"{number_of(len(self), 'sample')}{'' if self.finished else ', not finished'}"]
        lines += [f"{mean.metric}: {mean}" for mean in self.means()]
        if bad := self.rejected:
            counted = "1 row was left out" if len(bad) == 1 else f"{len(bad)} rows were left out, the first"
            lines.append(f"{counted}: {bad[0].where}: {bad[0].message}")
        return "\n".join([*lines, *self.notes])

    def samples(self) -> Iterator[Sample]:
        """All samples, in the order in which they were finished."""
        return self._folder.samples()

    def sessions(self) -> dict[str, list[str]]:
        """Ids of the samples of each session, in the order of its turns; empty if no sample has a session.

        Samples without a turn's number come last, those with the shorter history first.
        """
        turns: dict[str, list[tuple[float, int, str]]] = {}
        for sample in self.samples():
            if (session := session_of(sample)) is not None:
                turn = inf if sample.turn is None else sample.turn
                turns.setdefault(session, []).append((turn, len(sample.history or ()), sample.id))
        # sorting is stable: what is left keeps the order of the run
        return {
            session: [sample_id for *_, sample_id in sorted(of_session, key=lambda each: each[:2])]
            for session, of_session in turns.items()
        }

    def session(self, session: str) -> list[str]:
        """Ids of the samples of a session, in the order of its turns.

        Raises:
            ConfigError: there is no such session; the message suggests the nearest ids.
        """
        sessions = self.sessions()
        if session not in sessions:
            raise ConfigError(f"the run has no session {session!r}{nearest(session, sessions)}")
        return sessions[session]

    def ids_beginning(self, text: str) -> list[str]:
        """Sample ids that begin with a text."""
        return self._folder.index.ids_beginning(text)

    def sample(self, sample_id: str) -> Sample:
        """A sample by its id.

        Raises:
            ConfigError: there is no such sample; the message suggests the nearest ids.
        """
        if sample_id not in self.sample_ids:
            raise ConfigError(f"the run has no sample {sample_id!r}{nearest(sample_id, self.sample_ids)}")
        return self._folder.sample(sample_id)

    def score(self, sample_id: str, metric: str | Metric[Any]) -> Record:
        """The record of a score: value, verdicts and steps.

        Args:
            sample_id: the sample.
            metric: a name that is unique in the run, or a signature.

        Raises:
            ConfigError: there is no such sample or metric.
        """
        key = Key(sample_id, entry_of(metric, self.metrics).signature)
        if key not in self._folder.index.keys:
            self.sample(sample_id)
            raise ConfigError(f"sample {sample_id!r} was not measured with {key.signature}")
        return self._folder.record(key)

    def key_of(self, digest: str) -> Key:
        """The key of the record with this digest, as scores that were sent to other tools state it.

        Raises:
            ConfigError: there is no such record, or it was replaced.
        """
        key = self._folder.index.sealed_with(digest)
        if key is None:
            raise ConfigError(
                f"the run has no record with digest {digest!r}; "
                "a record that was measured again or corrected has another one"
            )
        return key

    def records(self, metric: str | Metric[Any] | None = None) -> Iterator[Record]:
        """All records, or those of one metric, sample by sample."""
        wanted = None if metric is None else entry_of(metric, self.metrics).signature
        with self._folder.reading() as reader:
            for key, place in self._folder.index.places():
                if wanted in (None, key.signature):
                    yield reader.record(place)

    def voted(self, metric: str | Metric[Any]) -> Iterator[Record]:
        """The records of one metric whose verdicts have votes; other records are not fully read."""
        wanted = entry_of(metric, self.metrics).signature
        with self._folder.reading() as reader:
            for key, place in self._folder.index.places():
                if key.signature == wanted and reader.has_votes(place):
                    yield reader.record(place)

    def history(self, sample_id: str) -> list[Record]:
        """Records of a sample that no longer count, oldest first.

        The newest call has different content under this id.
        """
        with self._folder.reading() as reader:
            return [reader.record(place) for _, place in self._folder.index.history(sample_id)]

    def scores(self, sample_id: str) -> dict[str, Record]:
        """All scores of a sample, by signature."""
        self.sample(sample_id)
        keys = (Key(sample_id, entry.signature) for entry in self.metrics)
        return {key.signature: self._folder.record(key) for key in keys if key in self._folder.index.keys}

    def mean(self, metric: str | Metric[Any], *, abstention: Literal["count", "separate"] = "count") -> Mean:
        """The mean of a metric, with n, the counts by status, and worst and best case.

        With `full_repeats`, the mean of the first repetition; `averaged` covers all of them.

        Args:
            metric: a name that is unique in the run, or a signature.
            abstention: "separate" excludes samples whose answer declines.
        """
        wanted = entry_of(metric, self.metrics).signature
        return next(each for each in self.means(abstention=abstention) if each.metric == wanted)

    def means(self, *, abstention: Literal["count", "separate"] = "count") -> list[Mean]:
        """The means of all metrics; see `mean`. The run is read once."""
        outcomes: dict[str, list[Outcome]] = {entry.signature: [] for entry in self.metrics}
        for key, outcome in self._folder.index.outcomes():
            outcomes.setdefault(key.signature, []).append(outcome)
        return [
            summarise(
                entry.signature,
                outcomes[entry.signature],
                worst=entry.worst,
                best=entry.best,
                exceeds=entry.exceeds,
                separate=abstention == "separate",
            )
            for entry in self.metrics
        ]

    def outcomes(self) -> Iterator[tuple[Key, Outcome]]:
        """Outcome of each record, without reading it again."""
        return self._folder.index.outcomes()

    @property
    def declines(self) -> Declines:
        """Number of samples that were answered, declined or undecided."""
        counts = Counter(self.declining().values())
        blank = {key.sample_id for key, outcome in self.outcomes() if outcome.blank}
        return Declines(counts[False], counts[True], counts[None], len(blank))

    def declining(self) -> dict[str, bool | None]:
        """Whether the answer of each sample declines, by sample id.

        True for a blank answer. Otherwise the steps of all metrics that checked it decide; None if none did
        or they disagree.
        """
        of_samples: dict[str, list[Outcome]] = {sample_id: [] for sample_id in self.sample_ids}
        for key, outcome in self.outcomes():
            of_samples.setdefault(key.sample_id, []).append(outcome)
        return {sample_id: declines(outcomes) for sample_id, outcomes in of_samples.items()}

    def averaged(self, metric: str | Metric[Any]) -> Mean:
        """The mean of a metric over all its repetitions (`full_repeats`).

        Each sample counts with its own mean.

        Args:
            metric: a name that is unique in the run, or the signature of any repetition.
        """
        first, *_ = self.repetitions(metric)
        outcomes = [each for key, each in self.averaged_outcomes() if key.signature == first.signature]
        return summarise(first.signature, outcomes, worst=first.worst, best=first.best, exceeds=first.exceeds)

    def averaged_outcomes(self) -> Iterator[tuple[Key, Outcome]]:
        """Averaged outcome of all repetitions of each score, under the first signature; see `averaged`.

        A sample with missing repetitions is left out.
        """
        if all(entry.repetition == 1 for entry in self.metrics):
            yield from self.outcomes()
            return
        groups = [repetitions_of(entry, self.metrics) for entry in self.metrics]
        of = {each.signature: group[0] for group in groups for each in group}
        counts = {group[0].signature: len(group) for group in groups}
        waiting: dict[Key, list[Outcome]] = {}
        for key, outcome in self.outcomes():
            if (first := of.get(key.signature)) is None:
                continue
            together = Key(key.sample_id, first.signature)
            known = waiting.setdefault(together, [])
            known.append(outcome)
            if len(known) == counts[first.signature]:
                yield together, averaged(waiting.pop(together), worst=first.worst, best=first.best)

    def repetitions(self, metric: str | Metric[Any]) -> tuple[MetricEntry, ...]:
        """The entries of all repetitions of a metric (`full_repeats`), in order.

        Args:
            metric: a name that is unique in the run, or the signature of any repetition.
        """
        return repetitions_of(entry_of(metric, self.metrics), self.metrics)

    def spread(self, metric: str | Metric[Any]) -> Spread:
        """Spread of a metric's scores over `full_repeats`, and the share that `repeats` explain.

        Args:
            metric: a name that is unique in the run, or the signature of its first repetition.
        """
        repeated = self.repetitions(metric)
        samples: list[list[list[float]]] = []
        for sample_id in self.sample_ids:
            keys = [Key(sample_id, entry.signature) for entry in repeated]
            records = [self._folder.record(key) for key in keys if key in self.keys]
            votes = [by_vote(record, metric=self._metrics.get(record.signature)) for record in records]
            known = [[value for value in each if value is not None] for each in votes]
            samples.append([each for each in known if each])
        return nested_spread(samples)

    def diagnosis(self, sample_id: str) -> Findings:
        """Findings on a sample, from its records; see `diagnose`."""
        return diagnose(self.scores(sample_id).values())

    def diagnoses(self) -> dict[str, tuple[str, ...]]:
        """Codes of the findings on each sample, without reading the records again; see `diagnose`."""
        decided: dict[str, dict[str, str | None]] = {}
        for key, decisions in self._folder.index.decided():
            decided.setdefault(key.sample_id, {})[key.signature] = decisions
        declined = {key.sample_id for key, outcome in self.outcomes() if outcome.declined}
        found: dict[str, tuple[str, ...]] = {}
        for sample_id, of_sample in decided.items():
            codes = tuple(self._codes(sample_id, of_sample))
            found[sample_id] = ("abstained", *codes) if sample_id in declined else codes
        return found

    def _codes(self, sample_id: str, decided: Mapping[str, str | None]) -> Iterator[str]:
        entries = [entry for entry in self.metrics if entry.signature in decided]
        known = [(entry.name, decided[entry.signature]) for entry in entries]
        if any(decisions is None for _, decisions in known):
            findings = self.diagnosis(sample_id)
        else:
            findings = findings_of((name, read_decisions(decisions or "")) for name, decisions in known)
        return (finding.code for finding in findings if finding.code != "abstained")

    def correct(
        self, sample_id: str, metric: str | Metric[Any], number: int, verdict: bool, *, by: str | None = None
    ) -> Record:
        """Overrule a verdict; the score is recomputed without a call, and the record keeps both decisions.

        Args:
            sample_id: the sample.
            metric: a name that is unique in the run, or a signature.
            number: the verdict's number in the record.
            verdict: the person's decision.
            by: who decided.
        """
        record = self.score(sample_id, metric)
        own = self._metrics.get(record.signature)
        corrected = correct(record, number=number, supported=verdict, by=by, metric=own)
        self._folder.amend(corrected)
        return self.score(sample_id, metric)

    def audit(self, *, processes: int | None = None) -> Iterator[tuple[Key, list[Difference]]]:
        """Recompute every record, check the run as a whole, and list the differences.

        Differences in a file, such as a missing record, have the file's name as key; see docs/record.md.

        Args:
            processes: number of processes. None uses one per core if there are many records; 1 stays in this
                process.
        """
        # what is derived again is derived from the files, and not from what was noted of them
        self._folder = self._folder.read_anew()
        return audited(self._folder, self._entries, self._metrics, processes=processes)

    def refuse_altered(self) -> None:
        """Raise an error if the run was altered; code that decides on scores calls this first.

        It checks only the seals of records, samples and manifest. `audit` recomputes the scores.

        Raises:
            RecordError: a file was changed; the message names it.
        """
        altered = dict.fromkeys(self._folder.altered())
        if self.path is not None and not all(map(self._folder.is_known, self.samples())):
            altered["samples.jsonl"] = None
        if altered:
            told = f"{', '.join(altered)} in {self.path} was changed after it was written"
            raise RecordError(
                f"{told}, so no decision uses it; to see the differences: ragmetrics audit {self.path}"
            )

    def self_contained(self, sample_id: str, metric: str | Metric[Any]) -> Record:
        """The record of a score, including its sample, prompts and the messages of every step.

        Raises:
            ConfigError: there is no such sample or metric.
            RecordError: the messages cannot be rendered again.
        """
        return self.with_messages(self.score(sample_id, metric))

    def with_messages(self, record: Record) -> Record:
        """A record of this run, including the messages of every step; see `self_contained`.

        Raises:
            RecordError: the messages cannot be rendered again.
        """
        return self_contained(record, metric=self._metrics.get(record.signature))

    def to_rows(self) -> list[dict[str, Any]]:
        """One row for each sample: its texts, each metric's value and status, diagnosis and labels."""
        return list(rows_of(self.metrics, self.outcomes(), self.diagnoses(), self.samples()))

    def to_pandas(self) -> "DataFrame":
        """The rows of `to_rows` as a pandas data frame."""
        from pandas import DataFrame

        return DataFrame(self.to_rows())

    def _repr_html_(self) -> str:
        """The means as a table, for a notebook."""
        return NOTEBOOK_PAGES["run"](self)
