"""The frame of a study: common metrics of its runs, clusters, and notes."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypedDict, TypeVar

from ragmetrics_core.study._clustering import Clustering, clustering_of
from ragmetrics_core.study._scores import Scores, measured_notes, metrics_of_all

__all__ = ["Frame", "StudySettings", "frame_of"]

T = TypeVar("T")


class StudySettings(TypedDict, total=False):
    """Settings that most studies share.

    Attributes:
        metrics: names or signatures. Default: all metrics that the runs share.
        cluster: label whose values group dependent samples, or "none"; see `clustering_of`.
        seed: seed of the bootstrap and of random flips. Default: 0.
    """

    metrics: Sequence[str] | None
    cluster: str | None
    seed: int


class Frame(NamedTuple):
    """Metrics, clusters and seed of a study of runs.

    Attributes:
        metrics: signatures of the metrics that all runs measured in the same way.
        clustering: clusters of dependent samples.
        seed: random seed.
        measured: notes on the scores: corrections, repetitions.
    """

    metrics: tuple[str, ...]
    clustering: Clustering
    seed: int
    measured: tuple[str, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the clusters and the scores."""
        return (*self.clustering.notes, *self.measured)

    def columns(
        self, values: Mapping[str, T], ids: Iterable[str] | None = None
    ) -> tuple[list[T], list[Hashable]]:
        """Values and clusters of all or some samples."""
        names = [*(values if ids is None else ids)]
        return [values[name] for name in names], self.clustering.clusters(names)


def frame_of(
    runs: Sequence[Scores], *, metrics: Sequence[str] | None = None, cluster: str | None = None, seed: int = 0
) -> Frame:
    """The frame of a study of runs; see `StudySettings`.

    Raises:
        ConfigError: as `metrics_of_all` and `clustering_of`.
    """
    chosen, clustering = metrics_of_all(runs, metrics), clustering_of(runs, cluster)
    return Frame(chosen, clustering, seed, tuple(measured_notes(runs, chosen)))
