"""Probing a judge: how often it is right, and what turns its verdicts."""

from ragmetrics_core.probe.card import (
    Consistency,
    FitnessCard,
    Injection,
    KnownAnswers,
    Position,
    Rate,
    Replies,
    Verbosity,
)
from ragmetrics_core.probe.corpus import Attack, Corpus, Passage, read_corpus
from ragmetrics_core.probe.probing import CARD, PROBES, Probe, aprobe, count_samples, probe
from ragmetrics_core.probe.tables import card_tables

__all__ = [
    "CARD",
    "PROBES",
    "Attack",
    "Consistency",
    "Corpus",
    "FitnessCard",
    "Injection",
    "KnownAnswers",
    "Passage",
    "Position",
    "Probe",
    "Rate",
    "Replies",
    "Verbosity",
    "aprobe",
    "card_tables",
    "count_samples",
    "probe",
    "read_corpus",
]
