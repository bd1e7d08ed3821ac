"""The frame of a study: the metrics of its runs, which samples belong together, what a reader should know."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypedDict, TypeVar

from ragmetrics_core.study._clustering import Clustering, clustering_of
from ragmetrics_core.study._scores import Scores, measured_notes, metrics_of_all

__all__ = ["Frame", "StudySettings", "frame_of"]

T = TypeVar("T")


class StudySettings(TypedDict, total=False):
    """What can be said of most studies.

    Attributes:
        metrics: names or signatures; without it all that the runs share.
        cluster: the label whose values say which samples belong together, or "none"; see `clustering_of`.
        seed: of the bootstrap and of random flips, 0 without it.
    """

    metrics: Sequence[str] | None
    cluster: str | None
    seed: int


class Frame(NamedTuple):
    """What a study of runs rests on.

    Attributes:
        metrics: the signatures of the metrics that all runs measured in the same way.
        clustering: which samples belong together.
        seed: of random draws.
        measured: what a reader should know of the scores: corrections, repetitions.
    """

    metrics: tuple[str, ...]
    clustering: Clustering
    seed: int
    measured: tuple[str, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know of the clusters and of the scores."""
        return (*self.clustering.notes, *self.measured)

    def columns(
        self, values: Mapping[str, T], ids: Iterable[str] | None = None
    ) -> tuple[list[T], list[Hashable]]:
        """The values of samples, or of some of them, beside each one's cluster."""
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
