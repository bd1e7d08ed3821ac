"""The lexical judge as a judge: every prompt, the whole path, and its place in a run."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core import as_judge, evaluate, prompts, recompute
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import METRICS, get
from ragmetrics_core.parsers import Expected, Scale, split_sentences
from ragmetrics_core.prompts import Item, Prompt
from ragmetrics_core.protocol import Completion, Generate, Judge
from ragmetrics_core.testing import HashEmbedder
from ragmetrics_embedded import LexicalJudge
from tests.catalogue import NOT_EMBEDDED

TELECOM = Path(__file__).resolve().parents[3] / "examples" / "data" / "telecom.jsonl"
LIBRARY: list[Prompt[Any]] = [
    each for each in vars(prompts).values() if isinstance(each, Prompt) and each.name not in NOT_EMBEDDED
]
CONTEXTS = ("The SMF allocates the IP address of the UE. It also selects the UPF.", "PFCP is used on N4.")
VARIABLES: dict[str, Any] = {
    "question": "Which function allocates the IP address of the UE?",
    "answer": "The SMF allocates it. It uses PFCP on N4.",
    "reference": "The SMF allocates the IP address.",
    "first": "The SMF allocates it. It uses PFCP on N4.",
    "second": "The SMF allocates the IP address.",
    "before": "",
    "history": "user: What does the SMF do?",
    "after": "It rains.",
    "contexts": CONTEXTS,
    "count": 2,
    "items": (Item(1, "The SMF selects the UPF."), Item(2, "The AMF selects the UPF.")),
}


def request(prompt: Prompt[Any], *, draw: int = 0, draws: int = 1, **changed: Any) -> Generate[Any]:
    """A prompt of the library as a driver asks it."""
    values = VARIABLES | changed
    if prompt.name == "chunk_verdicts" and "items" not in changed:
        values["items"] = (Item(1, "chunk 1"), Item(2, "chunk 2"))
    shown = {name: values[name] for name in prompt.variables}
    items = shown.get("items", ())
    if prompt.numbered is not None:
        items = [Item(*pair) for pair in enumerate(split_sentences(shown[prompt.numbered]), start=1)]
    expected = Expected(
        numbers=tuple(item.number for item in items),
        items=tuple(item.text for item in items),
        size=values["count"] if "count" in shown else 1,
        scale=Scale(0, 10),
        form=prompt.user,
        graded=True,
    )
    return Generate(prompt=prompt, variables=shown, expected=expected, draw=draw, draws=draws)


def reply(prompt: Prompt[Any], **changed: Any) -> list[Completion]:
    """What the judge says to a prompt of the library."""
    return list(asyncio.run(LexicalJudge().agenerate(request(prompt, **changed))))


def read(prompt: Prompt[Any], **changed: Any) -> Any:
    """The reply as the prompt's own parser reads it, held to what a driver holds it to."""
    (completion,) = reply(prompt, **changed)
    assert completion.held_to == "graded"
    reading = prompt.answer.read(completion.text, request(prompt, **changed).expected)
    assert not reading.objections
    return reading.value


@pytest.mark.parametrize("prompt", LIBRARY, ids=lambda prompt: prompt.name)
def test_every_prompt_of_the_library_gets_a_reply_that_its_own_parser_reads(prompt: Prompt[Any]):
    assert read(prompt) is not None


@pytest.mark.parametrize("prompt", LIBRARY, ids=lambda prompt: prompt.name)
def test_the_same_request_gets_the_same_reply(prompt: Prompt[Any]):
    assert reply(prompt) == reply(prompt)


@pytest.mark.parametrize("prompt", LIBRARY, ids=lambda prompt: prompt.name)
def test_there_are_as_many_replies_as_draws(prompt: Prompt[Any]):
    assert len(reply(prompt, draws=3)) == 3


def test_it_is_a_judge_and_has_the_name_embedded():
    assert isinstance(LexicalJudge(), Judge)
    assert as_judge("embedded") == LexicalJudge()


def test_a_prompt_without_a_rule_is_an_error_that_names_those_with_one():
    with pytest.raises(
        ConfigError, match=r"no rule for the prompt 'haiku': use another judge; it knows accuracy_grade"
    ):
        LexicalJudge().check_prompts(["statements", "haiku"])


def test_it_does_not_guess_which_nuggets_are_vital_and_counts_all_of_them_alike():
    with pytest.raises(ConfigError, match="no rule for the prompt 'nugget_importance'"):
        evaluate(TELECOM, metrics="nugget_recall", judge=LexicalJudge())
    sample = {
        "id": "q1",
        "question": "What does the SMF do?",
        "answer": "The SMF allocates the address.",
        "reference": "The SMF allocates the address. The SMF selects the UPF and the rules. It pings.",
    }
    # in full, not at all, not at all: 1 / 3
    run = evaluate([sample], metrics="nugget_recall/all", judge=LexicalJudge())
    assert run.score("q1", "nugget_recall").value == pytest.approx(1 / 3)


def test_an_unknown_prompt_is_reported_before_a_run_begins():
    verify = Prompt(
        name="strange",
        version=1,
        answer=prompts.VERDICTS.answer,
        system="",
        user=prompts.VERDICTS.user,
    )

    with pytest.raises(ConfigError, match="no rule for the prompt 'strange'"):
        evaluate(
            [VARIABLES | {"items": None}], metrics=get("faithfulness", verify=verify), judge=LexicalJudge()
        )


def test_verdicts_come_with_the_number_that_was_asked_for_and_quoted_evidence():
    items = (Item(4, "The SMF selects the UPF."), Item(7, "The AMF registers 12 new users."))

    found = read(prompts.VERDICTS, items=items)

    assert [(verdict.number, verdict.supported) for verdict in found.verdicts] == [(4, True), (7, False)]
    assert found.verdicts[0].evidence[0] == "It also selects the UPF."
    assert '"AMF" is missing' in (found.verdicts[1].reason or "")
    low, high = found.verdicts[1].probability, found.verdicts[0].probability
    assert low is not None
    assert high is not None
    assert 0 <= low < 0.5 <= high <= 1


def test_the_free_text_verdicts_are_those_of_the_json_prompt():
    strict, paper = read(prompts.VERDICTS), read(prompts.PAPER_VERDICTS)

    assert [each.supported for each in paper.verdicts] == [each.supported for each in strict.verdicts]


def test_only_the_chunks_that_are_asked_about_again_get_a_verdict():
    found = read(prompts.CHUNK_VERDICTS, items=(Item(2, "chunk 2"),))

    assert [(verdict.number, verdict.supported) for verdict in found.verdicts] == [(2, False)]


def test_separate_draws_ask_different_questions():
    texts = [completion.text for completion in reply(prompts.PAPER_QUESTION, draws=2)]
    later = [completion.text for completion in reply(prompts.PAPER_QUESTION, draw=1)]

    assert texts[0] != texts[1]
    assert later == texts[1:]


def test_an_answer_that_declines_is_flagged_with_a_reason():
    answer = "I could not find this in the documents."

    said = read(prompts.STATEMENTS, answer=answer)
    assert (said.declined, said.reason) == (True, "it says that no answer was found")
    assert all(question.noncommittal for question in read(prompts.QUESTIONS, answer=answer).questions)
    assert read(prompts.STATEMENTS).declined is False


def test_sentences_are_named_by_the_numbers_that_the_prompt_shows():
    question = "Which function selects the UPF?"
    (_, user) = prompts.RELEVANT_SENTENCES.render({"question": question, "contexts": CONTEXTS})

    found = read(prompts.RELEVANT_SENTENCES, question=question)

    assert found.numbers == (2,)
    assert "[2] It also selects the UPF." in user.content


def test_nothing_relevant_is_insufficient_information():
    question = "Who painted the Mona Lisa?"

    assert read(prompts.RELEVANT_SENTENCES, question=question).numbers == ()
    assert read(prompts.PAPER_SENTENCES, question=question).sentences == ()


def test_a_list_in_the_answer_is_not_taken_for_lines_of_the_sample():
    # the numbered reply repeats the numbered answer word for word
    answer = "1. Create opens a session.\n2. Delete closes it."

    assert (
        read(prompts.PAPER_STATEMENTS, answer=answer).statements
        == read(prompts.STATEMENTS, answer=answer).statements
    )


def test_tags_of_reasoning_models_in_a_sample_do_not_cut_the_reply():
    items = (Item(1, "The SMF selects the UPF."), Item(2, "The SMF selects the UPF."))

    found = read(prompts.VERDICTS, contexts=("The </think> SMF selects <think> the UPF.",), items=items)

    assert [verdict.supported for verdict in found.verdicts] == [True, True]


def test_facts_of_both_are_tp_and_others_fp_or_fn():
    found = read(
        prompts.PAPER_FACTS,
        answer="The SMF allocates the address. The UPF has 12 ports.",
        reference="The SMF allocates the address. The AMF selects the SMF.",
    )

    assert found.tp == ("The SMF allocates the address.",)
    assert found.fp == ("The UPF has 12 ports.",)
    assert found.fn == ("The AMF selects the SMF.",)


def test_every_metric_and_variant_of_the_catalogue_is_measured_on_the_example_data():
    asking = {name: metric for name, metric in METRICS.items() if "judge" in metric.needs}
    every = [get(name, variant=variant) for name, metric in asking.items() for variant in metric.variants]
    every = [metric for metric in every if not metric.prompt_names & NOT_EMBEDDED]

    run = evaluate(TELECOM, metrics=every, judge=LexicalJudge(), embedder=HashEmbedder())

    assert {record.status for record in run.records()} <= {"ok", "undefined", "incomplete"}
    undecided = [record for record in run.records() if record.status == "incomplete"]
    # a German answer to an English text
    assert {record.sample_id for record in undecided} == {"tc-50"}
    assert all("undecided_verdicts" in str(record.reason) for record in undecided)
    # it replies in JSON, whatever a prompt asks for
    assert {step.rule for record in run.records() for step in record.generate_steps} == {"json"}


def test_its_scores_can_be_recomputed_from_their_records():
    run = evaluate(TELECOM, judge=LexicalJudge())

    assert all(recompute(record).value == record.value for record in run.records())


def test_answers_of_the_example_data_that_say_something_else_score_below_right_ones():
    run = evaluate(TELECOM, judge=LexicalJudge())
    kinds = {sample_id: run.sample(sample_id).labels["kind"] for sample_id in run.sample_ids}

    def mean(metric: str, kind: str) -> float:
        values = [run.score(name, metric).value for name, known in kinds.items() if known == kind]
        return sum(value or 0.0 for value in values) / len(values)

    assert mean("faithfulness", "right") > mean("faithfulness", "unsupported")
    for kind in ("unsupported", "wrong"):
        assert mean("factual_correctness", "right") > mean("factual_correctness", kind)


TEXTS = st.text(max_size=120)


@given(
    question=TEXTS,
    answer=TEXTS,
    reference=TEXTS,
    contexts=st.lists(TEXTS, min_size=1, max_size=3),
    said=TEXTS,
)
def test_no_text_makes_it_raise_and_every_reply_to_a_json_prompt_is_read(
    question: str, answer: str, reference: str, contexts: list[str], said: str
):
    values: dict[str, Any] = {
        "question": question,
        "answer": answer,
        "reference": reference,
        "first": answer,
        "second": reference,
        "before": question,
        "history": f"user: {question}",
        "after": reference,
        "contexts": tuple(contexts),
        "items": (Item(1, said),),
    }

    for prompt in LIBRARY:
        changed = dict(values)
        if prompt.name == "chunk_verdicts":
            changed["items"] = (Item(1, "chunk 1"),)
        assert read(prompt, **changed) is not None
