"""Questions with a history: rewritten before a prompt shows them, and support looked for by its place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core import Sample, evaluate, prompts, recompute, rescore
from ragmetrics_core.drivers import audit, correct, rendered
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import get
from ragmetrics_core.prompts import PromptText
from ragmetrics_core.report._proof_page import verdict_groups
from ragmetrics_core.runs import diagnose, with_prompts
from ragmetrics_core.samples import Turn, conversation_text
from ragmetrics_core.samples._history import earlier_in, last_turns
from ragmetrics_core.testing import ScriptedJudge

STANDALONE = "When did the Alder Museum open?"
FLOORS, TICKETS, TEACHER, YEAR, NOWHERE = (
    "The museum has three floors.",
    "A ticket for the museum costs 5 euros.",
    "The user is a teacher.",
    "The museum opened in 1987.",
    "The museum has a tower.",
)
SAMPLE = {
    "question": "When did it open?",
    "answer": " ".join((FLOORS, TICKETS, TEACHER, YEAR, NOWHERE)),
    "contexts": (FLOORS,),
    "history": (
        {"role": "user", "content": "Tell me about the Alder Museum. " + TEACHER},
        {"role": "assistant", "content": YEAR, "contexts": (TICKETS,)},
    ),
}


def judge_that_reads(request):
    """Verdicts by looking up each statement in the shown texts, and one fixed stand-alone question."""
    match request.prompt.name:
        case "standalone":
            return {"question": STANDALONE}
        case "statements":
            numbers = request.expected.numbers
            texts = request.expected.items
            return {
                "sentences": [
                    {"sentence": number, "kind": "claim", "statements": [text]}
                    for number, text in zip(numbers, texts, strict=True)
                ]
            }
        case "verdicts" | "stances":
            shown = " ".join(request.variables["contexts"])
            yes, no = ("yes", "no") if request.prompt.name == "verdicts" else ("supported", "not mentioned")
            return {
                "verdicts": [
                    {"number": item.number, "evidence": item.text, "verdict": yes}
                    if item.text in shown
                    else {"number": item.number, "verdict": no}
                    for item in request.variables["items"]
                ]
            }
        case name:
            raise AssertionError(name)


@pytest.mark.parametrize("name", ["faithfulness", "faithfulness/strict.2"])
def test_contexts_of_earlier_turns_support_and_other_words_of_the_conversation_do_not(measure, name):
    # 5 statements: 1 in this turn's contexts, 1 in turn 1's contexts: 2 / 5
    score = measure(get(name), judge_that_reads, **SAMPLE).score
    places = {key: count for key, count in score.counts.items() if key.startswith("in_")}
    assert score.value == 0.4
    assert places == {
        "in_contexts": 1, "in_earlier_contexts": 1, "in_user_words": 1, "in_earlier_answers": 1,
    }  # fmt: skip


def test_a_quote_from_the_conversation_names_its_place(measure):
    score = measure(get("faithfulness"), judge_that_reads, **SAMPLE).score
    places = {verdict.text: verdict.evidence[0].place for verdict in score.verdicts if verdict.evidence}
    assert len(score.verdicts) == 5
    assert places[TICKETS] == "the contexts of turn 1"
    assert places[TEACHER] == "the user's message of turn 1"
    assert places[YEAR] == "the answer of turn 1"
    assert f"4. only in an earlier answer: {YEAR}\n     “{YEAR}” (the answer of turn 1)" in score.explain()


def test_a_statement_that_only_an_earlier_answer_says_is_a_finding_of_its_own(measure):
    score = measure(get("faithfulness"), judge_that_reads, **SAMPLE).score
    found = {finding.code: set(finding.texts) for finding in diagnose([score])}
    assert found["repeated_answer"] == {YEAR}
    assert found["unsupported_statement"] == {TEACHER, YEAR, NOWHERE}


def test_the_variant_of_one_turn_counts_this_turns_contexts_alone(measure):
    measured = measure(get("faithfulness/turn.1"), judge_that_reads, **SAMPLE)
    assert measured.score.value == 0.2
    assert measured.judge.count("verdicts") == 1


def test_the_variant_of_one_turn_follows_from_a_record_without_a_call(measure):
    score = measure(get("faithfulness"), judge_that_reads, **SAMPLE).score
    assert rescore(score, variant="turn.1").value == 0.2


def test_prompts_show_the_stand_alone_question_and_the_record_keeps_both(measure):
    measured = measure(get("faithfulness"), judge_that_reads, **SAMPLE)
    (asked,) = (step for step in measured.score.generate_steps if step.prompt == "statements.v5")
    assert f"<question>\n{STANDALONE}\n</question>" in rendered(measured.score, asked)[1].content
    assert measured.score.standalone == STANDALONE
    assert measured.score.sample.question == "When did it open?"


def test_the_applications_own_rewritten_question_is_not_asked_for(measure):
    measured = measure(get("faithfulness"), judge_that_reads, **SAMPLE, standalone="The museum opened when?")
    assert measured.judge.count("standalone") == 0
    assert measured.score.standalone == "The museum opened when?"


def test_one_rewriting_serves_all_metrics():
    judge = ScriptedJudge(judge_that_reads)
    evaluate([Sample(**SAMPLE)], metrics=["faithfulness", "faithfulness/strict.2"], judge=judge)
    assert judge.count("standalone") == 1


def test_without_a_prompt_that_shows_the_question_none_is_rewritten(measure):
    measured = measure(get("faithfulness(granularity=sentence)"), judge_that_reads, **SAMPLE)
    assert measured.judge.count("standalone") == 0
    assert measured.score.standalone is None
    assert measured.score.value == 0.4


def test_a_sample_without_history_is_asked_about_as_ever(measure):
    alone = {name: value for name, value in SAMPLE.items() if name != "history"}
    measured = measure(get("faithfulness"), judge_that_reads, **alone)
    assert [step.prompt for step in measured.score.generate_steps] == ["statements.v5", "verdicts.v5"]
    assert measured.score.value == 0.2
    assert "conversations" not in measured.score.versions
    assert not any(name.startswith("in_") for name in measured.score.counts)


def test_variants_of_another_library_leave_the_history_out(measure):
    measured = measure(get("faithfulness/ragas-0.4"), judge_that_reads, **SAMPLE)
    assert [step.prompt for step in measured.score.generate_steps] == ["statements.v5", "verdicts.v5"]


def test_an_answer_from_earlier_contexts_alone_has_a_score(measure):
    # this turn retrieved nothing, and turn 1's contexts have the ticket: 1 / 5
    sample = {**SAMPLE, "contexts": ()}
    assert measure(get("faithfulness"), judge_that_reads, **sample).score.value == 0.2
    assert measure(get("faithfulness/turn.1"), judge_that_reads, **sample).score.reason == "no_contexts"


def test_texts_of_tools_in_earlier_turns_are_contexts_of_those_turns(measure):
    user, _ = SAMPLE["history"]
    history = (user, {"role": "tool", "content": TICKETS}, {"role": "assistant", "content": YEAR})
    score = measure(get("faithfulness"), judge_that_reads, **{**SAMPLE, "history": history}).score
    assert (score.value, score.counts["in_earlier_contexts"]) == (0.4, 1)


def test_a_window_leaves_earlier_turns_out_and_keeps_their_numbers(measure):
    turns = [
        each
        for number in (1, 2, 3)
        for each in (
            {"role": "user", "content": f"Question {number}?"},
            {"role": "assistant", "content": f"Answer {number}.", "contexts": (f"Chunk {number}.",)},
        )
    ]
    sample = {**SAMPLE, "history": turns, "answer": "Chunk 1. Chunk 3. Answer 3."}
    score = measure(get("faithfulness(window=1)"), judge_that_reads, **sample).score
    assert (score.counts["in_earlier_contexts"], score.counts["in_earlier_answers"]) == (1, 1)
    places = {verdict.text: verdict.evidence[0].place for verdict in score.verdicts if verdict.evidence}
    assert places == {"Chunk 3.": "the contexts of turn 3", "Answer 3.": "the answer of turn 3"}
    assert measure(get("faithfulness"), judge_that_reads, **sample).score.counts["in_earlier_contexts"] == 2


def test_an_unreadable_look_at_earlier_answers_costs_no_score(measure):
    def unreadable(request):
        if request.prompt.name == "verdicts" and len(request.variables["contexts"]) > 2:
            return "I cannot say."
        return judge_that_reads(request)

    score = measure(get("faithfulness"), unreadable, **SAMPLE).score
    assert (score.value, score.counts["in_earlier_answers"]) == (0.4, 0)


def test_an_unreadable_rewriting_is_a_parse_error_with_its_replies(measure):
    def unreadable(request):
        return "What?" if request.prompt.name == "standalone" else judge_that_reads(request)

    score = measure(get("faithfulness"), unreadable, **SAMPLE).score
    assert (score.status, [step.reply for step in score.generate_steps]) == ("parse_error", ["What?"] * 2)


def test_a_number_that_nobody_said_is_not_accepted_in_a_question(measure):
    def inventing(request):
        if request.prompt.name != "standalone":
            return judge_that_reads(request)
        return {"question": STANDALONE if request.follows else "Did the museum open in 1990?"}

    score = measure(get("faithfulness"), inventing, **SAMPLE).score
    assert score.standalone == STANDALONE
    assert score.steps[0].objections == ('"question" has the number 1990, which is not in the conversation',)


def test_a_failed_rewriting_is_recomputed_as_failed():
    def failing(request):
        raise TimeoutError("no reply")

    run = evaluate([Sample(**SAMPLE)], metrics=["faithfulness"], judge=ScriptedJudge(failing), attempts=1)
    (record,) = run.records()
    assert recompute(record).status == record.status != "ok"


def test_records_from_before_histories_counted_stay_as_they_are(measure):
    alone = measure(get("faithfulness"), judge_that_reads, **SAMPLE | {"history": None}).score
    sample = Sample(**{"id": "q1", **SAMPLE})
    earlier = alone.model_copy(update={"sample": sample, "sample_digest": sample.digest})
    assert recompute(earlier).value == alone.value == 0.2


messages = st.lists(
    st.builds(
        Turn,
        role=st.sampled_from(["user", "assistant", "system", "tool"]),
        content=st.sampled_from(["", " ", "a", "b?"]),
        contexts=st.none() | st.lists(st.sampled_from(["x", "y", ""]), max_size=2).map(tuple),
    ),
    max_size=12,
)


@given(messages, st.none() | st.integers(1, 5), st.none() | st.integers(1, 9))
def test_every_window_is_an_end_of_the_history(history, window, turn):
    kept, following = last_turns(history, window, turn)
    assert list(kept) == history[len(history) - len(kept) :]
    assert following == turn or following > (turn or 0)
    assert conversation_text(kept, None) in conversation_text(history, None)
    # what is left keeps the places that it has in the whole
    whole = earlier_in(history, "q", following)
    part = earlier_in(kept, "q", following)
    assert set(part.answers) <= set(whole.answers)
    assert set(part.user) <= set(whole.user)


def test_a_long_conversation_shows_its_last_messages():
    history = [Turn(role="user", content=f"{number} " + "x" * 100) for number in range(1000)]
    shown = conversation_text(history, 1000)
    assert shown.endswith(history[-1].content)
    assert len(shown) <= 1100


def test_text_of_unknown_origin_leaves_a_statement_of_a_conversation_open(measure):
    # floors and tickets are supported; only the unknown text has the tower: 2 / 5 to 3 / 5
    shown = {
        "name": "shown",
        "chunks": [{"text": FLOORS, "rank": 1, "shown": "verified"}],
        "unaccounted": [{"text": NOWHERE, "message": 1, "start": 0, "end": len(NOWHERE)}],
    }
    score = measure(get("faithfulness"), judge_that_reads, **SAMPLE, stages=[shown]).score
    assert (score.status, score.reason, score.bounds) == ("incomplete", "unaccounted_text", (0.4, 0.6))
    assert "repeated_answer" in {finding.code for finding in diagnose([score])}


def test_a_person_decides_on_a_statement_wherever_it_was_found(measure):
    score = measure(get("faithfulness"), judge_that_reads, **SAMPLE).score
    number = next(verdict.number for verdict in score.verdicts if verdict.text == YEAR)
    corrected = correct(score, number=number, supported=True)
    assert corrected.value == 0.6
    assert corrected.verdicts[number - 1].label == "supported"
    assert audit(corrected) == []


def test_a_proof_page_says_where_in_the_conversation_a_quote_is(measure):
    score = measure(get("faithfulness"), judge_that_reads, **SAMPLE).score
    (group,) = verdict_groups(score)
    quotes = {
        verdict.text: [(each.where, each.is_found) for each in verdict.quotes] for verdict in group.verdicts
    }
    assert quotes[YEAR] == [("the answer of turn 1", True)]
    assert quotes[TICKETS] == [("the contexts of turn 1", True)]


ITALIAN = PromptText.of(prompts.STANDALONE)._replace(language="it")


@pytest.mark.parametrize(
    ("name", "asks"),
    [
        ("faithfulness", True),
        ("factual_correctness", True),
        ("faithfulness/ragas-0.4", False),
        ("question_quality", False),
        ("hit_rate", False),
    ],
)
def test_a_translation_of_the_prompt_that_rewrites_counts_for_metrics_that_ask_it(name, asks):
    (metric, _) = with_prompts((get(name), get("faithfulness")), {ITALIAN.key: ITALIAN})
    assert ("standalone" in metric.settings) == asks
    if not asks:
        assert metric.signature == get(name).signature
        with pytest.raises(ConfigError, match=r"no metric of this run uses the prompt 'standalone.it'"):
            with_prompts((get(name),), {ITALIAN.key: ITALIAN})


def test_a_question_is_rewritten_in_the_language_of_the_sample():
    judge = ScriptedJudge(judge_that_reads)
    sample = Sample(**SAMPLE, language="it")
    evaluate([sample], metrics="faithfulness", judge=judge, prompts={ITALIAN.key: ITALIAN})
    assert judge.asked[0].prompt.id == "standalone.v1.it"


@pytest.mark.parametrize("where", ["contexts", "content"])
def test_what_this_turns_contexts_contradict_stays_contradicted(measure, where):
    # an earlier context or an earlier answer says the same; a gate on contradictions must still see it
    dear = "A ticket for the museum costs 9 euros."

    def contradicting(request):
        if request.prompt.name != "stances":
            return judge_that_reads(request)
        shown = " ".join(request.variables["contexts"])
        verdict = "supported" if dear in shown else "contradicted"
        quote = dear if dear in shown else TICKETS
        return {"verdicts": [{"number": 1, "evidence": quote, "verdict": verdict}]}

    said = {"contexts": ("The tower is red.",), "content": "It is open.", where: dear}
    said["contexts"] = (said["contexts"],) if where == "contexts" else said["contexts"]
    history = ({"role": "user", "content": "Hello?"}, {"role": "assistant", **said})
    sample = {**SAMPLE, "answer": dear, "contexts": (TICKETS,), "history": history}
    score = measure(get("faithfulness/strict.2"), contradicting, **sample).score
    assert (score.value, score.counts["contradicted"]) == (0.0, 1)
    assert [verdict.label for verdict in score.verdicts] == ["contradicted"]
    assert score.counts["in_earlier_contexts"] == score.counts["in_earlier_answers"] == 0


def test_an_earlier_context_contradicts_with_its_place(measure):
    def contradicting(request):
        if request.prompt.name != "stances":
            return judge_that_reads(request)
        is_shown = TICKETS in request.variables["contexts"]
        verdict = "contradicted" if is_shown else "not mentioned"
        return {"verdicts": [{"number": 1, "evidence": TICKETS * is_shown, "verdict": verdict}]}

    sample = {**SAMPLE, "answer": "A ticket for the museum costs 9 euros."}
    score = measure(get("faithfulness/strict.2"), contradicting, **sample).score
    (verdict,) = score.verdicts
    assert (score.value, score.counts["contradicted"], verdict.label) == (0.0, 1, "contradicted")
    assert [each.place for each in verdict.evidence] == ["the contexts of turn 1"]
