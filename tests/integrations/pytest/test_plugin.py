"""The pytest plugin: runs by marker, and failures that open the worst score."""

import json
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from ragmetrics_core import Run, evaluate
from ragmetrics_core.errors import ConfigError, ModelRefused, RecordError
from ragmetrics_core.protocol import Completion
from ragmetrics_core.runs import merge
from ragmetrics_core.testing import ScriptedJudge
from ragmetrics_pytest import assert_scores

pytest_plugins = ["pytester"]

SAMPLES = [
    {"id": "good", "question": "Where?", "answer": "In Paris.", "contexts": ["It is in Paris."]},
    {"id": "bad", "question": "When?", "answer": "In 1900, by night.", "contexts": ["It was 1889."]},
]
INSTALLED = any(each.value == "ragmetrics_pytest._plugin" for each in entry_points(group="pytest11"))
STUDY = "needs the extra study: pip install 'ragmetrics-core[study]'"
PLUGIN = ("-p", "no:cacheprovider", *(() if INSTALLED else ("-p", "ragmetrics_pytest._plugin")))


def reply(request):
    asked = request.variables
    if request.prompt.name == "statements":
        return {
            "statements": ["It is in Paris."]
            if "Paris" in str(asked["answer"])
            else ["In 1900.", "By night."],
            "declined": False,
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


def test_limits_that_are_reached_pass(run):
    assert_scores(run, faithfulness=0.5)


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"each": {"faithfulness": 0.5}}, r"1 sample is below 0\.5 in faithfulness"),
        ({"means": {"faithfulness/strict.1": 0.9}}, r"faithfulness/strict\.1 is 0\.500"),
        ({"means": {"faithfulness": 0.9}, "faithfulness": 0.1}, r"is 0\.500"),
    ],
)
def test_every_limit_holds_for_means_by_name_or_signature_and_for_each_sample(run, limits, message):
    with pytest.raises(AssertionError, match=message):
        assert_scores(run, **limits)


def test_a_mean_below_the_minimum_opens_the_worst_score(run):
    with pytest.raises(AssertionError) as caught:
        assert_scores(run, faithfulness=0.8)
    text = str(caught.value)
    assert "the mean of faithfulness is 0.500 (n 2 of 2), below 0.8" in text
    assert "sample 'bad'" in text
    assert "answer:   In 1900, by night." in text
    assert "0 / 2 = 0" in text
    assert "2. not supported: By night." in text
    assert "another year" in text


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


@pytest.mark.parametrize(
    ("refused", "limits", "message"),
    [
        ("1900", {"faithfulness": 0.8}, r"1 score failed \(1 model_error\), and 0 may"),
        ("", {"each": {"faithfulness": 0.5}, "failures": 2}, "no sample has a score of faithfulness"),
        ("1900", {"faithfulness": 0.8, "failures": 1}, None),
        ("1900", {"each": {"faithfulness": 0.5}, "failures": 1}, None),
        # it counts once under both names of its metric
        ("1900", {"means": {"faithfulness/strict.1": 0.5}, "faithfulness": 0.5, "failures": 1}, None),
    ],
)
def test_a_mean_over_what_happened_to_succeed_passes_only_where_failures_are_allowed(
    refused, limits, message
):
    def refuse(request):
        return ModelRefused("401") if refused in str(request.variables.get("answer", "")) else reply(request)

    run = evaluate(SAMPLES, metrics="faithfulness", judge=ScriptedJudge(refuse))
    if message is None:
        assert_scores(run, **limits)
        return
    with pytest.raises(AssertionError, match=message):
        assert_scores(run, **limits)


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        (
            [*SAMPLES, {"id": "blank", "question": "Who?", "answer": "Nobody."}],
            r"1 sample has no score of faithfulness: blank \(skipped: contexts\)",
        ),
        ([{**each, "contexts": None} for each in SAMPLES], "2 samples have no score of faithfulness"),
    ],
)
def test_a_sample_without_a_score_does_not_reach_a_minimum_for_each(samples, message):
    run = evaluate(samples, metrics="faithfulness", judge=ScriptedJudge(reply))
    with pytest.raises(AssertionError, match=message):
        assert_scores(run, each={"faithfulness": 0.0})


@pytest.mark.parametrize(
    "nothing",
    [
        {**SAMPLES[1], "answer": ""},
        {**SAMPLES[1], "contexts": []},
        {"id": "bare", "answer": "In Paris.", "contexts": ["It is in Paris."]},
    ],
    ids=["no answer", "nothing retrieved", "no question"],
)
def test_samples_of_which_nothing_is_known_raise_no_mean(nothing):
    # one of one statement supported, and one that says nothing: 1 over what has a score, 1/2 in all
    def blank(request):
        is_blank = request.prompt.name == "statements" and not request.variables["answer"]
        return {"statements": [], "declined": False} if is_blank else reply(request)

    run = evaluate([SAMPLES[0], nothing], metrics="faithfulness", judge=ScriptedJudge(blank))
    assert run.mean("faithfulness").value == 1.0
    with pytest.raises(AssertionError, match=r"counted as the worst 0\.500 over 2"):
        assert_scores(run, faithfulness=0.7)


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


def test_of_several_whole_measurements_the_mean_counts_and_the_worst_is_opened():
    def by_repetition(request):
        if request.prompt.name == "statements":
            return reply(request)
        verdict = "no" if request.draw // 1000 == 1 else "yes"
        items = request.variables["items"]
        return {"verdicts": [{"number": each.number, "reason": "", "verdict": verdict} for each in items]}

    judge = ScriptedJudge(by_repetition)
    run = evaluate(SAMPLES, metrics="faithfulness", judge=judge, full_repeats=2)
    assert_scores(run, faithfulness=0.5, each={"faithfulness": 0.5})
    with pytest.raises(AssertionError) as told:
        assert_scores(run, faithfulness=0.6)
    # each sample has 1 and 0
    mean = "0.500 (n 2 of 2), each score that of 2 whole measurements, below 0.6"
    assert mean in str(told.value)
    assert "faithfulness/strict.1(repetition=2) of good: 0 / 1 = 0" in str(told.value)


def test_an_assertion_that_asks_nothing_or_what_nobody_measured_is_a_mistake(run):
    with pytest.raises(ConfigError, match="has no metric 'context_recall'"):
        assert_scores(run, context_recall=0.5)
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
        (
            "@pytest.mark.ragmetrics(run='a', judge='embedded')",
            "run=FOLDER takes no other settings, but got judge",
        ),
    ],
)
def test_a_marker_that_names_no_run_says_what_to_write(pytester: pytest.Pytester, marker, told):
    pytester.makepyfile(f"import pytest\n\n{marker}\ndef test_it(ragmetrics_run):\n    pass\n")
    result = pytester.runpytest_inprocess(*PLUGIN)
    result.assert_outcomes(errors=1)
    assert told in result.stdout.str()


def test_rows_that_are_no_samples_do_not_leave_a_mean_without_a_word():
    run = evaluate([SAMPLES[0], {"x": 1}], metrics="faithfulness", judge=ScriptedJudge(reply))
    with pytest.raises(AssertionError, match=r"1 row was invalid \(row 2: "):
        assert_scores(run, faithfulness=0.9)
    assert_scores(run, faithfulness=0.9, failures=1)


def test_a_run_that_did_not_finish_does_not_pass(tmp_path):
    def rows():
        yield SAMPLES[0]
        raise OSError("the disk went away")

    with pytest.raises(OSError, match="the disk"):
        evaluate(
            rows(), metrics="faithfulness", judge=ScriptedJudge(reply), out=tmp_path / "run", concurrency=1
        )
    with pytest.raises(AssertionError, match="the run is not finished: it has 1 samples so far"):
        assert_scores(Run.load(tmp_path / "run"), faithfulness=0.9)


def test_a_metric_that_was_measured_on_the_good_samples_alone_does_not_pass(tmp_path):
    judge = ScriptedJudge(reply)
    evaluate(SAMPLES[:1], metrics="faithfulness", judge=judge, out=tmp_path / "a")
    evaluate(SAMPLES, metrics="exact_match", out=tmp_path / "b")
    run = merge(tmp_path / "a", tmp_path / "b", out=tmp_path / "both")
    with pytest.raises(AssertionError, match="1 score failed \\(1 not measured\\)"):
        assert_scores(run, faithfulness=0.9)


@pytest.mark.parametrize(
    "limits",
    [
        {"means": {"faithfulness": -1.0}},
        {"means": {"faithfulness": 80}},
        {"means": {"faithfulness": float("nan")}},
        {"means": {"faithfulness": True}},
        {"means": {"faithfulness": None}},
        {"each": {"faithfulness": -0.1}},
        {"faithfulness": 0.9, "failures": float("nan")},
        {"faithfulness": 0.9, "failures": -1},
        {"faithfulness": 0.9, "failures": True},
    ],
)
def test_a_limit_that_no_run_could_fail_is_refused(run, limits):
    expected = (
        r"a limit of faithfulness is a number|failures must be the number|failures must be a whole number"
    )
    with pytest.raises((ValueError, ConfigError), match=expected):
        assert_scores(run, **limits)


def test_beyond_doubt_the_interval_of_a_mean_must_reach_its_limit_too():
    pytest.importorskip("scipy", reason=STUDY)
    rows = [{**SAMPLES[0], "id": f"g{number}"} for number in range(30)]
    run = evaluate(rows, metrics="faithfulness", judge=ScriptedJudge(reply))
    # Wilson's interval of 30 of 30 begins at 30 / (30 + 1.96^2) = 0.886
    assert_scores(run, faithfulness=0.88, beyond_doubt=True)
    with pytest.raises(AssertionError, match=r"1\.000 \(0\.886, 1\.000\) over 30 samples: on others"):
        assert_scores(run, faithfulness=0.9, beyond_doubt=True)


def test_beyond_doubt_samples_of_one_session_count_as_what_they_are():
    pytest.importorskip("scipy", reason=STUDY)
    # 12 sessions of 10 samples, each all right or all wrong: as if there were 12 samples
    rows = [
        {**SAMPLES[number % 12 == 0], "id": f"s{number}", "labels": {"session": number % 12}}
        for number in range(120)
    ]
    run = evaluate(rows, metrics="faithfulness", judge=ScriptedJudge(reply))
    # 110 of 120 are right: 0.917, sd 0.278; independent 0.917 - 1.98 x 0.278 / sqrt 120 = 0.867
    assert_scores(run, faithfulness=0.85, beyond_doubt=True, cluster="none")
    with pytest.raises(AssertionError, match="over 120 samples in clusters by session: on others"):
        assert_scores(run, faithfulness=0.85, beyond_doubt=True)


def test_a_kept_run_is_of_the_data_of_today(pytester: pytest.Pytester):
    rows = [{**SAMPLES[0], "id": f"g{number}"} for number in range(3)]
    pytester.path.joinpath("data.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.ragmetrics(data="data.jsonl", metrics="faithfulness", judge="embedded", out="kept")
        def test_it(ragmetrics_run, assert_scores):
            assert_scores(ragmetrics_run, faithfulness=0.5)
        """
    )
    pytester.runpytest(*PLUGIN).assert_outcomes(passed=1)
    pytester.path.joinpath("data.jsonl").write_text(json.dumps(SAMPLES[1]) + "\n")
    outcome = pytester.runpytest(*PLUGIN)
    outcome.assert_outcomes(failed=1)
    outcome.stdout.fnmatch_lines(["*the mean of faithfulness is 0.000 (n 1 of 1), below 0.5*"])


@pytest.mark.parametrize(
    ("year", "told"),
    [("1889", None), ("1900", 'contradicted: "It was 1900."'), (None, "undecided: parse_error")],
)
def test_one_contradiction_fails_whatever_the_mean(year, told):
    def stance(request):
        if request.prompt.name == "statements":
            return {"statements": [f"It was {year}."], "declined": False}
        verdict = {"1889": "supported", "1900": "contradicted", None: "unknown"}[year]
        evidence = "It was 1889."
        return {
            "verdicts": [
                {"number": item.number, "reason": "", "evidence": evidence, "verdict": verdict}
                for item in request.variables["items"]
            ]
        }

    run = evaluate(SAMPLES[1:], metrics="faithfulness/strict.2", judge=ScriptedJudge(stance))
    if told is None:
        assert_scores(run, fail_if="contradicted")
        return
    with pytest.raises(AssertionError, match="of sample bad: ") as error:
        assert_scores(run, faithfulness=0, fail_if="contradicted", failures=1)
    assert told in str(error.value)


def test_contradictions_need_verdicts_in_three_ways(run):
    with pytest.raises(ConfigError, match=r"measure faithfulness/strict\.2"):
        assert_scores(run, fail_if="contradicted")


def test_another_condition_is_refused_by_name(run):
    with pytest.raises(ValueError, match="fail_if takes \"contradicted\", not 'worse'"):
        assert_scores(run, fail_if="worse")


def declining(share):
    """Ten answers of which a share declines, by a judge that says so."""

    def judged(request):
        if request.prompt.name == "statements" and "know" in str(request.variables["answer"]):
            return {"statements": [], "declined": True, "reason": "it says that it does not know"}
        return reply(request)

    rows = [
        {**SAMPLES[0], "id": f"q{n}", "answer": "I do not know." if n < 10 * share else "In Paris."}
        for n in range(10)
    ]
    return evaluate(rows, metrics="faithfulness", judge=ScriptedJudge(judged))


def test_the_share_of_answers_that_decline_is_held():
    run = declining(0.3)
    assert_scores(run, faithfulness=1.0)  # refusals leave the mean
    assert_scores(run, faithfulness=1.0, declined=0.3)
    with pytest.raises(AssertionError) as told:
        assert_scores(run, faithfulness=1.0, declined=0.1)
    assert str(told.value) == (
        "3 of 10 answers decline or may do so, above 0.1: 7 answered, 3 declined, 0 undecided (q0, q1, q2)"
    )
    with pytest.raises(AssertionError, match="10 of 10 answers decline"):
        assert_scores(declining(1.0), declined=0.1)


def test_invalid_rows_count_as_declining_even_where_they_may_fail():
    rows = [{**SAMPLES[0], "id": f"q{n}"} for n in range(8)]
    run = evaluate([*rows, rows[0], rows[1]], metrics="faithfulness", judge=ScriptedJudge(reply))
    assert_scores(run, declined=0.2, failures=2)  # 2 of 10
    with pytest.raises(AssertionError) as told:
        assert_scores(run, declined=0.1, failures=2)
    assert str(told.value) == (
        "2 of 10 answers decline or may do so, above 0.1: 8 answered, 0 declined, 0 undecided, 2 invalid rows"
    )


def test_the_share_of_answers_that_decline_may_be_asked_for_beyond_doubt():
    pytest.importorskip("scipy", reason=STUDY)
    # Wilson's interval of 0 of 10 ends at 1.96^2 / (10 + 1.96^2) = 0.278
    assert_scores(declining(0.0), declined=0.28, beyond_doubt=True)
    with pytest.raises(AssertionError, match=r"decline is 0\.000 \(0\.000, 0\.278\) over 10 samples"):
        assert_scores(declining(0.0), declined=0.27, beyond_doubt=True)


def test_nobody_knows_whether_answers_decline_where_nothing_asks():
    run = evaluate([{**SAMPLES[0], "reference": "Paris."}], metrics="exact_match")
    with pytest.raises(AssertionError, match=r"declined=0\.5: no metric of the run asks"):
        assert_scores(run, declined=0.5)


@pytest.mark.parametrize("share", [-0.1, 1.5, float("nan")])
def test_a_share_of_declined_answers_is_a_share(share):
    with pytest.raises(ValueError, match="declined must be a share of the answers, from 0 to 1"):
        assert_scores(declining(0.0), declined=share)


def test_a_run_that_was_changed_fails_whatever_it_scores(tmp_path):
    evaluate(SAMPLES, metrics="faithfulness", judge=ScriptedJudge(reply), out=tmp_path / "run")
    path = tmp_path / "run" / "records.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"value":0.0', b'"value":1.0'))
    with pytest.raises(RecordError, match=r"records\.jsonl in .* was changed .*: ragmetrics audit"):
        assert_scores(Run.load(tmp_path / "run"), faithfulness=0.5)


def test_a_limit_of_the_expected_mean_is_a_text(run):
    pytest.importorskip("scipy", reason=STUDY)

    def graded(request):
        if request.prompt.name == "statements":
            return reply(request)
        verdicts = [
            {"number": item.number, "verdict": "yes", "probability": 0.9}
            for item in request.variables["items"]
        ]
        return Completion(json.dumps({"verdicts": verdicts}), held_to="graded")

    sure = evaluate(SAMPLES, metrics="faithfulness", judge=ScriptedJudge(graded))
    # one statement and two at 0.9: T = 1 with 0.729, 0.75 with 0.162, 0.5 with 0.9 * 0.01 + 0.1 * 0.81 = 0.09
    assert_scores(sure, faithfulness="0.5@p90")
    with pytest.raises(
        AssertionError, match=r"lower end \(90 % interval\) .* is 0.500 over 2 samples, below 0.6"
    ):
        assert_scores(sure, {"faithfulness/strict.1": "0.6@p90"})
    with pytest.raises(ConfigError, match="without a probability"):
        assert_scores(run, faithfulness="0.5@p90")
