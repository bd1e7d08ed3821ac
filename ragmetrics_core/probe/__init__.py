"""Probing a judge: how often it is right, what turns its verdicts, and what they say of people's labels."""

from ragmetrics_core.probe._card import (
    Consistency,
    FitnessCard,
    Injection,
    KnownAnswers,
    Position,
    Replies,
    ShareOf,
    Verbosity,
)
from ragmetrics_core.probe._corpus import Attack, Corpus, Passage, read_corpus
from ragmetrics_core.probe._label_words import Question
from ragmetrics_core.probe._labelled import Labelled, LabelledPair, LabelledSet, read_labelled
from ragmetrics_core.probe._on_people import aprobe_on, probe_on
from ragmetrics_core.probe._people_card import (
    PEOPLE,
    CardGroup,
    Interval,
    People,
    PeopleCard,
    Ranking,
    carried_cards,
    keep_card,
    measured_on_people,
    read_cards,
)
from ragmetrics_core.probe._people_tables import people_lines, people_tables
from ragmetrics_core.probe._probing import CARD, PROBES, Probe, aprobe, count_samples, probe
from ragmetrics_core.probe._tables import card_tables

__all__ = [
    "CARD",
    "PEOPLE",
    "PROBES",
    "Attack",
    "CardGroup",
    "Consistency",
    "Corpus",
    "FitnessCard",
    "Injection",
    "Interval",
    "KnownAnswers",
    "Labelled",
    "LabelledPair",
    "LabelledSet",
    "Passage",
    "People",
    "PeopleCard",
    "Position",
    "Probe",
    "Question",
    "Ranking",
    "Replies",
    "ShareOf",
    "Verbosity",
    "aprobe",
    "aprobe_on",
    "card_tables",
    "carried_cards",
    "count_samples",
    "keep_card",
    "measured_on_people",
    "people_lines",
    "people_tables",
    "probe",
    "probe_on",
    "read_cards",
    "read_corpus",
    "read_labelled",
]
