"""What the model was shown is known and verified, or it is said that nobody knows."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ragmetrics_core import Sample
from ragmetrics_core.adapting import (
    Call,
    CapturedMessage,
    CapturedRun,
    Kind,
    NamedValue,
    Rules,
    Skip,
    sample_of,
)
from ragmetrics_core.samples import Turn
from tests.adapting.plain import PLAIN, Clock, Doc, Said

LADY = Doc("The lighthouse was built in 1893 by the harbour board.", "lady")
FERRY = Doc("The ferry leaves every morning at seven from the quay.", "ferry")
QUESTION = "When was the lighthouse built?"


def asked(*texts: str) -> list[Said]:
    return [Said("user", text) for text in texts]


def run_of(*calls: Call, outputs: object = "In 1893.", **more: object) -> CapturedRun:
    return CapturedRun(calls=calls, inputs={"question": QUESTION}, outputs=outputs, **more)  # type: ignore[arg-type]


def call(kind: Kind, name: str, inputs: object, outputs: object, **more: Any) -> Callable[[Clock], Call]:
    return lambda clock: clock.call(kind, name, inputs, outputs, **more)


def search(*documents: Doc) -> Callable[[Clock], Call]:
    return call("retriever", "search", QUESTION, list(documents))


def answer(*texts: str) -> Callable[[Clock], Call]:
    return call("model", "llm", asked(*texts), "In 1893.")


def sample_from(*calls: Callable[[Clock], Call], **more: object) -> Sample:
    """The sample of a run in which these calls were made one after the other."""
    clock = Clock()
    return sample_of(run_of(*(made(clock) for made in calls), **more), PLAIN)


def unaccounted(sample: Sample) -> list[str]:
    """The components whose text the request has without a known source."""
    pieces = [piece for stage in sample.stages or () for piece in stage.unaccounted or ()]
    return list(dict.fromkeys(str(piece.component) for piece in pieces))


def stages(sample: Sample) -> list[tuple[str, str, int]]:
    return [(stage.name, stage.component, len(stage.chunks)) for stage in sample.stages or ()]


def test_a_chunk_that_stands_in_the_request_is_a_context_with_its_place():
    prompt = f"Answer from:\n{LADY.text}\n\nQuestion: {QUESTION}"
    sample = sample_from(search(LADY, FERRY), answer(prompt))
    assert sample.contexts == (LADY.text,)
    assert sample.context_ids == ("lady",)
    (chunk,) = sample.shown_stage.chunks  # type: ignore[union-attr]
    assert (chunk.shown, chunk.message, prompt[chunk.start : chunk.end]) == ("verified", 1, LADY.text)
    assert stages(sample)[0] == ("retrieved", "search", 2)


def test_what_a_filter_drops_is_no_context_and_a_filter_that_drops_all_leaves_none():
    sample = sample_from(
        search(LADY, FERRY),
        call("postprocessor", "cutoff", [LADY, FERRY], []),
        answer("You are kind.", QUESTION),
    )
    assert sample.contexts == ()
    assert stages(sample) == [("retrieved", "search", 2), ("filtered", "cutoff", 0), ("shown", "llm", 0)]


def test_a_state_whose_documents_a_node_empties_shows_none():
    sample = sample_from(
        call("chain", "retrieve", {"question": QUESTION}, {"docs": [LADY]}),
        call("chain", "grade", {"question": QUESTION, "docs": [LADY]}, {"docs": []}),
        answer("Be kind.", QUESTION),
    )
    assert sample.contexts == ()
    assert [stage[:2] for stage in stages(sample)][:2] == [("retrieved", "retrieve"), ("filtered", "grade")]


def test_chunks_of_which_none_stands_in_the_request_are_no_contexts_and_nobody_knows_which_are():
    sample = sample_from(search(LADY), answer("Their tower is from the nineties.", QUESTION))
    assert sample.contexts is None
    assert "note_contexts" in str(sample.labels["found_contexts"])
    assert stages(sample) == [("retrieved", "search", 1), ("shown", "llm", 0)]


def test_a_prompt_that_was_given_the_question_alone_shows_nothing():
    first = call("model", "llm", asked(f"{LADY.text} {QUESTION}"), "no_answer")
    sample = sample_from(
        search(LADY),
        first,
        call("prompt", "second", {"question": QUESTION}, asked(f"From memory: {QUESTION}")),
        call("model", "llm 2", asked(f"From memory: {QUESTION}"), "In 1893."),
    )
    assert sample.contexts == ()


def test_a_summary_is_a_stage_and_the_chunks_that_it_was_made_from_are_the_contexts():
    summary = "A harbour board put the lighthouse up, in 1893."
    sample = sample_from(
        search(LADY, FERRY),
        call("model", "summarizer", asked(f"Summarize: {LADY.text} {FERRY.text}"), summary),
        answer(f"{summary} {QUESTION}"),
    )
    assert sample.contexts == (LADY.text, FERRY.text)
    assert ("derived", "summarizer", 1) in stages(sample)
    assert sample.unproven == ()


@pytest.mark.parametrize(
    "draft", ["Gold.", "It is made of gold.", f"{LADY.text} And it is made of pure gold."]
)
def test_a_draft_is_not_evidence_and_the_chunks_that_it_was_made_from_are(draft: str):
    sample = sample_from(
        search(LADY, FERRY),
        call("model", "drafter", asked(f"Answer from: {LADY.text} {QUESTION}"), draft),
        answer(f"Polish this draft:\n{draft}\nQuestion:\n{QUESTION}"),
    )
    assert sample.contexts == (LADY.text,)
    assert stages(sample)[-2:] == [("derived", "drafter", 1), ("shown", "llm", 1)]


def test_text_that_nobody_accounts_for_is_reported_with_its_component():
    web = "The web says that the tower by the sea was finished two years later."
    sample = sample_from(
        search(LADY),
        call("chain", "browse", QUESTION, {"web": web}),
        answer(f"{LADY.text}\n{web}\n{QUESTION}"),
    )
    assert sample.contexts == (LADY.text,)
    assert sample.shown_stage is not None
    (stretch,) = sample.shown_stage.unaccounted or ()
    assert (stretch.component, stretch.text) == ("browse", web)
    # 10 words of the chunk, 14 of the web, 5 of the question
    assert (sample.shown_stage.words, sample.shown_stage.accounted) == (29, 15)


def test_what_requests_about_two_questions_share_is_the_prompt():
    instructions = (
        "You help visitors of the museum and never talk about anything else. Answer in one sentence."
    )

    def sample(question: str, rules: Rules) -> Sample:
        clock = Clock()
        asking = clock.call(
            "model", "llm", [Said("system", instructions), Said("user", question)], "In 1893."
        )
        run = CapturedRun(calls=[asking], inputs={"question": question}, outputs="In 1893.")
        return sample_of(run, PLAIN, rules)

    rules = Rules()
    assert [sample(question, rules).contexts for question in ("When?", "When?", "Why?", "When?")] == [
        None,
        None,
        (),
        (),
    ]


def test_nothing_was_shown_only_if_the_request_is_accounted_for():
    web = "The web says that the tower by the sea was finished two years later."
    sample = sample_from(search(), answer(f"{web}\n{QUESTION}"))
    assert sample.contexts is None
    assert "14 of 19 words" in str(sample.labels["found_contexts"])


def test_a_model_whose_reply_the_answer_does_not_have_did_not_make_it():
    grader = call("model", "grader", asked(f"Is this relevant? {LADY.text}"), "yes")
    sample = sample_from(search(LADY, FERRY), grader, outputs="It was finished in the year 1893.")
    assert (sample.shown, sample.request_messages) == (("unseen", "unseen"), None)


def test_an_answer_that_a_function_changes_was_made_by_the_call_whose_words_it_has():
    written = "The harbour board built the lighthouse in 1893 [1]."
    sample = sample_from(
        search(LADY, FERRY),
        call("model", "grader", asked(f"Relevant? {FERRY.text}"), "no"),
        call("model", "llm", asked(f"{LADY.text} {QUESTION}"), written),
        outputs="The harbour board built the lighthouse in 1893. Ask me more!",
    )
    assert sample.contexts == (LADY.text,)


def test_a_second_source_is_evidence_beside_a_retriever():
    told = "The keeper's house burned down in 1921."
    sample = sample_from(
        search(LADY),
        call("tool", "archive", {"query": "house"}, told),
        answer(f"{LADY.text}\n{told}\n{QUESTION}"),
    )
    assert sample.contexts == (LADY.text, told)


def test_a_chunk_that_is_cut_off_is_partly_shown_and_its_text_is_the_part():
    sample = sample_from(search(LADY), answer(f"{LADY.text[:32]}... {QUESTION}"))
    assert sample.contexts == (LADY.text[:32].strip(),)
    assert sample.shown == ("partial",)


@pytest.mark.parametrize(
    "written",
    [
        LADY.text.replace(" ", "\n   "),
        f'{{"documents": [{{"content": "{LADY.text.replace(" ", chr(92) + "n")}"}}]}}',
    ],
)
def test_white_space_and_escapes_of_the_writing_hide_no_chunk(written: str):
    sample = sample_from(search(LADY), answer(written, QUESTION))
    assert (sample.contexts, sample.shown) == ((LADY.text,), ("verified",))


def test_a_window_that_is_shown_in_place_of_its_sentence_is_the_context():
    window = f"It is old. {LADY.text} It still shines."
    sample = sample_from(search(LADY._replace(window=window)), answer(f"{window} {QUESTION}"))
    assert sample.contexts == (window,)


@pytest.mark.parametrize("nothing", ["[]", '{"documents": []}', [], {"documents": []}])
def test_a_tool_that_finds_nothing_is_a_stage_without_chunks(nothing: object):
    sample = sample_from(
        call("tool", "search", {"query": "lighthouse"}, nothing), answer("Be kind.", QUESTION, str(nothing))
    )
    assert sample.contexts == ()
    assert stages(sample)[0] == ("retrieved", "search", 0)
    assert sample.stages is not None
    assert sample.stages[0].query == "lighthouse"


def test_the_text_of_a_tool_is_a_chunk_unless_the_application_says_otherwise():
    def sample(rules: Rules) -> Sample:
        clock = Clock()
        return sample_of(
            run_of(
                clock.call("tool", "search", {"query": "lighthouse"}, "nothing found in the index"),
                clock.call("model", "llm", asked(QUESTION, "nothing found in the index"), "In 1893."),
            ),
            PLAIN,
            rules,
        )

    assert sample(Rules()).contexts == ("nothing found in the index",)
    assert sample(Rules(context_tools=("search",))).contexts == ("nothing found in the index",)
    assert sample(Rules(context_tools=("other",))).contexts == ()
    assert sample(Rules(not_evidence=("search",))).contexts == ()
    assert str(sample(Rules(not_evidence=("search",))).labels["found_contexts"]).endswith(
        "; not evidence by the options: search"
    )


def test_what_the_application_says_is_taken_and_marked_where_the_request_has_it_not():
    sample = sample_from(
        answer(f"{LADY.text} {QUESTION}"), contexts=NamedValue([LADY, FERRY], "context_key 'docs'")
    )
    assert sample.contexts == (LADY.text, FERRY.text)
    assert sample.shown == ("verified", "absent")


def test_without_a_request_the_last_stages_are_the_contexts_and_unseen():
    sample = sample_from(
        search(LADY, FERRY), call("postprocessor", "rank", [LADY, FERRY], [FERRY]), answered_by=()
    )
    assert (sample.contexts, sample.shown) == ((FERRY.text,), ("unseen",))


def test_the_wiring_and_not_the_clock_says_what_the_answer_was_made_of():
    clock = Clock()
    search = clock.call("retriever", "search", QUESTION, [LADY])
    answer = clock.call("model", "answerer", asked(f"{LADY.text} {QUESTION}"), "In 1893.", sources=[search])
    title = clock.call("model", "titler", asked("A title"), "Lighthouses", sources=[])
    other = clock.call("retriever", "elsewhere", QUESTION, [FERRY])
    sample = sample_of(run_of(search, answer, title, other, answered_by=[answer]), PLAIN)
    assert [name for _, name, _ in stages(sample)][:1] == ["search"]
    assert "elsewhere" not in {name for _, name, _ in stages(sample)}


def test_several_answers_are_none_and_the_line_to_write_is_told_once(caplog: pytest.LogCaptureFixture):
    for _ in range(2):
        with pytest.raises(Skip, match="several_answers"):
            sample_of(run_of(rivals=["writer", "titler"], line="answer_from='writer'"), PLAIN)
    assert [record.message.count("answer_from='writer'") for record in caplog.records] == [1]


def test_a_chunk_that_only_stands_in_the_question_was_not_shown():
    sample = sample_from(search(Doc("the lighthouse"), LADY), answer(f"{LADY.text[4:]} {QUESTION}"))
    assert sample.contexts == (LADY.text[4:],)


def test_a_chunk_that_was_an_answer_before_is_shown_where_a_tool_says_it():
    clock = Clock()
    request = [Said("user", "Who built it?"), Said("tool", f"{LADY.text} {FERRY.text}")]
    request += [Said("assistant", LADY.text), Said("user", QUESTION)]
    sample = sample_of(
        replace(
            run_of(
                clock.call("retriever", "search", QUESTION, [LADY, FERRY]),
                clock.call("model", "llm", request, "In 1893."),
            ),
            history=[CapturedMessage("user", "Who built it?"), CapturedMessage("assistant", LADY.text)],
        ),
        PLAIN,
    )
    assert set(sample.contexts or ()) == {LADY.text, FERRY.text}
    assert sample.shown == ("verified", "verified")


def test_chunks_that_share_their_beginning_are_told_apart():
    head = "Document of the harbour board, volume seven. "
    first, second = Doc(head + "It was built in 1893."), Doc(head + "It leaves at seven.")
    sample = sample_from(search(first, second), answer(f"{first.text} {QUESTION}"))
    assert sample.contexts == (first.text,)


def test_of_a_chunk_that_is_shown_behind_its_overlap_with_another_the_rest_is_a_context():
    overlap, rest = "The board meets on Mondays.", "Its chair is chosen by the five oldest skippers."
    first, second = Doc(f"{LADY.text} {overlap}"), Doc(f"{overlap} {rest}")
    sample = sample_from(search(first, second), answer(f"{first.text} {rest}\n{QUESTION}"))
    # the second chunk stands there whole, for its beginning is the end of the first
    assert sample.contexts == (first.text, second.text)
    assert sample.shown == ("verified", "verified")


def test_documents_of_an_earlier_turn_that_the_request_still_holds_are_contexts():
    clock = Clock()
    request = [Said("user", "And before?"), {"artifact": [LADY]}]

    def messages(value: object) -> list[CapturedMessage]:
        parts = value if isinstance(value, list) else []
        return [
            CapturedMessage(each.role, each.text)
            if isinstance(each, Said)
            else CapturedMessage("tool", each["artifact"][0].text)
            for each in parts
        ]

    sample = sample_of(
        run_of(clock.call("model", "llm", request, "In 1893.")), replace(PLAIN, messages=messages)
    )
    assert sample.contexts == (LADY.text,)


def test_nothing_but_the_question_in_the_request_shows_nothing():
    clock = Clock()
    sample = sample_of(run_of(clock.call("model", "llm", asked(QUESTION), "In 1893.")), PLAIN)
    assert (sample.contexts, sample.shown_stage is not None) == ((), True)


def test_what_a_redactor_takes_out_is_in_no_stage_and_no_message():
    sample = sample_from(search(LADY, FERRY), answer(f"{LADY.text} {QUESTION}")).redacted(
        lambda text: text.replace("1893", "[year]")
    )
    assert "1893" not in sample.model_dump_json()
    assert sample.shown == ("verified",)
    assert sample.unproven == ()


def test_a_stage_that_says_another_place_than_the_request_has_is_found_out():
    sample = sample_from(search(LADY), answer(f"{LADY.text} {QUESTION}"))
    assert sample.unproven == ()
    request = [Turn(role="user", content=f"Some other text than that. {QUESTION}")]
    assert [each.rank for each in sample.model_copy(update={"request_messages": request}).unproven] == [1]


INVENTED = "The lighthouse is made of solid gold and was a gift of the king."


@pytest.mark.parametrize(
    "others",
    [[{"facts": [INVENTED]}], ["So the king must have paid.", INVENTED]],
    ids=["arguments of a tool", "reasoning"],
)
def test_all_that_a_model_wrote_beside_its_reply_is_followed_back(others: list[object]):
    dialect = replace(
        PLAIN,
        messages=lambda value: (
            [CapturedMessage("assistant", "", others=others)] if value == "calls" else PLAIN.messages(value)
        ),
        text=lambda value: None if value == "calls" else PLAIN.text(value),
    )
    clock = Clock()
    made = [
        search(LADY)(clock),
        call("model", "writer", asked(f"Facts: {LADY.text}"), "calls")(clock),
        call("chain", "facts", {"docs": [LADY]}, {"docs": [Doc(INVENTED)]})(clock),
        answer(f"Use: {INVENTED}\n{QUESTION}")(clock),
    ]
    assert sample_of(run_of(*made), dialect).contexts == (LADY.text,)


def test_what_a_model_wrote_into_a_document_is_left_out_of_it():
    node = call("chain", "annotate", {"docs": [LADY]}, {"docs": [Doc(f"{LADY.text}\n{INVENTED}", "lady")]})
    sample = sample_from(
        call("model", "writer", asked("Describe it."), INVENTED),
        node,
        answer(f"Use: {LADY.text}\n{INVENTED}\n{QUESTION}"),
    )
    assert sample.contexts == (LADY.text,)


@pytest.mark.parametrize(
    "guess",
    ["The lighthouse was built in 1893 by the king himself.", "The lighthouse was built in 1893"],
)
def test_a_chunk_that_a_search_by_a_models_guess_found_is_evidence(guess: str):
    sample = sample_from(
        call("model", "guesser", asked("Write a passage."), guess),
        call("chain", "search", {"query": guess}, {"docs": [LADY, FERRY]}),
        answer(f"Use: {LADY.text}\n{QUESTION}"),
    )
    assert sample.contexts == (LADY.text,)


def test_a_tools_text_is_not_written_by_what_the_agent_said_before_it():
    said = "I will look it up. The lighthouse was built in 1893 by the harbour board, I think."
    sample = sample_from(
        call("model", "agent", asked(QUESTION), said),
        call("tool", "look up", {"query": "lighthouse"}, LADY.text),
        answer(QUESTION, said, LADY.text),
    )
    assert sample.contexts == (LADY.text,)


def test_a_grader_that_explains_itself_did_not_make_a_raw_clients_answer():
    sample = sample_from(
        search(LADY),
        call(
            "model",
            "grader",
            asked(f"Relevant? {LADY.text}"),
            "yes, it says at its very beginning that it was built in 1893",
        ),
        outputs="It was built in 1893.",
    )
    assert sample.shown == ("unseen",)


def test_a_message_after_another_of_other_words_names_the_option_that_decides():
    follow = "Would you like to know who paid for it?"
    said = [Said("user", QUESTION), Said("assistant", "In 1893, by the board."), Said("assistant", follow)]
    sample = sample_from(
        search(LADY),
        answer(f"{LADY.text} {QUESTION}"),
        call("model", "llm", asked("Suggest a question: In 1893, by the board."), follow),
        outputs=said,
    )
    assert (sample.answer, "extract=" in str(sample.labels["found_answer"])) == (follow, True)


# Chunks in other forms

PASSAGES = tuple(
    Doc(" ".join(f"{topic} number {n} is kept in the {place} of house {n + 40}." for n in range(1, 6)))
    for topic, place in (("Barrel", "cellar"), ("Basket", "attic"))
)
SENTENCE = re.compile(r"(?<=\.) ")
FORMS: dict[str, Callable[[str], str]] = {
    "bullets": lambda text: "\n".join(f"- {sentence}" for sentence in SENTENCE.split(text)),
    "numbers": lambda text: "\n".join(f"{n}. {part}" for n, part in enumerate(SENTENCE.split(text), start=1)),
    "cells": lambda text: "| " + " | ".join(SENTENCE.split(text)) + " |",
    "breaks": lambda text: text.replace(". ", ".<br/>"),
    "upper case": str.upper,
    "tags": lambda text: f"<doc><p>{text.replace('cellar', '<b>cellar</b>')}</p></doc>",
    "a replaced mark": lambda text: text.replace(".", ";"),
    "wrapped lines": lambda text: text.replace(" is ", "\nis "),
    "escaped": lambda text: f"[1]   {json.dumps(text)}",
}


@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize("form", FORMS)
def test_chunks_in_another_form_are_shown_as_a_whole(form: str, both: bool):
    first, second = (passage.text for passage in PASSAGES)
    prompt = f"{FORMS[form](first)}\n\n{FORMS[form](second) if both else second}\n{QUESTION}"
    sample = sample_from(search(*PASSAGES), answer(prompt))
    assert (sample.contexts, sample.shown) == ((first, second), ("verified", "verified"))
    assert unaccounted(sample) == []


# the first six of ten words; all but the fourth of them
@pytest.mark.parametrize(
    ("shown", "share"),
    [(LADY.text[:32], 6 / 10), (LADY.text.replace("built", "[DONE]"), 9 / 10)],
    ids=["beginning", "a word replaced"],
)
def test_a_chunk_of_which_a_part_was_shown_says_which_share(shown: str, share: float):
    sample = sample_from(search(LADY), answer(f"{shown}\n{QUESTION}"))
    assert sample.shown_stage is not None
    assert [chunk.share for chunk in sample.shown_stage.chunks] == [pytest.approx(share, abs=1e-3)]


# A second source

WEB = "The web says that the tower by the sea was finished two years later."
SHAPES: dict[str, object] = {
    "a text": WEB,
    "a list of texts": [WEB],
    "a mapping": {"url": "https://a.example", "content": WEB},
    "a list of mappings": [{"url": "https://a.example", "content": WEB}],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_text_of_a_function_is_a_context_only_if_the_function_is_named_as_evidence(shape: str):
    def sample(rules: Rules) -> Sample:
        clock = Clock()
        found = search(LADY)(clock)
        web = clock.call("chain", "web", {"question": QUESTION}, {"web": SHAPES[shape]})
        asking = clock.call("model", "llm", asked(f"{LADY.text}\n{SHAPES[shape]}", QUESTION), "In 1893.")
        return sample_of(run_of(found, web, asking), PLAIN, rules)

    assert sample(Rules()).contexts == (LADY.text,)
    assert unaccounted(sample(Rules())) == ["web"]
    assert {LADY.text, WEB} <= set(sample(Rules(evidence=("web",))).contexts or ())


def test_a_function_that_writes_after_all_documents_were_dropped_leaves_the_contexts_unknown():
    sample = sample_from(
        search(LADY),
        call("chain", "grade", {"docs": [LADY]}, {"docs": []}),
        call("chain", "web", {"docs": []}, {"web": WEB}),
        answer(f"{WEB}\n{QUESTION}"),
    )
    assert (sample.contexts, unaccounted(sample)) == (None, ["web"])


def test_two_tools_whose_results_have_one_form_are_two_contexts():
    rows = [
        f"The name of the city is {city} and its country is {land}."
        for city, land in (("Oslo", "Norway"), ("Rome", "Italy"))
    ]
    sample = sample_from(
        call("tool", "norway", {"query": "x"}, rows[0]),
        call("tool", "italy", {"query": "x"}, rows[1]),
        answer(*rows, QUESTION),
    )
    assert sample.contexts == tuple(rows)


# Drafts

GOLD = "The lighthouse is made of gold, as the old keepers of the coast have always known."
IRON = "The lighthouse is made of iron, which the smiths of the north beat with their hammers."


@pytest.mark.parametrize("length", [2, 9, 14])
@pytest.mark.parametrize("alike", [True, False])
def test_drafts_that_are_merged_were_made_from_the_documents_of_each(length: int, alike: bool):
    gold, iron = (" ".join(text.split()[-length:]) for text in (GOLD, IRON))
    drafts = (gold, gold if alike else iron)
    sample = sample_from(
        search(LADY),
        call("model", "first", asked(f"Use only: {LADY.text}", QUESTION), drafts[0]),
        search(FERRY),
        call("model", "second", asked(f"Use only: {FERRY.text}", QUESTION), drafts[1]),
        answer(f"Merge: {drafts[0]}\n{drafts[1]}"),
    )
    assert set(sample.contexts or ()) == {LADY.text, FERRY.text}


@pytest.mark.parametrize("length", [2, 9, 14])
def test_a_draft_that_is_criticised_and_revised_was_made_from_its_documents(length: int):
    draft, critique = " ".join(GOLD.split()[-length:]), "This is not what the documents say."
    sample = sample_from(
        search(LADY),
        call("model", "drafter", asked(f"Use only: {LADY.text}", QUESTION), draft),
        call("model", "critic", asked(f"Critique: {draft}"), critique),
        answer(f"Revise: {draft}\n{critique}"),
    )
    assert sample.contexts == (LADY.text,)


@pytest.mark.parametrize("length", [2, 9, 14])
def test_a_draft_that_was_made_from_nothing_shows_nothing(length: int):
    draft = " ".join(GOLD.split()[-length:])
    sample = sample_from(
        call("prompt", "drafting", {"question": QUESTION}, asked(f"From memory: {QUESTION}")),
        call("model", "drafter", asked(f"From memory: {QUESTION}"), draft),
        call("prompt", "polishing", {"draft": draft}, asked(f"Polish: {draft}")),
        answer(f"Polish: {draft}"),
    )
    assert sample.contexts == ()


def test_documents_that_a_model_wrote_stand_for_those_that_it_was_shown():
    sample = sample_from(
        search(LADY),
        call("model", "summarizer", asked(f"Summarise: {LADY.text}"), GOLD),
        call("chain", "summaries", {"docs": [LADY]}, {"docs": [Doc(GOLD)]}),
        answer(f"Use only: {GOLD}\n{QUESTION}"),
    )
    assert sample.contexts == (LADY.text,)


def test_answers_to_parts_of_the_question_were_made_from_the_documents_of_each():
    parts = ("It was built in the year 1893, says the first text.", "It leaves at seven, says the other.")
    sample = sample_from(
        search(LADY),
        call("model", "first", asked(f"Use only: {LADY.text}", "When was it built?"), parts[0]),
        search(FERRY),
        call("model", "second", asked(f"Use only: {FERRY.text}", "When does it leave?"), parts[1]),
        answer(f"Combine: {parts[0]}\n{parts[1]}"),
    )
    assert sample.contexts == (LADY.text, FERRY.text)


def test_two_searches_that_find_the_same_give_each_document_once():
    sample = sample_from(search(LADY), search(FERRY, LADY), answer(f"{LADY.text} {FERRY.text} {QUESTION}"))
    assert sample.contexts == (LADY.text, FERRY.text)
