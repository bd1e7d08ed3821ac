"""The contract of all metrics, as a check for custom metrics."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ragmetrics_core.drivers import audit, recompute
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import Metric
from ragmetrics_core.protocol import Embedder, Judge, Scorer
from ragmetrics_core.records import Record
from ragmetrics_core.runs import evaluate
from ragmetrics_core.samples import Sample
from ragmetrics_core.testing._hash_embedder import HashEmbedder
from ragmetrics_core.testing._overlap_scorer import OverlapScorer
from ragmetrics_core.testing._random_judge import RandomJudge
from ragmetrics_core.testing._scripted_judge import ScriptedJudge

__all__ = ["check_metric"]

GARBAGE = ("", "{", "[]", "{}", "null", "yes", "0", '{"a": [1]}', "I cannot.", "lorem ◊ ipsum { [")


def check_metric(
    metric: Metric[Any],
    samples: Sequence[Sample | Mapping[str, Any]],
    *,
    seeds: int = 25,
    embedder: Embedder | None = None,
    scorer: Scorer | None = None,
) -> None:
    """Measure samples with judges that answer at random, in part or with garbage, and check the results.

    The checks: a record gives its score again, passes the audit, and survives writing and reading; scores are
    in the metric's range; bounds are in order; a score without a value has a reason; a missing field skips
    the sample and is named; settings survive being stored; and some judge leaves the metric defined.

    Args:
        metric: the metric.
        samples: samples with all fields that the metric needs.
        seeds: number of random judges.
        embedder: the embedder. Default: `HashEmbedder()`.
        scorer: the scorer. Default: `OverlapScorer()`.

    Raises:
        AssertionError: a check failed; the message names it.
    """
    models = {"embedder": embedder or HashEmbedder(), "scorer": scorer or OverlapScorer()}
    rows = [each if isinstance(each, Sample) else Sample.from_mapping(each) for each in samples]
    judges: list[Judge] = [RandomJudge(seed, complete=seed % 2 == 0) for seed in range(seeds)]
    judges += [ScriptedJudge(_always(text)) for text in GARBAGE]
    statuses: set[str] = set()
    for judge in judges:
        run = evaluate(rows, metrics=[metric], judge=judge, **models)  # type: ignore[arg-type]
        for sample in rows:
            score = run.score(sample.id, metric)
            _check_score(score, metric)
            statuses.add(score.status)
    assert "ok" in statuses, f"{metric.name}: no judge gave it a score on these samples ({sorted(statuses)})"
    _check_settings(metric)
    for name in metric.view.required():
        without = rows[0].model_dump(exclude={name, *(["references"] if name == "reference" else [])})
        run = evaluate([without], metrics=[metric], judge=RandomJudge(0), **models)  # type: ignore[arg-type]
        (record,) = run.records()
        told = (record.status, record.reason)
        assert told == ("skipped", name), f"{metric.name}: a sample without {name} is {told}, not skipped"


def _always(text: str) -> Callable[[object], str]:
    return lambda request: text


def _check_score(score: Record, metric: Metric[Any]) -> None:
    record = score
    where = f"{metric.signature} of {record.sample_id} ({record.judge})"
    again = recompute(record, metric=metric)
    assert (again.status, again.value, again.bounds) == (score.status, score.value, score.bounds), (
        f"{where}: measured {score.headline}, but its record gives {again.headline}"
    )
    differences = audit(record, metric=metric)
    assert not differences, f"{where}: {differences[0]}"
    read = Record.from_json(record.stored())
    assert read.stored() == record.stored(), f"{where}: the record changes when it is written and read"
    assert (score.value is not None) == (score.status == "ok"), f"{where}: a value, but {score.status}"
    assert score.status == "ok" or score.reason, f"{where}: {score.status} without a reason"
    values = [score.value] if score.value is not None else list(score.bounds or ())
    low, high = metric.range
    inside = all(low <= value and (value <= high or metric.exceeds) for value in values)
    assert inside, f"{where}: {values} is outside [{low:g}, {high:g}]"
    assert values == sorted(values), f"{where}: the bounds {values} are not in order"


def _check_settings(metric: Metric[Any]) -> None:
    settings = json.loads(json.dumps(metric.settings))
    try:
        again = type(metric).from_settings(metric.variant, settings)
    except ConfigError as error:
        raise AssertionError(f"{metric.name} cannot be built from its stored settings: {error}") from error
    assert again.signature == metric.signature, f"{metric.name}: its settings do not survive being stored"
