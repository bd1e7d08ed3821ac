"""ragmetrics on several machines: metrics in Ray Data actors, results as Parquet."""

from ragmetrics_ray._evaluation import evaluate_dataset
from ragmetrics_ray._export import to_run

__all__ = ["evaluate_dataset", "to_run"]
