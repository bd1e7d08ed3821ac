"""Probe a judge: accuracy, resistance to attacks, consistency, and agreement with people's labels."""

from ragmetrics_core.probe._by_cards import ChosenMetrics, chosen_by_cards
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
from ragmetrics_core.probe._card_tables import card_tables
from ragmetrics_core.probe._corpus import Attack, KnownPassage, ProbeCorpus, read_corpus
from ragmetrics_core.probe._on_people import LabelledArgs, acompare_on, aprobe_on, compare_on, probe_on
from ragmetrics_core.probe._people_card import (
    PEOPLE,
    CardGroup,
    PairedGain,
    People,
    PeopleCard,
    Ranking,
    cards_json,
    carried_cards,
    keep_card,
    measured_on_people,
    read_cards,
)
from ragmetrics_core.probe._people_tables import compared_tables, people_lines, people_tables
from ragmetrics_core.probe._probing import CARD, PROBES, Probe, aprobe, count_samples, probe
from ragmetrics_core.probe._training import (
    JudgeRow,
    TrainedJudge,
    TrainingCard,
    train_judge,
    training_table,
)
from ragmetrics_core.study import Labelled, LabelledPair, LabelledSet, Question, read_labelled

__all__ = [
    "CARD",
    "PEOPLE",
    "PROBES",
    "Attack",
    "CardGroup",
    "ChosenMetrics",
    "Consistency",
    "FitnessCard",
    "Injection",
    "JudgeRow",
    "KnownAnswers",
    "KnownPassage",
    "Labelled",
    "LabelledArgs",
    "LabelledPair",
    "LabelledSet",
    "PairedGain",
    "People",
    "PeopleCard",
    "Position",
    "Probe",
    "ProbeCorpus",
    "Question",
    "Ranking",
    "Replies",
    "ShareOf",
    "TrainedJudge",
    "TrainingCard",
    "Verbosity",
    "acompare_on",
    "aprobe",
    "aprobe_on",
    "card_tables",
    "cards_json",
    "carried_cards",
    "chosen_by_cards",
    "compare_on",
    "compared_tables",
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
    "train_judge",
    "training_table",
]
