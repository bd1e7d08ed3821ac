"""The formulas: numbers in, a number out, or None if the value is undefined.

The formulas are independent of models, samples and records. Sums are rounded once (`math.fsum`, fractions),
so a score is the same to the last bit on every platform and for every order of its parts. The module
`ragmetrics_core.scoring._rankings` handles the rankings of many queries at once, in numpy.
"""

from ragmetrics_core.scoring._claims import (
    entity_recall,
    f_beta,
    f_measure,
    harmonic_mean,
    nugget_recall,
    nugget_recall_bounds,
    share,
    supported_share,
    weighted_mean,
)
from ragmetrics_core.scoring._ranking import Bounds, average_precision, average_precision_bounds
from ragmetrics_core.scoring._retrieval import (
    average_precision_at,
    hit_at,
    ndcg_at,
    precision_at,
    recall_at,
    reciprocal_rank_at,
    reciprocal_ranks_at,
)
from ragmetrics_core.scoring._similarity import Vector, cosine, mean_cosine
from ragmetrics_core.scoring._spread import Spread, nested_spread
from ragmetrics_core.scoring._text import bleu, chrf, common_length, meteor, shared_words, words_of

__all__ = [
    "Bounds",
    "Spread",
    "Vector",
    "average_precision",
    "average_precision_at",
    "average_precision_bounds",
    "bleu",
    "chrf",
    "common_length",
    "cosine",
    "entity_recall",
    "f_beta",
    "f_measure",
    "harmonic_mean",
    "hit_at",
    "mean_cosine",
    "meteor",
    "ndcg_at",
    "nested_spread",
    "nugget_recall",
    "nugget_recall_bounds",
    "precision_at",
    "recall_at",
    "reciprocal_rank_at",
    "reciprocal_ranks_at",
    "share",
    "shared_words",
    "supported_share",
    "weighted_mean",
    "words_of",
]
