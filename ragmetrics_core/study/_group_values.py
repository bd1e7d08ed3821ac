"""The values of a label that makes groups: how they are written, which means good, and whose they are."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.samples import Label
from ragmetrics_core.study._scores import Scores, label_names_of

__all__ = ["ALL", "PAIRS", "check_groups", "label_text", "members_of", "sample_notes"]

ALL = "all samples"

# What a column of two values calls its good one and its bad one.
PAIRS = {("true", "false"), ("yes", "no"), ("correct", "wrong"), ("right", "wrong"), ("1", "0")}


def label_text(value: Label) -> str:
    """A label's value as a group is called: "true", "2", "Mistral"."""
    match value:
        case bool():
            return "true" if value else "false"
        case float() if value.is_integer():
            return str(int(value))
        case _:
            return str(value)


def members_of(run: Scores, by: str | None) -> dict[str, list[str]]:
    """The ids of the samples of each group; good before bad, then numbers in their order, then texts."""

    def rank(value: str) -> tuple[bool, float, str]:
        is_good = any(value.casefold() == pair[0] for pair in PAIRS)
        try:
            return not is_good, float(value), value
        except ValueError:
            return not is_good, 0.0, value

    if by is None:
        return {ALL: list(run.samples)}
    members: dict[str, list[str]] = {}
    for sample_id, labels in run.labels.items():
        if labels.get(by) is not None:
            members.setdefault(label_text(labels[by]), []).append(sample_id)
    return {value: members[value] for value in sorted(members, key=rank)}


def check_groups(
    by: str | None, members: Mapping[str, Mapping[str, Sequence[str]]], runs: Iterable[Scores]
) -> None:
    """Refuse a label that makes no groups, one, or too many."""
    values = {value for groups in members.values() for value in groups}
    if by is None or 1 < len(values) <= 30:
        return
    if not values:
        raise ConfigError(f"no sample has the label {by!r}; labels are: {label_names_of(runs)}")
    if len(values) == 1:
        raise ConfigError(f"the label {by!r} is {values.pop()} for every sample: there is no second group")
    raise ConfigError(f"the label {by!r} has {len(values)} values: choose one that makes at most 30 groups")


def sample_notes(
    runs: Sequence[Scores], by: str | None, members: Mapping[str, Mapping[str, Sequence[str]]]
) -> Iterator[str]:
    """Notes on the samples of the groups."""
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
