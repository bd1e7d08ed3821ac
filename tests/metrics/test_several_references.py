"""Several acceptable answers: the best one counts, the record says which, and nothing is asked twice."""

import pytest

from ragmetrics_core import evaluate, recompute
from ragmetrics_core.drivers import audit, correct
from ragmetrics_core.errors import RecordError
from ragmetrics_core.measurement import Bounds, Measurement
from ragmetrics_core.metrics import METRICS, FactualCorrectness, get
from ragmetrics_core.metrics._steps.references import ReferenceMetric, best_measurement
from ragmetrics_core.runs import plan
from ragmetrics_core.samples import distinct_references
from ragmetrics_core.testing import HashEmbedder, ScriptedJudge
from tests.lines import plain

ROW = {
    "id": "q1",
    "question": "Where is it?",
    "answer": "It is in Ulm.",
    "contexts": ["Ulm has a minster.", "Bonn has a river."],
    "references": ["Bonn", "In Ulm", "In Ulm", " ", "Ulm"],
}
AGAINST = sorted(name for name, kind in METRICS.items() if issubclass(kind, ReferenceMetric))


def reads(request):
    """A judge that finds yes where a text of a list stands in the text that it is shown."""
    variables = request.variables
    shown = str(variables.get("reference") or "") + str(variables.get("contexts") or "")
    match request.prompt.name:
        case "statements":
            return {"statements": ["Ulm"], "declined": False}
        case "reference_statements":
            return {"statements": [str(variables["reference"]).removeprefix("In ")]}
        case "entities":
            return {"entities": [str(variables["reference"]).removeprefix("In ")]}
        case "context_entities":
            return {"entities": ["Ulm"]}
        case "nugget_importance":
            # its form has no evidence
            return {"verdicts": [{"number": item.number, "verdict": "yes"} for item in variables["items"]]}
        case "answer_verdicts":
            texts, shown = variables["items"], str(variables["answer"])
        case "chunk_verdicts":
            answers = [
                str(variables["reference"]).removeprefix("In ") in chunk for chunk in variables["contexts"]
            ]
            return verdicts(answers)
        case "accuracy_grade":
            return {
                "reason": "",
                "rating": 4 if "Ulm" in str(variables) and "Bonn" not in str(variables) else 0,
            }
        case "closed_book":
            return {"answer": "It is in Ulm.", "known": True}
        case "questions":
            return {"questions": [{"question": "Where is it?", "noncommittal": False}] * 3}
        case _:
            texts = variables["items"]
    return verdicts([item.text in shown for item in texts])


def verdicts(decisions):
    return {
        "verdicts": [
            {"number": number, "evidence": "Ulm" if each else "", "verdict": "yes" if each else "no"}
            for number, each in enumerate(decisions, 1)
        ]
    }


def measured(metric, **changed):
    judge = ScriptedJudge(reads)
    run = evaluate([{**ROW, **changed}], metrics=[metric], judge=judge, embedder=HashEmbedder(), attempts=1)
    score = run.score("q1", metric)
    assert audit(score) == []
    return score, judge


@pytest.mark.parametrize("name", AGAINST)
def test_the_best_of_several_references_counts_and_the_record_says_which(name):
    alone = [measured(get(name), references=[each])[0].value for each in ("Bonn", "In Ulm", "Ulm")]
    best = (min if name in {"hallucination", "noise_sensitivity"} else max)(
        value for value in alone if value is not None
    )

    score, _ = measured(get(name))

    assert score.value == best
    assert score.counts["references"] == 3  # a text counts once, and a blank one is none
    assert score.counts["reference"] == alone.index(best) + 1  # of equal ones the first
    assert f"(reference {alone.index(best) + 1} of 3" in score.formula
    # what is asked ends with the first reference whose score no other can beat
    full = (0.0 if name in {"hallucination", "noise_sensitivity"} else 1.0) == best
    left = 2 - alone.index(best) if full else 0
    assert score.counts.get("references_not_asked", 0) == left
    assert score.formula.endswith(f", {left} not asked)") == (left > 0)


@pytest.mark.parametrize("name", AGAINST)
def test_on_wish_the_first_reference_counts_alone(name):
    alone, _ = measured(get(name), references=["Bonn"])
    first, _ = measured(get(name, references="first"))
    assert (first.value, first.counts) == (alone.value, alone.counts)


@pytest.mark.parametrize("name", [each for each in AGAINST if "ragas-0.4" in METRICS[each].variants])
def test_the_variants_of_ragas_know_one_reference(name):
    alone, _ = measured(get(name, variant="ragas-0.4"), references=["Bonn"])
    first, _ = measured(get(name, variant="ragas-0.4"))
    assert (first.value, first.counts) == (alone.value, alone.counts)


def test_the_answer_is_split_once_and_each_reference_judged_once():
    # 1 split of the answer; for each of 3 references a split and two calls for verdicts, of which one is the
    # same for the two references that state the same
    score, judge = measured(FactualCorrectness(), references=["Bonn", "In Bonn", "Rome"])
    asked = [request.prompt.name for request in judge.asked]
    assert {name: asked.count(name) for name in asked} == {
        "statements": 1,
        "reference_statements": 3,
        "reference_verdicts": 3,
        "answer_verdicts": 2,
    }
    assert score.value == 0.0


@pytest.mark.parametrize(("place", "calls"), [(1, 4), (2, 7), (15, 46)])
def test_nothing_is_asked_after_the_reference_with_the_full_score(place, calls):
    # 1 split of the answer; for each reference up to the full one a split and two calls for verdicts
    aliases = [f"Alias {number}" for number in range(1, 16)]
    aliases[place - 1] = "Ulm"
    score, judge = measured(FactualCorrectness(), references=aliases)
    assert (score.value, score.counts["reference"], len(judge.asked)) == (1.0, place, calls)


def test_a_plan_counts_every_reference():
    # 1 + 3 * 15, and a run asks at most so many
    aliases = [f"Alias {number}" for number in range(1, 16)]
    judge = ScriptedJudge(reads)
    planned = plan([{**ROW, "references": aliases}], metrics=[FactualCorrectness()], judge=judge)
    assert (planned.total.calls, judge.asked) == (46, [])


def test_a_record_that_leaves_a_reference_out_without_reason_is_found():
    # the second reference has the full score: without its steps the first one would be the best
    score, _ = measured(FactualCorrectness())
    cut = score.model_copy(update={"steps": tuple(step for step in score.steps if step.path[:3] != "1.2")})
    with pytest.raises(RecordError, match=r"has no step 1\.2"):
        recompute(cut)


def test_a_person_may_overrule_the_verdict_that_ended_the_asking():
    score, _ = measured(FactualCorrectness(), references=["Ulm", "Bonn"])
    corrected = correct(score, number=1, supported=False)
    # 0 of 1 statement is right, 1 of 1 is covered: P and with it F1 are 0; the other may still have 1
    assert corrected.formula.endswith("(reference 1 of 2, 1 not asked)")
    assert (corrected.status, corrected.value, corrected.bounds) == ("incomplete", None, (0.0, 1.0))
    assert corrected.reason == (
        "reference 2 was not asked about, for a person overruled what ended the asking; "
        "evaluating again into the same folder asks about it"
    )
    assert audit(corrected) == []


def test_where_lower_is_better_the_references_that_were_not_asked_may_be_as_low_as_can_be():
    score, _ = measured(get("hallucination"), references=["Ulm", "Bonn", "Rome"])
    assert (score.value, score.counts["references_not_asked"]) == (0.0, 2)
    # neither correct nor entailed by a chunk: 1 of 1 is made up
    corrected = correct(correct(score, number=1, supported=False), number=2, supported=False)
    assert corrected.bounds == (0.0, 1.0)
    assert corrected.reason.startswith("references 2 to 3 were not asked about")


def test_each_verdict_says_which_reference_it_is_about_and_where_its_quote_stands():
    score, _ = measured(FactualCorrectness(mode="precision"))
    told = {(verdict.about, verdict.supported) for verdict in score.verdicts}
    assert ("answer statement (reference 1)", False) in told
    assert ("answer statement (reference 2)", True) in told
    sources = {each.source for verdict in score.verdicts for each in verdict.evidence}
    assert sources <= {"answer", "reference 2", "reference 3"}


def test_the_parts_of_a_whole_are_measured_against_the_same_reference():
    # the facts fit reference 2 alone, whose similarity counts too, though that of reference 1 is higher
    def reads_second(request):
        if "ratings" in request.prompt.name or request.prompt.name == "reference_verdicts":
            return verdicts(["second" in str(request.variables["reference"])])
        if request.prompt.name == "answer_verdicts":
            return verdicts(["second" in str(request.variables["items"])])
        if request.prompt.name == "statements":
            return {"statements": ["it"], "declined": False}
        return {"statements": [str(request.variables["reference"])]}

    vectors = {"it": [1.0, 0.0], "first": [1.0, 0.0], "second": [0.0, 1.0]}
    run = evaluate(
        [{"id": "q1", "question": "?", "answer": "it", "references": ["first", "second"]}],
        metrics=["answer_correctness"],
        judge=ScriptedJudge(reads_second),
        embedder=HashEmbedder(vectors=vectors),
    )

    score = run.score("q1", "answer_correctness")

    # against "first" 0.75 * 0 + 0.25 * 1, against "second" 0.75 * 1 + 0.25 * 0
    assert (score.value, score.counts["reference"]) == (0.75, 2)
    assert [part.value for part in score.parts] == [1.0, 0.0]
    assert audit(score) == []


def test_one_reference_changes_nothing():
    one, _ = measured(FactualCorrectness(), references=["Ulm"])
    twice, _ = measured(FactualCorrectness(), references=["Ulm", "Ulm", ""])
    assert "reference" not in one.counts
    stored = [plain(each.stored()) for each in (one, twice)]
    assert stored[0]["steps"] == stored[1]["steps"]


def test_missing_verdicts_leave_bounds_only_where_the_best_reference_could_be_another():
    sure = Measurement(value=0.5, formula="a")
    open_ended = Measurement(bounds=Bounds(0.25, 0.75), reason="missing_verdicts", formula="b")
    nothing = Measurement(reason="no_statements")

    best = best_measurement([nothing, open_ended, sure], highest=True)
    assert (best.value, best.bounds, best.reason) == (None, (0.5, 0.75), "missing_verdicts")

    full = best_measurement([open_ended, Measurement(value=0.75, formula="c")], highest=True)
    assert (full.value, full.bounds, full.counts["reference"]) == (0.75, None, 2)

    least = best_measurement([open_ended, sure], highest=False)
    assert (least.value, least.bounds) == (None, (0.25, 0.5))
    assert best_measurement([nothing, nothing], highest=True) is nothing


def test_references_are_the_same_by_their_words():
    assert distinct_references(["a  b", "", "a b", "c"]) == ("a  b", "c")
    assert distinct_references(["", " "]) == ("",)
