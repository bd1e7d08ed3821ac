"""Text of unknown origin in the request makes no score and costs none: it gives bounds where it matters."""

import pytest

from ragmetrics_core.metrics import ContextRecall, Faithfulness
from ragmetrics_core.samples import Stage, StageChunk, UnaccountedText

CHUNK = "The tower opened in 1889."
WEB = "The web says that the tower was painted in 2022."
THREE = {"statements": ["It opened in 1889.", "It was painted in 2022.", "It is blue."], "declined": False}
SHOWN = Stage(
    name="shown",
    chunks=(StageChunk(text=CHUNK, rank=1, shown="verified", message=1, start=0, end=25),),
    words=15,
    accounted=5,
    unaccounted=(UnaccountedText(text=WEB, message=1, start=26, end=74, component="web"),),
)
SAMPLE = {"question": "What of the tower?", "answer": "All of that.", "contexts": [CHUNK]}
REQUEST = [{"role": "user", "content": f"{CHUNK} {WEB}"}]


def with_web() -> dict[str, object]:
    return {**SAMPLE, "request_messages": REQUEST, "stages": [SHOWN]}


def test_a_statement_that_only_text_of_unknown_origin_supports_gives_bounds(measure, verdicts):
    # the chunk supports one of three; of the two others, the web supports one: 1 / 3 to 2 / 3
    score, judge = measure(
        Faithfulness(),
        {"statements": THREE, "verdicts": [verdicts("yes", "no", "no"), verdicts("yes", "no")]},
        **with_web(),
    )
    assert (score.status, score.reason) == ("incomplete", "unaccounted_text")
    assert score.bounds == pytest.approx((1 / 3, 2 / 3))
    asked = [request.variables["contexts"] for request in judge.asked[1:]]
    assert asked == [(CHUNK,), (CHUNK, WEB)]


def test_a_score_that_does_not_need_the_text_keeps_its_value(measure, verdicts):
    # two statements that nothing supports: 1 / 3
    score = measure(
        Faithfulness(),
        {"statements": THREE, "verdicts": [verdicts("yes", "no", "no"), verdicts("no", "no")]},
        **with_web(),
    ).score
    assert score.value == pytest.approx(1 / 3)


def test_an_answer_that_the_evidence_supports_costs_no_more_calls(measure, verdicts):
    score, judge = measure(
        Faithfulness(), {"statements": THREE, "verdicts": verdicts("yes", "yes", "yes")}, **with_web()
    )
    assert (score.value, len(judge.asked)) == (1.0, 2)


def test_context_recall_has_the_same_bounds(measure, verdicts):
    score = measure(
        ContextRecall(),
        {
            "reference_statements": {"statements": ["It opened in 1889.", "It was painted in 2022."]},
            "verdicts": [verdicts("yes", "no"), verdicts("yes")],
        },
        **with_web(),
        reference="It opened in 1889 and was painted in 2022.",
    ).score
    assert (score.reason, score.bounds) == ("unaccounted_text", (0.5, 1.0))
