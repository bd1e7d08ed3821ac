"""Clusters of dependent samples, by a label."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.samples import SESSION, label_in
from ragmetrics_core.study._estimates import FEWEST_CLUSTERS, check_clusters
from ragmetrics_core.study._scores import Scores, label_names_of

__all__ = ["NO_CLUSTERS", "Clustering", "clustering_of"]

# The word that forbids clusters.
NO_CLUSTERS = "none"


@dataclass(frozen=True, kw_only=True)
class Clustering:
    """Each sample's cluster.

    Attributes:
        by: label that defines the clusters; None if samples are independent.
        of: clusters by sample id; a sample without an entry is its own cluster.
        notes: remarks for readers.
    """

    by: str | None = None
    of: Mapping[str, Hashable] = field(default_factory=dict[str, Hashable])
    notes: tuple[str, ...] = ()

    def clusters(self, ids: Iterable[str]) -> list[Hashable]:
        """The clusters of samples, in their order."""
        return [("cluster", self.of[each]) if each in self.of else ("sample", each) for each in ids]


def clustering_of(runs: Sequence[Scores], by: str | None = None) -> Clustering:
    """The clusters of the samples of runs.

    Args:
        runs: runs; for a shared sample, the label of the first run counts.
        by: label whose values are the clusters, or "none". Default: `session`, if samples have it and there
            are at least 10 sessions.

    Raises:
        ConfigError: no sample has the label, or there are fewer than 10 clusters.
    """
    label = SESSION if by is None else by
    of: dict[str, Hashable] = {}
    ids: dict[str, None] = {}
    for run in runs if by != NO_CLUSTERS else ():
        for sample_id, labels in run.labels.items():
            ids.setdefault(sample_id)
            if (value := label_in(labels, label)) is not None:
                of.setdefault(sample_id, value)
    if not of and by not in (None, NO_CLUSTERS):
        raise ConfigError(f"no sample has the label {by!r}; labels are: {label_names_of(runs)}")
    clusters = Clustering(of=of).clusters(ids)
    count = len(set(clusters))
    if by is not None and of:
        check_clusters(clusters, by=label)
    elif not of or count == len(ids):
        return Clustering()
    elif count < FEWEST_CLUSTERS:
        note = (
            f"the samples are of {count} sessions, too few for intervals by session: these take the samples "
            "for independent, and are too narrow"
        )
        return Clustering(notes=(note,))
    notes = [f"{len(ids)} samples in {count} clusters by {label}: intervals and tests are by cluster"]
    if alone := len(ids) - len(of):
        notes.append(f"{alone} samples have no label {label}: each is a cluster of its own")
    return Clustering(by=label, of=of, notes=tuple(notes))
