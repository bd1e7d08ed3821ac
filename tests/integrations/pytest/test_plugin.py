"""The pytest plugin: runs by marker, and failures that open the worst score."""

import json
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.errors import ConfigError, ModelRefused
from ragmetrics_core.testing import ScriptedJudge
from ragmetrics_pytest import assert_scores

pytest_plugins = ["pytester"]

SAMPLES = [
    {"id": "good", "question": "Where?", "answer": "In Paris.", "contexts": ["It is in Paris."]},
    {"id": "bad", "question": "When?", "answer": "In 1900, by night.", "contexts": ["It was 1889."]},
]
INSTALLED = any(each.value == "ragmetrics_pytest.plugin" for each in entry_points(group="pytest11"))
PLUGIN = ("-p", "no:cacheprovider", *(() if INSTALLED else ("-p", "ragmetrics_pytest.plugin")))


def reply(request):
    asked = request.variables
    if request.prompt.name == "statements":
        return {
            "statements": ["It is in Paris."]
            if "Paris" in str(asked["answer"])
            else ["In 1900.", "By night."]
        }
    good = asked["contexts"] == ("It is in Paris.",)
    verdict = "yes" if good else "no"
    reason = "it says so" if good else "another year"
    return {
        "verdicts": [{"number": item.number, "reason": reason, "verdict": verdict} for item in asked["items"]]
    }


def reply_by_text(request):
    """Whether the statement itself names Paris."""
    if request.prompt.name == "statements":
        return reply(request)
    return {
        "verdicts": [
            {"number": item.number, "reason": "", "verdict": "yes" if "Paris" in item.text else "no"}
            for item in request.variables["items"]
        ]
    }


@pytest.fixture
def run():
    # one of one statement supported, none of two: means (1 + 0) / 2
    return evaluate(SAMPLES, metrics="faithfulness", judge=ScriptedJudge(reply))


def test_a_mean_at_the_minimum_passes(run):
    assert_scores(run, faithfulness=0.5)


def test_a_mean_below_the_minimum_opens_the_worst_score(run):
    with pytest.raises(AssertionError) as caught:
        assert_scores(run, faithfulness=0.8)
    text = str(caught.value)
    assert "the mean of faithfulness is 0.500 (sd 0.707, n 2 of 2), below 0.8" in text
    assert "sample 'bad'" in text
    assert "answer:   In 1900, by night." in text
    assert "0 / 2 = 0" in text
    assert "2. not supported: By night." in text
    assert "another year" in text


def test_every_single_score_can_be_held_to_a_minimum(run):
    with pytest.raises(AssertionError, match=r"1 sample is below 0\.5 in faithfulness"):
        assert_scores(run, each={"faithfulness": 0.5})


def test_where_lower_is_better_a_limit_is_the_highest_that_passes():
    # reference and chunk lack both statements of "bad": 2 of 2 made up, and none of "good": (0 + 1) / 2
    samples = [{**each, "reference": "It is in Paris."} for each in SAMPLES]
    run = evaluate(samples, metrics="hallucination", judge=ScriptedJudge(reply_by_text))
    assert_scores(run, hallucination=0.5)
    with pytest.raises(
        AssertionError, match=r"(?s)the mean of hallucination is 0\.500 .*, above 0\.4.*sample 'bad'"
    ):
        assert_scores(run, hallucination=0.4)
    with pytest.raises(AssertionError, match=r"1 sample is above 0\.9 in hallucination"):
        assert_scores(run, each={"hallucination": 0.9})


def test_a_metric_can_be_named_by_its_signature(run):
    with pytest.raises(AssertionError, match=r"faithfulness/strict\.1 is 0\.500"):
        assert_scores(run, {"faithfulness/strict.1": 0.9})


def test_a_mean_over_what_happened_to_succeed_does_not_pass():
    def refuse(request):
        return ModelRefused("401") if "1900" in str(request.variables.get("answer")) else reply(request)

    run = evaluate(SAMPLES, metrics="faithfulness", judge=ScriptedJudge(refuse))
    with pytest.raises(AssertionError, match=r"1 score failed \(1 model_error\), and 0 may"):
        assert_scores(run, faithfulness=0.8)
    assert_scores(run, faithfulness=0.8, failures=1)


def test_a_sample_without_a_score_does_not_reach_a_minimum_for_each():
    samples = [*SAMPLES, {"id": "blank", "question": "Who?", "answer": "Nobody."}]
    run = evaluate(samples, metrics="faithfulness", judge=ScriptedJudge(reply))
    with pytest.raises(
        AssertionError, match=r"1 sample has no score of faithfulness: blank \(skipped: contexts\)"
    ):
        assert_scores(run, each={"faithfulness": 0.0})


def test_a_minimum_for_each_does_not_pass_when_nothing_was_scored():
    samples = [{**each, "contexts": None} for each in SAMPLES]
    run = evaluate(samples, metrics="faithfulness", judge=ScriptedJudge(reply))
    with pytest.raises(AssertionError, match="2 samples have no score of faithfulness"):
        assert_scores(run, each={"faithfulness": 0.99})


def test_failures_that_are_allowed_are_no_reason_to_pass_without_any_score():
    run = evaluate(SAMPLES, metrics="faithfulness", judge=ScriptedJudge(lambda request: ModelRefused("401")))
    with pytest.raises(AssertionError, match="no sample has a score of faithfulness"):
        assert_scores(run, each={"faithfulness": 0.5}, failures=2)


def test_an_allowed_failure_leaves_its_sample_out_of_a_minimum_for_each():
    def refuse(request):
        return ModelRefused("401") if "1900" in str(request.variables.get("answer")) else reply(request)

    run = evaluate(SAMPLES, metrics="faithfulness", judge=ScriptedJudge(refuse))
    assert_scores(run, each={"faithfulness": 0.5}, failures=1)


def test_a_score_with_missing_verdicts_counts_with_its_worse_bound():
    def partly(request):
        found = reply(request)
        if "verdicts" in found and len(request.variables["items"]) != 1:
            return {"verdicts": found["verdicts"][:1]}
        return (
            found if "statements" in found or "Paris" in str(request.variables["items"]) else {"verdicts": []}
        )

    # "bad": one of two statements is not supported, the other one has no verdict: between 0 and 1/2
    run = evaluate(SAMPLES, metrics="faithfulness", judge=ScriptedJudge(partly))
    assert run.score("bad", "faithfulness").bounds == (0.0, 0.5)
    assert_scores(run, each={"faithfulness": 0.0})
    with pytest.raises(AssertionError, match=r"1 sample is below 0\.1 in faithfulness"):
        assert_scores(run, each={"faithfulness": 0.1})


def test_a_failed_score_counts_once_under_both_names_of_its_metric():
    def refuse(request):
        return ModelRefused("401") if "1900" in str(request.variables.get("answer")) else reply(request)

    run = evaluate(SAMPLES, metrics="faithfulness", judge=ScriptedJudge(refuse))
    assert_scores(run, {"faithfulness/strict.1": 0.5}, faithfulness=0.5, failures=1)


def test_a_metric_that_nobody_measured_is_a_mistake(run):
    with pytest.raises(ConfigError, match="has no metric 'context_recall'"):
        assert_scores(run, context_recall=0.5)


def test_an_assertion_that_asks_nothing_is_a_mistake(run):
    with pytest.raises(ValueError, match="needs a limit"):
        assert_scores(run)


def test_the_marker_names_a_run_that_is_read(pytester: pytest.Pytester):
    evaluate(SAMPLES, metrics="faithfulness", judge=ScriptedJudge(reply), out=pytester.path / "runs" / "a")
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.ragmetrics(run="runs/a")
        def test_passes(ragmetrics_run, assert_scores):
            assert_scores(ragmetrics_run, faithfulness=0.5)

        @pytest.mark.ragmetrics(run="runs/a")
        def test_fails(ragmetrics_run, assert_scores):
            assert_scores(ragmetrics_run, faithfulness=0.8)
        """
    )
    result = pytester.runpytest_inprocess(*PLUGIN, "--strict-markers")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ["*the mean of faithfulness is 0.500*below 0.8", "*2. not supported: By night."]
    )


def test_the_marker_names_data_that_is_evaluated(pytester: pytest.Pytester):
    lines = "\n".join(json.dumps(sample) for sample in SAMPLES)
    (pytester.path / "data.jsonl").write_text(lines, encoding="utf-8")
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.ragmetrics(data="data.jsonl", metrics="faithfulness", judge="embedded", out="kept")
        def test_passes(ragmetrics_run, assert_scores):
            assert_scores(ragmetrics_run, faithfulness=0.0)
        """
    )
    pytester.runpytest_inprocess(*PLUGIN).assert_outcomes(passed=1)
    assert (Path(pytester.path) / "kept" / "manifest.json").is_file()


def test_tests_with_equal_markers_share_one_evaluation(pytester: pytest.Pytester):
    lines = "\n".join(json.dumps(sample) for sample in SAMPLES)
    (pytester.path / "data.jsonl").write_text(lines, encoding="utf-8")
    pytester.makepyfile(
        """
        import pytest

        RUNS = []

        @pytest.mark.ragmetrics(data="data.jsonl", metrics=["faithfulness"], judge="embedded")
        def test_first(ragmetrics_run):
            RUNS.append(ragmetrics_run)

        @pytest.mark.ragmetrics(data="data.jsonl", metrics=["faithfulness"], judge="embedded")
        def test_equal(ragmetrics_run):
            assert ragmetrics_run is RUNS[0]

        @pytest.mark.ragmetrics(data="data.jsonl", metrics=["context_relevance"], judge="embedded")
        def test_other(ragmetrics_run):
            assert ragmetrics_run is not RUNS[0]
        """
    )
    pytester.runpytest_inprocess(*PLUGIN).assert_outcomes(passed=3)


@pytest.mark.parametrize(
    ("marker", "told"),
    [
        ("", "ragmetrics_run needs @pytest.mark.ragmetrics"),
        ("@pytest.mark.ragmetrics()", "takes either run=FOLDER or data=FILE"),
        ("@pytest.mark.ragmetrics(run='a', judge='embedded')", "takes no settings, and got judge"),
    ],
)
def test_a_marker_that_names_no_run_says_what_to_write(pytester: pytest.Pytester, marker, told):
    pytester.makepyfile(f"import pytest\n\n{marker}\ndef test_it(ragmetrics_run):\n    pass\n")
    result = pytester.runpytest_inprocess(*PLUGIN)
    result.assert_outcomes(errors=1)
    assert told in result.stdout.str()


def test_answers_replaced_by_nothing_raise_the_mean_and_do_not_pass():
    # one of one statement supported, and one answer that says nothing: 1 over what has a score, 1/2 in all
    samples = [SAMPLES[0], {**SAMPLES[1], "answer": ""}]
    nothing = {"statements": []}
    judge = ScriptedJudge(
        lambda request: (
            nothing
            if request.prompt.name == "statements" and not request.variables["answer"]
            else reply(request)
        )
    )
    run = evaluate(samples, metrics="faithfulness", judge=judge)
    assert run.mean("faithfulness").value == 1.0
    with pytest.raises(AssertionError, match=r"answers that say nothing counted as the worst 0\.500 over 2"):
        assert_scores(run, faithfulness=0.7)


def test_nothing_retrieved_does_not_raise_a_mean():
    samples = [SAMPLES[0], {**SAMPLES[1], "contexts": []}]
    run = evaluate(samples, metrics="faithfulness", judge=ScriptedJudge(reply))
    with pytest.raises(AssertionError, match=r"counted as the worst 0\.500"):
        assert_scores(run, faithfulness=0.7)
