"""The catalogue: all metrics by name and alias."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, replace
from typing import Any, TypeVar, cast

from ragmetrics_core.boundary.keywords import folded
from ragmetrics_core.boundary.shapes import is_tuple
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import _definitions as definitions
from ragmetrics_core.metrics._peers import PEER_METRICS, PEER_NAMES, Other, peer_metric
from ragmetrics_core.metrics._settings import from_text, type_of
from ragmetrics_core.metrics.metric import Metric, is_metric, is_metric_class, is_prompt
from ragmetrics_core.prompts import STANDALONE, Prompt, PromptText
from ragmetrics_core.protocol import Part

__all__ = [
    "ALIASES",
    "METRICS",
    "RECOMMENDED",
    "asks_standalone",
    "get",
    "metric_class",
    "models_needed",
    "names_of",
    "of_part",
    "resolve",
    "reworded",
    "signature_of",
    "split_names",
    "with_settings",
]

M = TypeVar("M", bound=Metric[Any])

_NAMED = re.compile(
    r"(?P<name>[^/@()]*)(?:@(?P<k>\d+))?(?:/(?P<variant>[^/@()]+))?(?:\((?P<settings>.*)\))?", re.DOTALL
)

METRICS: Mapping[str, type[Metric[Any]]] = {
    each.name: each for each in vars(definitions).values() if is_metric_class(each)
}

ALIASES: Mapping[str, str] = {
    "answer_relevancy": "answer_relevance",
    "response_relevancy": "answer_relevance",
    "context_relevancy": "context_relevance",
    "semantic_similarity": "answer_similarity",
    "answer_semantic_similarity": "answer_similarity",
    "context_entities_recall": "context_entity_recall",
    "response_groundedness": "groundedness_rating",
    "sas": "semantic_answer_similarity",
    "bem": "answer_equivalence",
    "precision_at_k": "retrieval_precision",
    "recall_at_k": "retrieval_recall",
    "hit_rate_at_k": "hit_rate",
    "map": "average_precision",
    "mAP": "average_precision",
    "mrr": "reciprocal_rank",
    "MRR": "reciprocal_rank",
    "nDCG": "ndcg",
    "ndcg_at_k": "ndcg",
    "em": "exact_match",
    "f1": "token_f1",
    "FaiFul": "faithfulness",
    "AnsRel": "answer_relevance",
    "ConRel": "context_relevance",
    "AnsSim": "answer_similarity",
    "FacCor": "factual_correctness",
    "AnsCor": "answer_correctness",
}

RECOMMENDED = ("faithfulness", "factual_correctness")

_SPELLED: Mapping[str, str] = {folded(name): ALIASES.get(name, name) for name in (*METRICS, *ALIASES)}
"""Metrics by their names and aliases without case, hyphens and underscores."""


def metric_class(name: str) -> type[Metric[Any]]:
    """The class of a metric, by name or alias.

    Raises:
        ConfigError: the metric does not exist; the message suggests the nearest names.
    """
    return METRICS[_own_name(name).partition("(")[0]]


def _own_name(name: str) -> str:
    """Our name for a metric, with equivalent settings: `RougeScore` is `rouge(stemmer=true)`.

    Raises:
        ConfigError: the metric does not exist, or is a different measure in another library.
    """
    if name in METRICS or name in ALIASES:
        return ALIASES.get(name, name)
    # a class name of another library comes before a free spelling of ours
    peer = PEER_METRICS.get(name) or (_SPELLED.get(folded(name)) or PEER_NAMES.get(folded(name)))
    if peer is None:
        from difflib import get_close_matches

        near = get_close_matches(name, [*METRICS, *ALIASES], n=3)
        near = get_close_matches(name, near, n=3, cutoff=0.9) or near
        hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"there are {', '.join(METRICS)}"
        raise ConfigError(f"there is no metric {name!r}; {hint}")
    if isinstance(peer, Other):
        raise ConfigError(f"{name!r} {peer.difference}; {peer.instead}")
    return peer


def signature_of(name: str) -> str:
    """Canonical form of a metric's name: "ndcg@10" and "ndcg(k=10)" have the same signature.

    Names without settings and unknown names stay as they are; an alias becomes its metric's name.
    """
    with suppress(ConfigError):  # one of the user's own
        name = _own_name(name)
    if name.isidentifier():
        return name
    with suppress(ConfigError):  # one of the user's own, or with prompts of other versions
        return get(name).signature
    return name


def get(name: str, *, variant: str | None = None, **settings: Any) -> Metric[Any]:
    """Get a metric by name, with a variant and settings: `get("faithfulness", variant="paper")`.

    The name may include both: `get("faithfulness/paper")`, `get("ndcg(k=10)")`. A cut-off has a short form:
    `get("ndcg@10")`.

    Raises:
        ConfigError: the metric, variant or setting does not exist, a value is not allowed, or a setting is
            given twice.
    """
    named = _NAMED.fullmatch(name.strip())
    if named is None:
        raise ConfigError(
            f"a metric is written name, name/variant or name/variant(setting=value), not {name!r}"
        )
    own, _, same = _own_name(named["name"].strip()).removesuffix(")").partition("(")
    metric = METRICS[own]
    written = [("k", named["k"])] if named["k"] else []
    written += _settings(same) + _settings(named["settings"] or "")
    beside = [*settings, *["variant"] * (bool(variant) + bool(named["variant"]))]
    chosen: str = variant or named["variant"] or next(iter(metric.variants))
    return metric.from_settings(chosen, {**_read(metric, written, name, beside), **settings})


def with_settings(metric: type[Metric[Any]], settings: str) -> Metric[Any]:
    """Build a custom metric in its first variant, with settings as in a signature: "k=10,match=text".

    Raises:
        ConfigError: a setting does not exist, has a value that is not allowed, or is given twice.
    """
    read = _read(metric, _settings(settings), metric.__name__)
    return metric.from_settings(next(iter(metric.variants)), read)


def _read(
    metric: type[Metric[Any]], written: list[tuple[str, str]], where: str, beside: Iterable[str] = ()
) -> dict[str, Any]:
    """Values of written settings; reject a setting that is given twice."""
    names = [*(setting for setting, _ in written), *beside]
    if twice := next((setting for setting in names if names.count(setting) > 1), None):
        raise ConfigError(f"{where}: {twice} is given twice")
    return {setting: from_text(text, type_of(metric, setting)) for setting, text in written}


def _settings(text: str) -> list[tuple[str, str]]:
    return [_setting(each) for each in text.split(",") if each.strip()]


def _setting(text: str) -> tuple[str, str]:
    """Name and value of a written setting: `k=10`, `weights=1:0`, `stemmer=true`."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals:
        raise ConfigError(f"a setting is written setting=value, not {text.strip()!r}")
    return name, value


def split_names(text: str) -> tuple[str, ...]:
    """Split a list of names at its commas, except within brackets: ndcg(k=10,gain=linear)."""
    parts, depth = [""], 0
    for char in text:
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += char
    return tuple(name.strip() for name in parts if name.strip())


def resolve(metrics: str | Metric[Any] | Iterable[str | Metric[Any]]) -> tuple[Metric[Any], ...]:
    """Metrics from names, names separated by commas, objects and classes.

    `"recommended"` means the recommended pair. Objects and classes of ragas and DeepEval become the same
    measure of ours; neither library is imported.

    Raises:
        ConfigError: a name is unknown, another library's metric is a different measure, a value is not a
            metric, there are no metrics, or a metric is given twice.
    """
    is_one = isinstance(metrics, str | Metric) or not isinstance(cast("object", metrics), Iterable)
    given = [metrics] if is_one else list(cast("Iterable[object]", metrics))
    found: dict[str, Metric[Any]] = {}
    for each in given:
        for metric in _metrics_of(each):
            if metric.signature in found:
                raise ConfigError(f"the metric {metric.signature} is given twice")
            found[metric.signature] = metric
    if not found:
        raise ConfigError("give at least one metric, or omit metrics for the recommended ones")
    return tuple(found.values())


def _metrics_of(given: object) -> Iterator[Metric[Any]]:
    if is_metric(given):
        yield given
    elif is_metric_class(given):
        yield given()
    elif isinstance(given, str):
        for name in split_names(given):
            yield from map(get, RECOMMENDED if folded(name) == "recommended" else (name,))
    elif (spelled := peer_metric(given)) is not None:
        yield get(spelled)
    else:
        kind = given.__name__ if isinstance(given, type) else type(given).__name__
        raise ConfigError(f"a metric must be a name or a Metric object, not {kind}")


def of_part(part: Part) -> Metric[Any]:
    """The metric of a part.

    Raises:
        ConfigError: the metric, variant or setting does not exist.
    """
    metric = get(part.metric, variant=part.variant, **part.settings)
    return reworded(metric, part.prompts) if part.prompts else metric


def asks_standalone(metric: Metric[Any]) -> bool:
    """Whether a judge may be asked to rewrite the question of a sample with a history."""
    shows_turns = "history" in metric.view.optional()
    return (
        metric.knows_conversations and not shows_turns and "judge" in metric.needs and _reads_question(metric)
    )


def _reads_question(metric: Metric[Any]) -> bool:
    return metric.reads_question or any(_reads_question(of_part(part)) for part in metric.parts_used)


def reworded(metric: M, texts: Mapping[str, PromptText]) -> M:
    """Replace prompt texts of a metric and its parts; `texts` are by `PromptText.key`.

    Raises:
        PromptError: the variables of a text differ from those of the prompt with its name.
    """
    idle = metric.idle if asks_standalone(metric) else metric.idle | {STANDALONE.name}
    changed = {
        each.name: new
        for each in fields(metric)
        if each.init
        and each.name not in idle
        and (new := _reworded(old := getattr(metric, each.name), texts)) != old
    }
    return replace(metric, **changed) if changed else metric


def _reworded(value: Any, texts: Mapping[str, PromptText]) -> Any:
    match value:
        case _ if is_prompt(value):
            return _prompt_reworded(value, texts)
        case Part():
            metric = of_part(value)
            asked = {
                key: text
                for key, text in texts.items()
                if text.name != STANDALONE.name and reworded(metric, {key: text}) != metric
            }
            return replace(value, prompts={**value.prompts, **asked})
        case _ if is_tuple(value):
            return tuple(_reworded(each, texts) for each in value)
        case _:
            return value


def _prompt_reworded(prompt: Prompt[Any], texts: Mapping[str, PromptText]) -> Prompt[Any]:
    """The prompt with its new text and any new translations."""
    changed = _worded(prompt, texts[prompt.name]) if prompt.name in texts else prompt
    translations = {
        text.language: replace(_worded(prompt, text), language=text.language)
        for key, text in texts.items()
        if text.language and key == f"{prompt.name}.{text.language}"
    }
    return (
        replace(changed, translations={**changed.translations, **translations}) if translations else changed
    )


def _worded(prompt: Prompt[Any], text: PromptText) -> Prompt[Any]:
    changed = prompt.with_text(system=text.system, user=text.user, again=text.again, version=text.version)
    changed.check_form()
    return changed


def models_needed(metric: Metric[Any]) -> frozenset[str]:
    """Models that a metric with these settings uses: those of its parts if any, else its own."""
    parts = list(metric.parts_used)
    return (
        frozenset[str]().union(*(models_needed(of_part(each)) for each in parts)) if parts else metric.needs
    )


def names_of(metrics: Iterable[Metric[Any]]) -> dict[str, str]:
    """Display names of metrics by signature: the name, or the signature if several share the name.

    >>> names_of(resolve(["faithfulness", "faithfulness/paper", "context_recall"]))  # doctest: +ELLIPSIS
    {'faithfulness/strict...': 'faithfulness/strict...', ..., 'context_recall/strict...': 'context_recall'}
    """
    chosen = list(metrics)
    names = [metric.name for metric in chosen]
    return {each.signature: each.name if names.count(each.name) == 1 else each.signature for each in chosen}
