"""Functions as judges: told apart by what they are, or by a chosen identity, or not at all."""

import threading
import types
from collections.abc import Callable

import pytest

from ragmetrics_core import Run, Sample, evaluate
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live import Capture, LiveScorer
from ragmetrics_core.models import CallableJudge
from ragmetrics_core.runs import merge

SAMPLE = {"id": "s", "question": "Where?", "answer": "In Paris.", "contexts": ["It is in Paris."]}


def script(verdict: str) -> types.FunctionType:
    """The function `judge` of a script of its own, as Python runs one: in `__main__`."""
    space: dict[str, object] = {"__name__": "__main__"}
    exec(
        "def judge(prompt):\n"
        "    if 'verdict' in prompt:\n"
        f'        return \'{{"verdicts": [{{"number": 1, "verdict": "{verdict}"}}]}}\'\n'
        '    return \'{"statements": ["It is in Paris."], "declined": false}\'\n',
        space,
    )
    judge = space["judge"]
    assert isinstance(judge, types.FunctionType)
    return judge


def test_two_scripts_with_a_judge_each_and_one_cache_share_no_reply(tmp_path):
    values = [
        evaluate([SAMPLE], metrics="faithfulness", judge=script(verdict), cache=tmp_path / "cache.sqlite")
        .score("s", "faithfulness")
        .value
        for verdict in ("yes", "no")
    ]
    assert values == [1.0, 0.0]


def test_a_judge_with_an_edited_body_does_not_go_on_with_the_scores_of_the_earlier_one(tmp_path):
    evaluate([SAMPLE], metrics="faithfulness", judge=script("yes"), out=tmp_path / "run")
    with pytest.raises(
        ConfigError, match=r"its judge is callable:__main__.judge#\w+, not callable:__main__.judge#"
    ):
        evaluate([SAMPLE], metrics="faithfulness", judge=script("no"), out=tmp_path / "run")


def test_a_function_with_a_chosen_identity_is_answered_from_the_journal(tmp_path):
    for verdict in ("yes", "no"):
        judge = CallableJudge(function=script(verdict), identity="mine-v1")
        run = evaluate([SAMPLE], metrics="faithfulness", judge=judge, cache=tmp_path / "cache.sqlite")
        assert run.score("s", "faithfulness").value == 1.0


def test_a_run_of_a_judge_without_an_identity_does_not_go_on_and_loses_nothing(tmp_path):
    evaluate([SAMPLE], metrics="faithfulness", judge=locked(script("yes")), out=tmp_path / "run")
    before = {file.name: file.read_bytes() for file in (tmp_path / "run").iterdir() if file.is_file()}
    with pytest.raises(
        ConfigError, match=r"its judge is unnamed\(callable:.*judging\), a function without an"
    ) as told:
        evaluate([SAMPLE], metrics="faithfulness", judge=locked(script("yes")), out=tmp_path / "run")
    assert "as_judge(function, identity=...)" in str(told.value)
    after = {file.name: file.read_bytes() for file in (tmp_path / "run").iterdir() if file.is_file()}
    assert {name: after[name] for name in before} == before
    assert Run.load(tmp_path / "run").finished


def test_a_run_of_a_judge_without_an_identity_is_audited_like_any_other(tmp_path):
    run = evaluate([SAMPLE], metrics="faithfulness", judge=locked(script("yes")), out=tmp_path / "run")
    assert list(run.audit()) == []
    assert {record.judge for record in run.records()} == {run.judge}


@pytest.mark.parametrize("made", [script, lambda verdict: locked(script(verdict))])
def test_runs_of_two_judges_of_one_name_are_not_merged(tmp_path, made):
    for name, verdict in (("a", "yes"), ("b", "no")):
        sample = {**SAMPLE, "id": name}
        evaluate([sample], metrics="faithfulness", judge=made(verdict), out=tmp_path / name)
    with pytest.raises(ConfigError, match=r"the judge of the first is .*callable:"):
        merge(tmp_path / "a", tmp_path / "b", out=tmp_path / "both")
    assert not (tmp_path / "both").exists()


def test_runs_of_one_function_are_merged_and_go_on(tmp_path):
    for name in ("a", "b"):
        sample = {**SAMPLE, "id": name}
        evaluate([sample], metrics="faithfulness", judge=script("yes"), out=tmp_path / name)
    assert len(merge(tmp_path / "a", tmp_path / "b", out=tmp_path / "both")) == 2
    settings = {"metrics": "faithfulness", "judge": script("yes"), "out": tmp_path / "a"}
    assert len(evaluate([{**SAMPLE, "id": "c"}], **settings, add=True)) == 2


def test_a_live_scorer_goes_on_in_its_folder_unless_nothing_tells_its_judge_from_others(tmp_path):
    for made, folder in (
        (script, tmp_path / "named"),
        (lambda verdict: locked(script(verdict)), tmp_path / "run"),
    ):
        with LiveScorer("faithfulness", judge=made("yes"), out=folder) as live:
            live.score(Capture(answer="a", translate=lambda _: Sample.from_mapping(SAMPLE)))
    LiveScorer("faithfulness", judge=script("yes"), out=tmp_path / "named").close()
    with pytest.raises(ConfigError, match="a function without an identity"):
        LiveScorer("faithfulness", judge=locked(script("yes")), out=tmp_path / "run")


def test_a_journal_answers_for_a_function_that_is_the_same(tmp_path):
    for values in ([1.0, 0.0], [1.0, 0.0]):
        runs = [
            evaluate([SAMPLE], metrics="faithfulness", judge=script(verdict), cache=tmp_path / "cache.sqlite")
            for verdict in ("yes", "no")
        ]
        assert [run.score("s", "faithfulness").value for run in runs] == values
    assert [run.tally["cached"] > 0 for run in runs] == [True, True]


def test_a_panel_takes_two_functions_of_one_name_and_not_two_that_cannot_be_told_apart():
    panel = [script("yes"), script("no")]
    run = evaluate([SAMPLE], metrics="faithfulness", panel=panel)
    assert run.judge is not None
    assert run.judge.count("callable:__main__.judge#") == 2
    with pytest.raises(ConfigError, match=r"two judges .*as_judge\(function, identity=...\)"):
        evaluate([SAMPLE], metrics="faithfulness", panel=[locked(script("yes")), locked(script("no"))])


def locked(judge: types.FunctionType) -> Callable[[str], str]:
    """A judge that nothing tells from others: what a lock does is not in it."""
    lock = threading.Lock()

    def judging(prompt: str) -> str:
        with lock:
            return str(judge(prompt))

    return judging
