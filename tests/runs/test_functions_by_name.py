"""Functions as judges: told apart by a chosen identity, or not at all."""

import types

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.models import CallableJudge, as_judge

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
    with pytest.raises(ConfigError, match=r"CallableJudge\(function=..., identity=...\)"):
        evaluate([SAMPLE], metrics="faithfulness", judge=script("no"), out=tmp_path / "run")


def test_a_function_with_a_chosen_identity_is_answered_from_the_journal(tmp_path):
    for verdict in ("yes", "no"):
        judge = CallableJudge(function=script(verdict), identity="mine-v1")
        run = evaluate([SAMPLE], metrics="faithfulness", judge=judge, cache=tmp_path / "cache.sqlite")
        assert run.score("s", "faithfulness").value == 1.0


def test_the_name_that_a_function_has_anyway_is_no_chosen_identity():
    judge = script("yes")
    assert not as_judge(judge).cacheable
    assert not CallableJudge(function=judge, identity=as_judge(judge).identity).cacheable
