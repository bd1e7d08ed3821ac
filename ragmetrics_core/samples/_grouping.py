"""Labels by which samples are grouped: those of the data, and the conversation with the turn's number."""

from collections.abc import Mapping
from typing import Final

from ragmetrics_core.samples._labels import Label
from ragmetrics_core.samples._sample import Sample
from ragmetrics_core.samples.columns import field_named

__all__ = ["SESSION", "TURN", "grouping_labels", "label_in", "session_of"]

SESSION: Final = "session"
TURN: Final = "turn"


def session_of(sample: Sample) -> str | None:
    """The id of the sample's conversation: its field, else its label `session`, `thread_id` or the like."""
    if sample.session is not None:
        return sample.session
    labels = sample.labels
    named = {name: label for name, label in labels.items() if label is not None and _is_session(name)}
    label = named.get(SESSION, next(iter(named.values()), None))
    return None if label is None else _text(label)


def grouping_labels(sample: Sample) -> dict[str, Label]:
    """The labels of a sample, after its session and turn; these two replace labels of their names."""
    own: dict[str, Label] = {SESSION: session_of(sample), TURN: sample.turn}
    own = {name: value for name, value in own.items() if value is not None}
    return own | {name: value for name, value in sample.labels.items() if name not in own}


def label_in(labels: Mapping[str, Label], name: str) -> Label:
    """A label of `grouping_labels`; a column that became the session, such as "thread_id", names that."""
    label = labels.get(name)
    if not _is_session(name):
        return label
    label = labels.get(SESSION) if label is None else label
    return None if label is None else _text(label)


def _is_session(name: str) -> bool:
    return field_named(name) == SESSION


def _text(label: Label) -> str:
    """A label as the field `session`: a file's number 3 is the label 3.0 and the field "3"."""
    return str(int(label) if isinstance(label, float) and label.is_integer() else label)
