"""Metrics as JSON: by name, or by name and parameters."""

from typing import Any

from ragmetrics_core import Metric
from ragmetrics_core.boundary import is_mapping, is_series
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import get, resolve

__all__ = ["FIELDS", "MetricSettings", "inputs_needed", "metrics_of", "plain"]

MetricSettings = str | dict[str, Any] | list[str | dict[str, Any]]

# The field of a sample by Haystack's name for a list of them.
FIELDS = {
    "questions": "question",
    "contexts": "contexts",
    "predicted_answers": "answer",
    "ground_truth_answers": "reference",
}


def metrics_of(settings: MetricSettings) -> tuple[Metric[Any], ...]:
    """
    Make the metrics from the settings.

    :param settings: A name ("faithfulness", "faithfulness/paper", "recommended"), a mapping with the `name`
        and, if wanted, the `variant` and other parameters, or a list of these.
    :returns: The metrics.
    :raises ConfigError: A metric or parameter does not exist, or a metric is given as an object.
    """
    listed = settings if isinstance(settings, list) else [settings]
    return resolve([_metric(each) for each in listed])


def _metric(setting: object) -> str | Metric[Any]:
    if isinstance(setting, str):
        return setting
    if not is_mapping(setting):
        msg = (
            "a metric is configured by its name or by a mapping of name and parameters, so that the pipeline "
            f"can be saved; not by {type(setting).__name__}"
        )
        raise ConfigError(msg)
    name = setting.get("name")
    if not isinstance(name, str):
        msg = f"a metric's mapping needs its name, as in {{'name': 'faithfulness'}}: {setting}"
        raise ConfigError(msg)
    parameters: dict[str, Any] = {key: value for key, value in setting.items() if key != "name"}
    return get(name, **parameters)


def inputs_needed(metrics: tuple[Metric[Any], ...]) -> frozenset[str]:
    """
    The inputs of an evaluator that its metrics require.

    :param metrics: The metrics.
    :returns: Haystack's names of the inputs.
    :raises ConfigError: A metric needs a field without an input in Haystack.
    """
    sockets = {field: socket for socket, field in FIELDS.items()}
    needed: set[str] = set()
    for metric in metrics:
        for name in metric.view.required():
            if name not in sockets:
                msg = f"{metric.name} needs {name}, which a Haystack evaluator has no input for"
                raise ConfigError(msg)
            needed.add(sockets[name])
    return frozenset(needed)


def plain(value: Any) -> Any:
    """
    Copy a parameter into YAML's types: a tuple becomes a list.

    :param value: Text, numbers, lists, mappings.
    :returns: The copy.
    """
    if is_mapping(value):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if is_series(value) else value
