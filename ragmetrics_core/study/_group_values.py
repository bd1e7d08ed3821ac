"""The values of a label that makes groups: how they are written, which means good, and whose they are."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.samples import Label, label_in
from ragmetrics_core.study._label_vocabulary import number_in, reading_of
from ragmetrics_core.study._scores import Scores, label_names_of

__all__ = ["ALL", "check_groups", "label_text", "members_of", "sample_notes", "truth_of_groups"]

ALL = "all samples"


def label_text(value: Label) -> str:
    """A label's value as a group is called: "true", "2", "Mistral"."""
    match value:
        case bool():
            return "true" if value else "false"
        case float() if value.is_integer():
            return str(int(value))
        case _:
            return str(value)


def truth_of_groups(by: str | None, values: Iterable[str]) -> dict[str, bool]:
    """The groups whose label means good (True) or bad (False); none if the label is a rating or a text."""
    names = list(values)
    reading = reading_of(by or "", names, kinds=("truth", "rating", "text", "mixed"))
    if reading.kind != "truth":
        return {}
    meanings = {name: reading.value(name) for name in names}
    return {name: meaning for name, meaning in meanings.items() if isinstance(meaning, bool)}


def members_of(run: Scores, by: str | None) -> dict[str, list[str]]:
    """The ids of the samples of each group; good before bad, then numbers in their order, then texts."""
    if by is None:
        return {ALL: list(run.samples)}
    members: dict[str, list[str]] = {}
    for sample_id, labels in run.labels.items():
        if (value := label_in(labels, by)) is not None:
            members.setdefault(label_text(value), []).append(sample_id)
    truth = truth_of_groups(by, members)

    def rank(value: str) -> tuple[bool, float, str]:
        return not truth.get(value, False), number_in(value) or 0.0, value

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
