"""A small supervised model that decides whether texts support a statement: weights as data, and numpy."""

from ragmetrics_embedded._support.adapted import read_model
from ragmetrics_embedded._support.model import Support, SupportModel, support_model, support_name, weigh

__all__ = ["Support", "SupportModel", "read_model", "support_model", "support_name", "weigh"]
