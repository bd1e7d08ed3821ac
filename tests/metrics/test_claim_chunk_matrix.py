"""The claim and chunk matrix: RAGChecker's numbers, asked once for all metrics, unknowns kept unknown."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core import evaluate
from ragmetrics_core.drivers import audit
from ragmetrics_core.metrics import (
    ChunkFaithfulness,
    ClaimRecall,
    ContextUtilization,
    Hallucination,
    NoiseSensitivity,
    SelfKnowledge,
    UsefulChunks,
    get,
)
from ragmetrics_core.runs import plan
from ragmetrics_core.testing import ScriptedJudge

MATRIX = ["claim_recall", "context_utilization", "noise_sensitivity", "hallucination", "self_knowledge"]
MATRIX += ["chunk_faithfulness"]
CHUNKS = ["Chunk one.", "Chunk two.", "Chunk three."]
SAMPLE = {"id": "q1", "question": "Q?", "answer": "A.", "reference": "R.", "contexts": CHUNKS}


class Matrix:
    """A judge that answers from tables: rows are chunks, columns statements; None leaves a verdict out."""

    def __init__(self, *, answer, reference, correct, covered):
        self.answer, self.reference = answer, reference
        self.correct, self.covered = correct, covered

    def __call__(self, request: Any) -> dict[str, Any]:
        name = request.prompt.name
        if name == "statements":
            return {
                "statements": [f"Answer {n}." for n in range(1, len(self.correct) + 1)],
                "declined": False,
            }
        if name == "reference_statements":
            return {"statements": [f"Reference {n}." for n in range(1, len(self.covered) + 1)]}
        items = request.variables["items"]
        if name == "reference_verdicts":
            row = self.correct
        elif name == "answer_verdicts":
            row = self.covered
        else:
            table = self.answer if items[0].text.startswith("Answer") else self.reference
            row = table[CHUNKS.index(request.variables["contexts"][0])]
        said = {1: "yes", 0: "no"}
        return {
            "verdicts": [
                {"number": item.number, "verdict": said[row[item.number - 1]]}
                for item in items
                if row[item.number - 1] is not None
            ]
        }


# 4 answer statements: correct, correct, wrong, wrong. Chunk 1 (relevant) has the first and the third, chunk 3
# (not relevant) the third and the fourth. 3 reference statements: the first in chunk 1, the second in 2.
TABLES = {
    "answer": [[1, 0, 1, 0], [0, 0, 0, 0], [0, 0, 1, 1]],
    "reference": [[1, 0, 0], [0, 1, 0], [0, 0, 0]],
    "correct": [1, 1, 0, 0],
    "covered": [1, 0, 1],
}


@pytest.mark.parametrize(
    ("metric", "value", "formula"),
    [
        # reference statements 1 and 2 of 3 are in some chunk
        (ClaimRecall(), 2 / 3, "2 / 3 = 0.667"),
        # of these two the answer has the first
        (ContextUtilization(), 1 / 2, "1 / 2 = 0.5"),
        # chunks 1 and 2 are relevant: wrong statement 3 is in chunk 1
        (NoiseSensitivity(), 1 / 4, "1 / 4 = 0.25"),
        # wrong statement 4 is only in chunk 3
        (NoiseSensitivity(mode="irrelevant"), 1 / 4, "1 / 4 = 0.25"),
        # both wrong statements are in a chunk
        (Hallucination(), 0.0, "0 / 4 = 0"),
        # correct statement 2 is in no chunk
        (SelfKnowledge(), 1 / 4, "1 / 4 = 0.25"),
        (ChunkFaithfulness(), 3 / 4, "3 / 4 = 0.75"),
    ],
)
def test_the_numbers_of_ragchecker(measure, metric, value, formula):
    score = measure(metric, Matrix(**TABLES), **SAMPLE).score
    assert (score.value, score.formula) == (value, formula)


def test_correct_wrong_and_retrieved_shares_add_up(measure):
    # each statement of the answer is one of: correct and retrieved, self-knowledge, noise, hallucination
    parts = [NoiseSensitivity(), NoiseSensitivity(mode="irrelevant"), Hallucination(), SelfKnowledge()]
    shares = [measure(metric, Matrix(**TABLES), **SAMPLE).score.value for metric in parts]
    correct_and_retrieved = 1 / 4
    assert sum(shares) + correct_and_retrieved == 1.0


def test_the_matrix_is_asked_once_for_all_metrics():
    judge = ScriptedJudge(Matrix(**TABLES))
    run = evaluate([SAMPLE], metrics=MATRIX, judge=judge)

    # 2 texts split, 4 and 3 statements against 3 chunks each, answer against reference and back
    assert len(judge.asked) == 2 + 3 + 3 + 1 + 1
    assert run.tally["shared"] > 0
    assert list(run.audit()) == []


def test_the_plan_says_which_calls_are_shared():
    alone = sum(plan([SAMPLE], metrics=[name], judge="embedded").total.calls for name in MATRIX)
    together = plan([SAMPLE], metrics=MATRIX, judge="embedded").total
    assert together.calls < alone
    assert together.shared == alone - together.calls


def test_statements_and_their_check_are_those_of_factual_correctness():
    judge = ScriptedJudge(Matrix(**TABLES))
    evaluate([SAMPLE], metrics=[*MATRIX, "factual_correctness"], judge=judge)
    assert len(judge.asked) == 2 + 3 + 3 + 1 + 1


def test_a_verdict_says_which_chunk_it_is_about_and_where_its_evidence_stands(measure):
    def reply(request):
        if request.prompt.name == "statements":
            return {"statements": ["Answer 1."], "declined": False}
        entry = {"number": 1, "evidence": "Chunk two.", "verdict": "yes"}
        return {"verdicts": [entry]}

    record = measure(ChunkFaithfulness(), reply, **SAMPLE).score

    assert [each.about for each in record.verdicts] == [
        f"answer statement in chunk {number}" for number in (1, 2, 3)
    ]
    spans = [each.evidence[0].span for each in record.verdicts]
    assert (spans[0], spans[1].chunk, spans[2]) == (None, 2, None)


def test_a_blank_chunk_entails_nothing_without_a_call(measure):
    score, judge = measure(
        ClaimRecall(), Matrix(**TABLES), **{**SAMPLE, "contexts": [CHUNKS[0], " ", CHUNKS[2]]}
    )
    assert (score.value, judge.count("verdicts")) == (1 / 3, 2)


@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        ("claim_recall", ("ok", 0.0)),
        ("context_utilization", ("undefined", None)),
        ("noise_sensitivity", ("undefined", None)),
        ("chunk_faithfulness", ("undefined", None)),
        # both wrong statements are in no chunk, and so are the correct ones
        ("hallucination", ("ok", 0.5)),
        ("self_knowledge", ("ok", 0.5)),
    ],
)
def test_without_contexts_every_metric_is_defined_or_says_why_not(measure, name, outcome):
    score = measure(get(name), Matrix(**TABLES), **{**SAMPLE, "contexts": []}).score
    assert (score.status, score.value) == outcome


# -- unknowns

cells = st.sampled_from([0, 1, None])


def rows(width):
    return st.lists(cells, min_size=width, max_size=width)


@st.composite
def tables(draw):
    return {
        "answer": draw(st.lists(rows(2), min_size=3, max_size=3)),
        "reference": draw(st.lists(rows(2), min_size=3, max_size=3)),
        "correct": draw(rows(2)),
        "covered": draw(rows(2)),
    }


@given(known=tables(), data=st.data(), name=st.sampled_from(MATRIX))
def test_no_way_to_fill_in_missing_verdicts_leaves_the_bounds(known, data, name):
    def filled(value):
        if isinstance(value, list):
            return [filled(each) for each in value]
        return data.draw(st.sampled_from([0, 1])) if value is None else value

    def score(cells):
        run = evaluate([SAMPLE], metrics=[name], judge=ScriptedJudge(Matrix(**cells)))
        found = run.score("q1", name)
        assert audit(found) == []
        return found

    open_score, full = score(known), score({name: filled(each) for name, each in known.items()})
    if open_score.value is not None and full.value is not None:
        assert full.value == open_score.value
    elif open_score.bounds is not None and full.value is not None:
        assert open_score.bounds[0] <= full.value <= open_score.bounds[1]


def test_a_chunk_is_useful_that_has_some_statement_of_the_reference(measure, verdicts):
    # two chunks: the first has one of two statements, the second none; 1 / 2
    def reply(request):
        if request.prompt.name == "reference_statements":
            return {"statements": ["Ulm is old.", "Ulm is big."]}
        has = "old" in str(request.variables["contexts"])
        return verdicts("yes" if has else "no", "no")

    sample = {"question": "?", "contexts": ["It is old.", "It rains."], "reference": "Ulm is old and big."}
    score = measure(UsefulChunks(), reply, **sample).score
    assert (score.value, score.formula) == (0.5, "1 / 2 = 0.5")
    assert measure(UsefulChunks(), reply, **{**sample, "contexts": [" "]}).score.reason == "no_contexts"
    assert measure(UsefulChunks(), lambda _: {"statements": []}, **sample).score.reason == "no_statements"
