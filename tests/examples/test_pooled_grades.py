"""The example that pools a judge's grades into relevance judgements for ndcg."""

import math

import pytest

from examples.pooled_grades import main, pooled, with_pool
from ragmetrics_core import Run, evaluate
from ragmetrics_core.testing import ScriptedJudge

GRADES = {"Ulm is a town.": 2, "Bonn is old.": 0, "Ulm lies on the Danube.": 3}


def graded(contexts, folder):
    def reply(request):
        return {"reason": "because", "rating": GRADES[request.variables["contexts"][0]]}

    sample = {"id": "q1", "question": "What is Ulm?", "contexts": contexts}
    return evaluate([sample], metrics="relevance_grade", judge=ScriptedJudge(reply), out=folder)


def test_a_retriever_is_held_to_what_the_others_found(tmp_path, capsys):
    first = graded(["Bonn is old.", "Ulm is a town."], tmp_path / "first")
    second = graded(["Ulm lies on the Danube."], tmp_path / "second")
    pool = pooled([first, second])
    assert pool == {"What is Ulm?": {key: float(grade) for key, grade in GRADES.items()}}

    (sample,) = with_pool(first, pool)
    score = evaluate([sample], metrics="ndcg(match=text)").score("q1", "ndcg")
    # gains 0, 2 against 3, 2
    assert score.value == pytest.approx((2 / math.log2(3)) / (3 + 2 / math.log2(3)))

    main([str(tmp_path / "first"), str(tmp_path / "second")], tmp_path / "out")
    assert capsys.readouterr().out.splitlines()[0].endswith(f"{score.value:.3f} over 1 of 1 questions")
    assert Run.load(tmp_path / "first").finished
    assert (tmp_path / "out" / "second.jsonl").exists()
