"""ragmetrics on several machines: metrics in Ray Data actors, results as Parquet."""

from ragmetrics_ray.evaluation import evaluate_dataset
from ragmetrics_ray.export import to_run

__all__ = ["evaluate_dataset", "to_run"]
