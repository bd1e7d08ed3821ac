"""A thought that an answer under test begins with is no part of it, and the record says so."""

import json

from ragmetrics_core import evaluate, recompute


def judge(prompt: str) -> str:
    assert "I guess" not in prompt
    if "Split the answer" in prompt:
        return json.dumps({"statements": ["It is Paris."], "declined": False})
    return json.dumps({"verdicts": [{"number": 1, "reason": "so", "evidence": "", "verdict": "yes"}]})


def test_a_thought_in_an_answer_is_not_judged_and_the_record_says_so():
    sample = {
        "id": "q",
        "question": "What is it?",
        "answer": "<think>Rome, I guess.</think>It is Paris.",
        "contexts": ["It is Paris, of course."],
    }
    run = evaluate([sample], metrics="faithfulness", judge=judge)
    record = next(run.records())
    assert record.value == recompute(record).value == 1.0
    assert record.notes == ("the answer begins with a thought, which is no part of it: 29 characters",)
