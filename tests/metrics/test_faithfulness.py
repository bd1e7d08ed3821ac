"""Faithfulness: supported statements over all statements, and what happens when verdicts are missing."""

import json

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.errors import ModelRefused, ModelTimeout
from ragmetrics_core.metrics import Faithfulness
from ragmetrics_core.parsers import Span
from ragmetrics_core.prompts import PAPER_VERDICTS, VERDICTS
from ragmetrics_core.protocol import Completion

EINSTEIN = {
    "question": "Where and when was Einstein born?",
    "contexts": ["Albert Einstein (born 14 March 1879) was a German-born theoretical physicist."],
    "answer": "Einstein was born in Germany on 20th March 1879.",
}
BIRTH = {
    "statements": ["Einstein was born in Germany.", "Einstein was born on 20th March 1879."],
    "declined": False,
}
FOUR = {"statements": ["One.", "Two.", "Three.", "Four."], "declined": False}


def test_einsteins_birth_with_one_wrong_date_is_half_faithful(measure, verdicts):
    # born in Germany: yes; on 20th March, where the context has 14 March: no. 1 / 2
    score = measure(
        Faithfulness(), {"statements": BIRTH, "verdicts": verdicts("yes", "no")}, **EINSTEIN
    ).score

    assert score.value == 0.5
    assert score.counts == {"supported": 1, "statements": 2}
    assert score.formula == "1 / 2 = 0.5"


@pytest.mark.parametrize("contexts", [[], ["", " \n"]])
def test_without_contexts_it_is_undefined_and_the_judge_is_not_asked(measure, contexts):
    score, judge = measure(Faithfulness(), {}, **EINSTEIN | {"contexts": contexts})

    assert (score.status, score.reason, score.value) == ("undefined", "no_contexts", None)
    assert judge.asked == []


def test_an_answer_without_statements_is_undefined_and_no_verdict_is_asked_for(measure):
    score, judge = measure(Faithfulness(), {"statements": {"statements": [], "declined": False}}, **EINSTEIN)

    assert (score.status, score.reason, score.value) == ("undefined", "no_statements", None)
    assert [request.prompt.name for request in judge.asked] == ["statements"]


def test_a_refusal_to_answer_is_noted_beside_the_score(measure, verdicts):
    declining = BIRTH | {"declined": True, "reason": "says that it does not know"}

    score = measure(
        Faithfulness(), {"statements": declining, "verdicts": verdicts("no", "no")}, **EINSTEIN
    ).score

    assert score.value == 0.0
    assert score.abstained is not None
    assert score.abstained.declined
    assert score.abstained.reason == "says that it does not know"


# -- verdicts that are missing


def test_verdicts_for_two_of_four_statements_are_no_score_of_two_out_of_two(measure, verdicts):
    # statements 3 and 4 never get a verdict: 2 / 4 if both are unsupported, 4 / 4 if both are supported
    score = measure(
        Faithfulness(), {"statements": FOUR, "verdicts": verdicts("yes", "yes")}, **EINSTEIN
    ).score

    assert (score.status, score.reason, score.value) == ("incomplete", "missing_verdicts", None)
    assert score.bounds == (0.5, 1.0)
    assert score.counts == {"supported": 2, "statements": 4, "missing": 2}
    assert score.formula == "2 / 4, 2 missing: 0.5 to 1"
    assert [verdict.label for verdict in score.verdicts] == [
        "supported",
        "supported",
        "missing",
        "missing",
    ]


def test_only_the_missing_numbers_are_asked_for_again_in_the_same_conversation_and_once(measure, verdicts):
    judge = measure(Faithfulness(), {"statements": FOUR, "verdicts": verdicts("yes", "no")}, **EINSTEIN).judge

    _, first, second = judge.asked
    assert (first.expected.numbers, second.expected.numbers) == ((1, 2, 3, 4), (3, 4))
    assert (first.draw, first.again, second.draw, second.again) == (0, 0, 0, 1)
    *asked_first, reply, asked_again = second.messages
    assert tuple(asked_first) == first.messages
    assert reply == ("assistant", json.dumps(verdicts("yes", "no")))
    assert asked_again.content == f"Your last reply lacks a verdict on 3, 4.\n{VERDICTS.again}"


def test_a_second_reply_with_the_missing_verdicts_completes_the_score(measure, verdicts):
    # first reply: 1 yes, 2 no; second: 3 yes, 4 yes. 3 / 4
    replies = {"statements": FOUR, "verdicts": [verdicts("yes", "no"), verdicts("yes", "yes", first=3)]}

    score = measure(Faithfulness(), replies, **EINSTEIN).score

    assert (score.status, score.value) == ("ok", 0.75)


def test_a_second_reply_may_repeat_the_first_and_complete_it(measure, verdicts):
    # 1 yes; then 1 yes again and 2 no: 1 / 2
    replies = {"statements": BIRTH, "verdicts": [verdicts("yes"), verdicts("yes", "no")]}

    score = measure(Faithfulness(), replies, **EINSTEIN).score

    assert (score.status, score.value) == ("ok", 0.5)
    assert score.steps[-1].dropped == ("number 1 repeats a known verdict: yes",)


def test_a_second_reply_cannot_change_a_verdict_of_the_first(measure, verdicts):
    # statement 1 was supported and is not asked about again: of a reply that gives "no" for it nothing counts
    replies = {"statements": BIRTH, "verdicts": [verdicts("yes"), verdicts("no", "no")]}

    score = measure(Faithfulness(), replies, **EINSTEIN).score

    assert (score.status, score.bounds) == ("incomplete", (0.5, 1.0))
    assert score.steps[-1].objections == ('the verdict on number 1 was "yes" before and is "no" now',)


@pytest.mark.parametrize(
    ("number", "objection"), [(2, "number 2 stands there twice"), (7, "number 7 was not asked about")]
)
def test_a_number_too_many_leaves_in_doubt_what_the_others_count(measure, verdicts, number, objection):
    # nothing of the first reply counts, so all of it is asked for again: 1 / 2
    reply = {"verdicts": [*verdicts("no", "no")["verdicts"], {"number": number, "verdict": "no"}]}
    replies = {"statements": BIRTH, "verdicts": [reply, verdicts("yes", "no")]}

    score, judge = measure(Faithfulness(), replies, **EINSTEIN)

    assert score.value == 0.5
    assert [step.objections for step in score.steps] == [(), (objection,), ()]
    assert judge.asked[-1].expected.numbers == (1, 2)


@pytest.mark.parametrize("value", [2, 0.5, True, "unclear", "partially", None])
def test_a_value_that_is_no_verdict_leaves_the_statement_open(measure, verdicts, value):
    # statement 1 yes, statement 2 neither, also when it is asked for once more: between 1 / 2 and 2 / 2
    score = measure(
        Faithfulness(), {"statements": BIRTH, "verdicts": verdicts("yes", value)}, **EINSTEIN
    ).score

    assert (score.status, score.bounds) == ("incomplete", (0.5, 1.0))


def test_long_answers_are_judged_twenty_statements_at_a_time(measure, verdicts):
    # 45 statements, asked as 1-20, 21-40, 41-45; the ten numbers 1 to 10 are supported. 10 / 45
    def reply(request):
        if request.prompt.name == "statements":
            return {
                "statements": [f"Statement {number} stands." for number in range(1, 46)],
                "declined": False,
            }
        numbers = request.expected.numbers
        return verdicts(*("yes" if number <= 10 else "no" for number in numbers), first=numbers[0])

    score, judge = measure(Faithfulness(), reply, **EINSTEIN)

    asked = [request.expected.numbers for request in judge.asked[1:]]
    assert sorted(asked) == [tuple(range(1, 21)), tuple(range(21, 41)), tuple(range(41, 46))]
    assert score.value == 10 / 45
    assert score.verdicts[40].text == "Statement 41 stands."


def test_statements_one_by_one_are_a_call_each_and_the_same_score(measure, verdicts):
    def reply(request):
        if request.prompt.name == "statements":
            return {"statements": ["Einstein was born in Ulm.", "He played the violin."], "declined": False}
        (number,) = request.expected.numbers
        return verdicts("yes" if number == 1 else "no", first=number)

    score, judge = measure(Faithfulness(per_call=1), reply, **EINSTEIN)

    assert [request.expected.numbers for request in judge.asked[1:]] == [(1,), (2,)]
    assert (score.value, score.formula) == (0.5, "1 / 2 = 0.5")
    assert score.signature == "faithfulness/strict.1(per_call=1)"


# -- replies that cannot be read, and models that do not answer


def test_statements_that_cannot_be_read_are_a_parse_error(measure):
    score, judge = measure(Faithfulness(), {"statements": "I am sorry, but I cannot do that"}, **EINSTEIN)

    assert (score.status, score.value) == ("parse_error", None)
    assert score.reason == "statements.v5: the reply could not be read: it holds no JSON object"
    # asked for once, and once more
    assert [step.rule for step in score.steps] == ["unread", "unread"]
    assert judge.count("statements") == 2


def test_a_list_of_statements_that_was_cut_is_a_parse_error(measure, cut_off):
    # nobody knows how many statements are missing
    reply = Completion(text=cut_off(FOUR, 30), finish_reason="length")

    score = measure(Faithfulness(), {"statements": reply}, **EINSTEIN).score

    assert score.status == "parse_error"
    assert score.reason.startswith(
        "statements.v5: the reply could not be read: the reply was cut by the model's length limit"
    )


def test_of_a_list_of_verdicts_that_was_cut_all_are_asked_for_again(measure, verdicts, cut_off):
    # what the cut reply says of statement 1 is not read: yes, no, no, no in the second one. 1 / 4
    whole = verdicts("yes", "no", "no", "no")
    cut = Completion(text=cut_off(whole, 60), finish_reason="length")
    replies = {"statements": FOUR, "verdicts": [cut, whole]}

    score, judge = measure(Faithfulness(), replies, **EINSTEIN)

    assert score.value == 0.25
    assert judge.asked[-1].expected.numbers == (1, 2, 3, 4)


@pytest.mark.parametrize(
    ("replies", "outcome", "steps"),
    [
        ({"statements": ModelRefused("wrong key")}, ("model_error", "statements.v5: wrong key"), []),
        ({"statements": ModelTimeout("no answer")}, ("timeout", "statements.v5: no answer"), []),
        # the first step stays on record
        (
            {"statements": BIRTH, "verdicts": ValueError("broken")},
            ("model_error", "verdicts.v5: ValueError: broken"),
            ["statements.v5"],
        ),
    ],
)
def test_a_model_that_fails_is_a_status_with_its_words(measure, replies, outcome, steps):
    score = measure(Faithfulness(), replies, **EINSTEIN).score
    assert (score.status, score.reason, score.value) == (*outcome, None)
    assert [step.prompt for step in score.steps] == steps


# -- settings and variants


def test_by_sentence_the_answers_own_sentences_are_judged(measure, verdicts):
    # two sentences, one of them supported: 1 / 2; nobody splits the answer for us
    answer = "Einstein was born in Germany. He was born on 20th March 1879."

    score, judge = measure(
        Faithfulness(granularity="sentence"),
        {"verdicts": verdicts("yes", "no")},
        **EINSTEIN | {"answer": answer},
    )

    assert score.value == 0.5
    assert [(verdict.about, verdict.text) for verdict in score.verdicts] == [
        ("answer sentence", "Einstein was born in Germany."),
        ("answer sentence", "He was born on 20th March 1879."),
    ]
    assert judge.count("statements") == 0


def test_by_sentence_an_empty_answer_is_undefined_without_a_call(measure):
    score, judge = measure(Faithfulness(granularity="sentence"), {}, **EINSTEIN | {"answer": ""})

    assert (score.status, score.reason) == ("undefined", "no_answer")
    assert judge.asked == []


def test_quoted_evidence_is_found_in_its_chunk(measure):
    chunks = ["He played the violin.", "Albert Einstein was a German-born physicist."]
    reply = {"verdicts": [{"number": 1, "reason": "it says so", "evidence": "German-born", "verdict": "yes"}]}
    replies = {
        "statements": {"statements": ["Einstein was born in Germany."], "declined": False},
        "verdicts": reply,
    }

    score = measure(Faithfulness(), replies, **EINSTEIN | {"contexts": chunks}).score

    (verdict,) = score.verdicts
    # "Albert Einstein was a " has 22 characters, "German-born" 11
    assert verdict.evidence[0].span == Span(chunk=2, start=22, end=33, exact=True)
    assert verdict.reason == "it says so"


def test_evidence_that_stands_nowhere_is_kept_without_a_place(measure):
    reply = {"verdicts": [{"number": 1, "evidence": "born on the moon", "verdict": "yes"}]}
    replies = {
        "statements": {"statements": ["Einstein was born there."], "declined": False},
        "verdicts": reply,
    }

    score = measure(Faithfulness(), replies, **EINSTEIN).score

    (evidence,) = score.verdicts[0].evidence
    assert (evidence.quote, evidence.span) == ("born on the moon", None)
    assert "“born on the moon” (found nowhere)" in score.explain()


def test_the_paper_variant_reads_lines_and_the_last_one_that_says_the_same(measure):
    # the final list says yes, no: 1 / 2
    replies = {
        "paper_statements": "1. Einstein was born in Germany.\n2. Einstein was born on 20th March 1879.\nEND",
        "paper_verdicts": "1. The context calls him German-born. Verdict: Yes.\n"
        "2. The context has another day. Verdict: No.\nFinal verdicts: 1. Yes. 2. No.",
    }

    score = measure(Faithfulness(variant="paper"), replies, **EINSTEIN).score

    assert score.value == 0.5
    assert score.variant == "paper.1"
    assert [verdict.reason for verdict in score.verdicts] == [
        "The context calls him German-born.",
        "The context has another day.",
    ]


def test_in_the_paper_variant_too_a_verdict_too_few_is_asked_for_again(measure):
    statements = "1. Einstein was born in Germany.\n2. Einstein was born in 1879.\nEND"
    replies = {
        "paper_statements": statements,
        "paper_verdicts": [
            "1. It says so. Verdict: Yes.\nFinal verdicts: 1. Yes.",
            "2. It does not. Verdict: No.\nFinal verdicts: 2. No.",
        ],
    }

    score, judge = measure(Faithfulness(variant="paper"), replies, **EINSTEIN)

    assert score.value == 0.5
    assert judge.asked[-1].expected.numbers == (2,)
    assert judge.asked[-1].messages[-1].content.endswith(PAPER_VERDICTS.again)


# -- refusals


OF_STATEMENTS = [
    "faithfulness",
    "faithfulness/paper",
    "hallucination",
    "chunk_faithfulness",
    "self_knowledge",
]


@pytest.mark.parametrize("metric", OF_STATEMENTS)
@pytest.mark.parametrize(
    "answer",
    [
        "I do not know.",
        "N/A",
        "#N/A",
        "nan",
        "No information.",
        "Ich weiß es nicht.",
        "Je ne sais pas.",
        "我不知道。",
    ],
)
def test_a_pure_refusal_is_undefined_by_the_embedded_judge(metric, answer):
    row = {
        "id": "q",
        "question": "Who built it?",
        "answer": answer,
        "contexts": ["It is old."],
        "reference": "A.",
    }
    run = evaluate([row], metrics=metric, judge="embedded")
    ((_, outcome),) = run.outcomes()
    assert (outcome.status, outcome.reason, outcome.declined) == ("undefined", "no_statements", True)


def test_a_refusal_and_a_statement_are_judged_by_the_statement():
    # of the answer's two sentences one declines: 0 of the other one
    row = {
        "id": "q",
        "question": "Who?",
        "contexts": ["It is old."],
        "answer": "I do not know. It is made of tin.",
    }
    run = evaluate([row], metrics="faithfulness", judge="embedded")
    score = run.score("q", "faithfulness")
    assert [verdict.text for verdict in score.verdicts] == ["It is made of tin."]
    assert score.value == 0
