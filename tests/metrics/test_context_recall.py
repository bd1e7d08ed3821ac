"""Context recall: the reference's statements that the retrieved chunks hold."""

import pytest

from ragmetrics_core.metrics import ContextRecall

FRANCE = {
    "question": "Where is France and what is its capital?",
    "contexts": ["France, in Western Europe, encompasses medieval cities and Mediterranean beaches."],
    "reference": "France is in Western Europe and its capital is Paris.",
}
TWO = {"statements": ["France is in Western Europe.", "Its capital is Paris."]}


def test_france_without_its_capital_recalls_one_half(measure, verdicts):
    # Western Europe: yes; Paris: no. 1 / 2
    score = measure(
        ContextRecall(), {"reference_statements": TWO, "verdicts": verdicts("yes", "no")}, **FRANCE
    ).score

    assert score.value == 0.5
    assert score.formula == "1 / 2 = 0.5"
    assert [verdict.label for verdict in score.verdicts] == ["attributed", "not attributed"]


def test_the_data_protection_act_is_recalled_in_full_and_each_claim_names_its_chunk(measure):
    # consent stands in chunk 2, contract and legal obligation in chunk 3: 3 / 3
    claims = [
        "Consent is a condition.",
        "Contractual necessity is a condition.",
        "Legal obligation is a condition.",
    ]
    quotes = ["with the data subject's consent", "performance of a contract", "legal obligations"]
    reply = {
        "verdicts": [{"number": n, "evidence": quote, "verdict": "yes"} for n, quote in enumerate(quotes, 1)]
    }

    score = measure(
        ContextRecall(),
        {"reference_statements": {"statements": claims}, "verdicts": reply},
        question="Under what conditions can personal data be processed?",
        contexts=[
            "Personal data can only be processed if necessary for the public interest.",
            "Personal data can be processed with the data subject's consent.",
            "Processing is necessary for the performance of a contract or to comply with legal obligations.",
        ],
        reference="With consent, for a contract, or for a legal obligation.",
    ).score

    assert score.value == 1.0
    assert [verdict.evidence[0].span.chunk for verdict in score.verdicts] == [2, 3, 3]


@pytest.mark.parametrize("contexts", [[], [""]])
def test_without_contexts_nothing_is_recalled_and_no_verdict_is_asked_for(measure, contexts):
    # 0 / 2
    score, judge = measure(ContextRecall(), {"reference_statements": TWO}, **FRANCE | {"contexts": contexts})

    assert (score.status, score.value) == ("ok", 0.0)
    assert judge.count("verdicts") == 0
    assert {verdict.reason for verdict in score.verdicts} == {"nothing was retrieved"}


def test_a_reference_without_statements_is_undefined(measure):
    score, judge = measure(ContextRecall(), {"reference_statements": {"statements": []}}, **FRANCE)

    assert (score.status, score.reason, score.value) == ("undefined", "no_statements", None)
    assert judge.count("verdicts") == 0


def test_by_sentence_the_references_own_sentences_are_attributed(measure, verdicts):
    sample = FRANCE | {"reference": "France is in Western Europe. Its capital is Paris."}

    score, judge = measure(
        ContextRecall(granularity="sentence"), {"verdicts": verdicts("yes", "no")}, **sample
    )

    assert score.value == 0.5
    assert [verdict.text for verdict in score.verdicts] == TWO["statements"]
    assert [request.prompt.name for request in judge.asked] == ["verdicts"]


def test_by_sentence_an_empty_reference_is_undefined_without_a_call(measure):
    score, judge = measure(ContextRecall(granularity="sentence"), {}, **FRANCE | {"reference": ""})

    assert (score.status, score.reason) == ("undefined", "no_reference")
    assert judge.asked == []


def test_the_answer_is_never_shown_to_the_judge(measure, verdicts):
    replies = {"reference_statements": TWO, "verdicts": verdicts("yes", "no")}
    measured = measure(
        ContextRecall(), replies, **FRANCE, answer="A word that stands nowhere else: xylophone."
    )
    assert "xylophone" not in measured.shown
