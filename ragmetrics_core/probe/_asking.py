"""Asking the judge: each group of samples is a run of its own, kept in a folder where one is given."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import Metric
from ragmetrics_core.models import Tally, Traffic
from ragmetrics_core.protocol import Judge
from ragmetrics_core.record import Record
from ragmetrics_core.runs import Progress, aevaluate
from ragmetrics_core.sample import Sample

__all__ = ["Asker"]


@dataclass
class Asker:
    """Measures samples with a judge and keeps all records.

    Attributes:
        judge: the judge.
        out: where the runs are kept; None keeps them in memory.
        traffic: how the judge is asked.
        cache: a journal of answered calls that runs share.
        progress: called after each sample, with what all runs have done.
        records: every record so far.
    """

    judge: Judge
    out: Path | None
    traffic: Traffic
    cache: str | Path | None = None
    progress: Callable[[Progress], None] | None = None
    records: list[Record] = field(default_factory=list)
    _done: Progress = field(default_factory=lambda: Progress(0, 0, 0, Tally()))
    _latest: Progress = field(default_factory=lambda: Progress(0, 0, 0, Tally()))

    async def ask(
        self, name: str, samples: Sequence[Sample], *metrics: Metric[Any]
    ) -> dict[tuple[str, str], Record]:
        """The records by sample id and metric name.

        Args:
            name: of the run's folder.
            samples: what to measure.
            metrics: with what.

        Raises:
            ConfigError: the folder holds a run of another judge, or of another corpus.
        """
        if not samples:
            return {}
        out = self.out / name if self.out is not None else None
        run = await aevaluate(
            samples,
            metrics=metrics,
            judge=self.judge,
            out=out,
            cache=self.cache,
            traffic=self.traffic,
            progress=self._told,
        )
        if run.rejected:
            raise ConfigError(
                f"{out} holds a probe with another corpus ({run.rejected[0].message}): choose another folder"
            )
        self._done = self._latest
        found = {
            (sample.id, metric.name): run.score(sample.id, metric) for sample in samples for metric in metrics
        }
        self.records += found.values()
        return found

    def _told(self, now: Progress) -> None:
        before = self._done
        tally = Tally(
            **{name: count + asdict(before.tally)[name] for name, count in asdict(now.tally).items()}
        )
        self._latest = Progress(
            samples=before.samples + now.samples,
            rejected=before.rejected + now.rejected,
            failed=before.failed + now.failed,
            tally=tally,
            kept=before.kept + now.kept,
        )
        if self.progress:
            self.progress(self._latest)
