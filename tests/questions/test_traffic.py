"""Questions of a run: chosen by stratum, once each, with the faithful answers as proposals."""

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.questions import Document, questions_of_run, read_corpus
from ragmetrics_core.testing import ScriptedJudge

TEXT = "The Rhine is 1,233 km long. It rises in the Swiss Alps and flows into the North Sea."
CORPUS = read_corpus([Document(id="rhine.md", text=TEXT)])
LENGTH = "The Rhine is 1,233 km long."

DIFFERENT = [
    "How long is the Rhine?",
    "Where does it rise?",
    "Name a river.",
    "What flows into the North Sea?",
]


def run_of(rows, verdict="yes", quote="Rhine is 1,233 km long"):
    reply = {"verdicts": [{"number": 1, "reason": "", "evidence": quote, "verdict": verdict}]}
    judge = ScriptedJudge({"statements": {"statements": [LENGTH], "declined": False}, "verdicts": reply})
    return evaluate(rows, metrics="faithfulness", judge=judge)


def asked(question, **labels):
    return {"question": question, "answer": LENGTH, "contexts": [TEXT], "labels": labels}


def test_a_faithful_answer_is_proposed_with_what_the_judge_quoted():
    (question,) = questions_of_run(run_of([asked("How long is the Rhine?")]), CORPUS, per=5).questions
    assert (question.answer, question.labels["checked"]) == (LENGTH, False)
    (quote,) = question.quotes
    assert (quote.document, quote.start, quote.text) == ("rhine.md", 4, "Rhine is 1,233 km long")


@pytest.mark.parametrize(
    ("verdict", "quote"),
    [("no", ""), ("yes", "It is longer than the Elbe")],
    ids=["an unfaithful answer", "a quote outside the corpus"],
)
def test_no_answer_is_proposed_without_proof(verdict, quote):
    run = run_of([asked("How long is the Rhine?")], verdict, quote)
    (question,) = questions_of_run(run, CORPUS, per=5).questions
    assert (question.answer, question.quotes) == (None, ())


def test_the_strata_are_the_values_of_a_label():
    rows = [asked(question, country="de") for question in DIFFERENT] + [
        asked("Which lake is it in?", country="ch")
    ]
    traffic = questions_of_run(run_of(rows), CORPUS, per={"country": 2})
    assert traffic.available == {"country=de": 4, "country=ch": 1}
    assert traffic.chosen == {"country=de": 2, "country=ch": 1}


def test_the_strata_are_the_quarters_of_a_metrics_range():
    rows = list(map(asked, DIFFERENT))
    traffic = questions_of_run(run_of(rows), CORPUS, per={"faithfulness": 2})
    assert traffic.chosen == {"faithfulness: 0.75 to 1": 2}


def test_a_question_that_was_asked_often_is_one_question():
    rows = [
        asked("How long is the Rhine?"),
        asked("how long is the rhine"),
        asked("Where does the Rhine rise?"),
    ]
    traffic = questions_of_run(run_of(rows), CORPUS, per=5)
    assert (len(traffic.questions), traffic.repeated) == (2, 1)


def test_the_same_seed_chooses_the_same_questions():
    run = run_of(list(map(asked, DIFFERENT)))
    first, again = (questions_of_run(run, CORPUS, per=2, seed=1).questions for _ in range(2))
    assert first == again
    others = [questions_of_run(run, CORPUS, per=2, seed=seed).questions for seed in range(2, 10)]
    assert any(other != first for other in others)


def test_private_parts_are_in_no_part_of_a_question():
    def redact(text):
        return text.replace("Ada", "[name]")

    run = run_of([asked("How long is the Rhine, Ada asks?", user="Ada")])
    (question,) = questions_of_run(run, CORPUS, per=5, redact=redact).questions
    assert "Ada" not in question.model_dump_json()


def test_an_unknown_stratum_names_what_there_is():
    with pytest.raises(ConfigError, match=r"no single metric 'town'; there is country, faithfulness/"):
        questions_of_run(run_of([asked("How long is the Rhine?", country="de")]), CORPUS, per={"town": 1})


def test_a_question_counts_for_one_of_several_strata_and_repeats_nothing():
    # one sample, which both labels would choose
    run = run_of([asked("How long is the Rhine?", country="de", topic="rivers")])
    traffic = questions_of_run(run, CORPUS, per={"country": 1, "topic": 1})
    assert (len(traffic.questions), traffic.repeated) == (1, 0)


def test_a_stratum_with_too_few_questions_says_why(tmp_path):
    run = run_of([asked("How long is the Rhine?")])
    made = questions_of_run(run, CORPUS, per=2).write(tmp_path / "set")
    assert [(cell.kept, cell.asked, cell.why_short) for cell in made.summary.cells] == [
        (1, 2, "the run has no more different questions")
    ]


def test_a_run_without_questions_is_refused():
    run = evaluate([{"answer": "yes", "reference": "yes"}], metrics="exact_match")
    with pytest.raises(ConfigError, match="no sample of the run has a question"):
        questions_of_run(run, CORPUS, per=2)
