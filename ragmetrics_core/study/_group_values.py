"""The values of a label that makes groups: how they are written, which means good, and whose they are."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.sample import Label
from ragmetrics_core.study._distributions import Alternative
from ragmetrics_core.study._scores import Scores

__all__ = ["ALL", "check_groups", "label_text", "members_of", "order_of", "rank_of", "sample_notes"]

ALL = "all samples"

# What a column of two values calls its good one and its bad one.
_PAIRS = {("true", "false"), ("yes", "no"), ("correct", "wrong"), ("right", "wrong"), ("1", "0")}


def label_text(value: Label) -> str:
    """A label's value as a group is called: "true", "2", "Mistral"."""
    match value:
        case bool():
            return "true" if value else "false"
        case float() if value.is_integer():
            return str(int(value))
        case _:
            return str(value)


def order_of(one: str, other: str) -> tuple[str, str, Alternative]:
    """Which of two values is taken to be better, and whether that is tested ("greater")."""
    low, high = one.casefold(), other.casefold()
    if (low, high) in _PAIRS:
        return one, other, "greater"
    if (high, low) in _PAIRS:
        return other, one, "greater"
    return one, other, "two-sided"


def rank_of(value: str) -> tuple[bool, float, str]:
    """Good before bad, numbers in their order, then texts."""
    good = any(value.casefold() == pair[0] for pair in _PAIRS)
    try:
        return not good, float(value), value
    except ValueError:
        return not good, 0.0, value


def members_of(run: Scores, by: str | None) -> dict[str, list[str]]:
    """The ids of the samples of each group, the groups in a natural order."""
    if by is None:
        return {ALL: list(run.samples)}
    found: dict[str, list[str]] = {}
    for sample_id, labels in run.labels.items():
        if labels.get(by) is not None:
            found.setdefault(label_text(labels[by]), []).append(sample_id)
    return dict(sorted(found.items(), key=lambda item: rank_of(item[0])))


def check_groups(
    by: str | None, members: Mapping[str, Mapping[str, Sequence[str]]], names: Collection[str]
) -> None:
    """Refuse a label that makes no groups, one, or too many."""
    if by is None:
        return
    values = {value for groups in members.values() for value in groups}
    if not values:
        told = ", ".join(sorted(names)) or "none"
        raise ConfigError(f"no sample has the label {by!r}; labels are: {told}")
    if len(values) == 1:
        raise ConfigError(f"the label {by!r} is {values.pop()} for every sample: there is no second group")
    if len(values) > 30:
        raise ConfigError(
            f"the label {by!r} has {len(values)} values: choose one that makes at most 30 groups"
        )


def sample_notes(
    runs: Sequence[Scores], by: str | None, members: Mapping[str, Mapping[str, Sequence[str]]]
) -> Iterator[str]:
    """What a reader should know of the samples that the groups are of."""
    for run in runs:
        if not run.finished:
            yield f"{run.name} did not finish: what it has is counted"
        lacking = len(run.samples) - sum(map(len, members[run.name].values()))
        if lacking:
            yield f"{run.name}: {lacking} of {len(run.samples)} samples have no label {by} and are left out"
    ids = [set(run.samples) for run in runs]
    if len(ids) > 1 and any(each != ids[0] for each in ids[1:]):
        yield "the runs do not have the same samples: what differs between them may be the samples"
    elif len(ids) > 1:
        yield "the runs have the same samples: ragmetrics study compare tests pair by pair, and finds more"
