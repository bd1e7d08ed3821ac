"""What every metric of the catalogue keeps to, in every variant; no metric is named here.

A metric that is added to the catalogue is tested without an edit of this file.
"""

import importlib
import json
import re
from dataclasses import fields
from typing import Any, Literal, get_args, get_origin

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragmetrics_core import Record, Sample, evaluate, recompute
from ragmetrics_core.drivers import audit, rendered, self_contained
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import METRICS, get
from ragmetrics_core.protocol import Part
from ragmetrics_core.testing import HashEmbedder, OverlapScorer, ScriptedJudge
from tests.catalogue import EVERY, VARIANTS

NAMES = list(METRICS)

# every field that a sample can have, so that a metric that needs another one is not skipped
SAMPLE = Sample(
    id="q1",
    question="Where was Einstein born?",
    answer="Einstein was born in Ulm in 1879 [1]. He played the violin.",
    contexts=("Albert Einstein was born in Ulm. It lies on the Danube.", "He studied physics in Zurich."),
    reference="Einstein was born in Ulm, in Germany, in 1879.",
    references=("Einstein was born in Ulm, in Germany, in 1879.", "In Ulm."),
    reference_contexts=("Albert Einstein was born in Ulm.",),
    context_ids=("a", "b"),
    reference_context_ids=("a",),
    language="en",
)
seeds = st.integers(min_value=0, max_value=2**32)
# every example is a whole run, and there are many metrics
# 5 with `make test`, 20 with `make slow`
few = settings(max_examples=settings.default.max_examples // 5)


def measure(metric, judge, sample=SAMPLE):
    run = evaluate([sample], metrics=metric, judge=judge, embedder=HashEmbedder(), scorer=OverlapScorer())
    return run.score(sample.id, get(metric))


# -- the proof of a score


@pytest.mark.parametrize("metric", EVERY)
@few
@given(seed=seeds, complete=st.booleans())
def test_a_score_proves_itself_survives_being_written_and_stays_in_the_range(
    metric, any_judge, seed, complete
):
    score = measure(metric, any_judge(seed, complete=complete))
    read = Record.from_json(score.stored())
    hydrated = read.hydrated(score.sample, score.prompts)
    metric = get(metric)

    assert hydrated == score.sealed()
    assert read.stored() == score.stored()
    again = recompute(hydrated)
    assert (again.status, again.value, again.bounds, again.reason) == (
        score.status,
        score.value,
        score.bounds,
        score.reason,
    )
    assert audit(hydrated) == []
    assert (score.bounds is not None) == (score.status == "incomplete")
    assert score.bounds is None or score.bounds[0] <= score.bounds[1]
    values = [score.value] if score.value is not None else score.bounds or []
    low, high = metric.range
    assert all(low <= value and (value <= high or metric.exceeds) for value in values)


@pytest.mark.parametrize("metric", EVERY)
def test_what_leaves_the_range_upwards_says_so_in_its_docstring(metric):
    metric = get(metric)
    told = rf"variant `{metric.variant.partition('.')[0]}`[^.]* exceed"
    assert metric.exceeds == bool(re.search(told, _unwrapped(type(metric))))


@pytest.mark.parametrize("metric", EVERY)
def test_a_self_contained_record_proves_itself_without_anything_else(metric, any_judge):
    record = measure(metric, any_judge(1, complete=True))

    mailed = Record.from_json(self_contained(record).model_dump_json(by_alias=True))

    assert recompute(mailed).value == record.value
    assert audit(mailed) == []
    for step in mailed.generate_steps:
        assert rendered(mailed, step) == rendered(record, step)


@pytest.mark.parametrize("metric", EVERY)
def test_the_record_has_every_prompt_that_was_sent_word_for_word(metric, any_judge):
    judge = any_judge(1, complete=True)
    record = measure(metric, judge)

    sent = {request.messages for request in judge.asked}
    assert {rendered(record, step) for step in record.generate_steps} == sent


@pytest.mark.parametrize("metric", EVERY)
@few
@given(
    reply=st.text() | st.sampled_from(["", "{", "[]", "{}", "null", "yes", "0", '{"a": [1]}', "I cannot."])
)
def test_a_judge_that_answers_garbage_gives_a_status_and_a_record_that_holds(metric, reply):
    score = measure(metric, ScriptedJudge(lambda request: reply))

    assert (score.value is not None) == (score.status == "ok")
    assert score.status == "ok" or score.reason
    assert audit(score) == []
    assert score.explain()


# -- what a judge makes of it


@pytest.mark.parametrize("metric", EVERY)
def test_a_judge_that_gives_all_verdicts_gets_a_score(metric, any_judge):
    # of many random judges at least one leaves the metric defined: else the tests above would test nothing
    assert any(measure(metric, any_judge(seed, complete=True)).status == "ok" for seed in range(20))


# -- what a metric needs


@pytest.mark.parametrize("metric", EVERY)
def test_a_sample_without_a_needed_field_is_skipped_and_the_field_is_named(metric, any_judge):
    for field in get(metric).inputs.required():
        without = SAMPLE.model_dump(exclude={field, *(["references"] if field == "reference" else [])})
        judge = any_judge(1)

        score = measure(metric, judge, Sample(**without))

        assert (score.status, score.reason, score.value) == ("skipped", field, None)
        assert judge.asked == []


@pytest.mark.parametrize("metric", EVERY)
def test_an_empty_text_is_a_text_and_no_missing_field(metric, any_judge):
    empty = Sample(
        id="q1",
        question="",
        answer="",
        contexts=(),
        reference="",
        context_ids=(),
        reference_context_ids=(),
    )
    assert measure(metric, any_judge(1), empty).status not in {"skipped", "model_error"}


# -- names and settings


@pytest.mark.parametrize("name", NAMES)
def test_class_module_and_name_agree(name):
    metric = METRICS[name]

    assert metric.name == name
    assert metric.__name__ == "".join(word.capitalize() for word in name.split("_"))
    assert metric.__module__ == f"ragmetrics_core.metrics._{name}"
    assert importlib.import_module(metric.__module__).__all__ == [metric.__name__]


@pytest.mark.parametrize("name", NAMES)
def test_the_docstring_says_the_range_what_is_better_and_when_it_is_undefined(name):
    text = _unwrapped(METRICS[name])

    assert f"Range [{METRICS[name].low:g}, {METRICS[name].high:g}]" in text
    assert f"{'higher' if METRICS[name].higher_is_better else 'lower'} is better" in text
    assert "undefined" in text


@pytest.mark.parametrize("name", NAMES)
def test_the_docstring_explains_every_setting_of_the_metric(name):
    attributes = METRICS[name].__doc__.partition("Attributes:")[2]
    documented = set(re.findall(r"\w+", " ".join(re.findall(r"^ +([\w, ]+):", attributes, re.MULTILINE))))
    # these mean the same in every metric
    shared = {
        "variant",
        "repetition",
        "window",
        "standalone",
        "granularity",
        "decompose",
        "verify",
        "generate",
    }
    assert {each.name for each in fields(METRICS[name])} - shared - documented == set()


@pytest.mark.parametrize("name", [name for name in NAMES if len(METRICS[name].variants) > 1])
def test_an_editor_offers_the_variants_that_there_are(name):
    kind = METRICS[name]
    (offered,) = (get_args(each.type) for each in fields(kind) if each.name == "variant")

    assert {kind(variant=each).variant for each in offered} == set(kind.variants)
    assert set(kind.variants) <= set(offered)


@pytest.mark.parametrize("name", NAMES)
def test_the_first_variant_is_the_strict_one_and_changes_no_setting(name):
    first, settings = next(iter(METRICS[name].variants.items()))
    assert (first, settings) == ("strict.1", {})


@pytest.mark.parametrize("metric", VARIANTS)
def test_a_metric_is_built_again_from_its_stored_settings(metric):
    metric = get(metric)
    assert type(metric).from_settings(metric.variant, _through_json(metric.settings)) == metric
    assert metric.settings == {}


@pytest.mark.parametrize("metric", VARIANTS)
def test_every_setting_survives_being_stored(metric):
    metric = get(metric)
    for name, value in _changes(metric):
        try:
            other = type(metric)(variant=metric.variant, **{name: value})
        except ConfigError:
            continue
        assert set(other.settings) == {name}
        assert type(metric).from_settings(metric.variant, _through_json(other.settings)) == other
        assert other.signature != metric.signature


def _through_json(settings: dict[str, Any]) -> dict[str, Any]:
    return json.loads(json.dumps(settings))


def _unwrapped(metric: type) -> str:
    """The docstring with single spaces in place of its line breaks."""
    return " ".join((metric.__doc__ or "").split())


def _changes(metric):
    """Each setting with another value of its kind; prompts are not among them, a record keeps their texts."""
    for each in fields(metric):
        value = getattr(metric, each.name)
        if each.name == "variant" or "Prompt" in str(each.type):
            continue
        if get_origin(each.type) is Literal:
            yield each.name, next(choice for choice in get_args(each.type) if choice != value)
        elif isinstance(value, bool):
            yield each.name, not value
        elif isinstance(value, tuple):
            yield each.name, value[::-1] or ("another",)
        elif isinstance(value, str):
            yield each.name, f"{value} too"
        elif isinstance(value, Part):
            yield each.name, Part(value.metric, "ragas-0.4" if value.variant != "ragas-0.4" else "strict.1")
        else:
            yield each.name, 0.25 if isinstance(value, float | None) else value + 1
