"""The funnel: which stage lost the relevant chunks, and what each search brought."""

import pytest

from ragmetrics_core import Sample, evaluate
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.samples import Stage, StageChunk
from ragmetrics_core.study import study_funnel

GOLD, OTHER, THIRD = "Ferries cross the sound at seven.", "The mill grinds rye.", "Owls hunt by ear."
IDS = {GOLD: "gold", OTHER: "other", THIRD: "third"}


def stage(name, component, *texts, query="When do ferries cross?", ids=True):
    chunks = [
        StageChunk(text=text, id=IDS[text] if ids else None, rank=rank)
        for rank, text in enumerate(texts, start=1)
    ]
    return Stage(name=name, component=component, query=query, chunks=tuple(chunks))


def sample(*stages, shown=(), answer="At seven.", **fields):
    last = stage("shown", "llm", *shown)
    return Sample(
        question="When do ferries cross?",
        answer=answer,
        contexts=shown,
        stages=(*stages, last),
        **({"reference_context_ids": ["gold"]} | fields),
    )


def funnel_of(*samples):
    made = [each.model_copy(update={"id": f"s{number}"}) for number, each in enumerate(samples, start=1)]
    return study_funnel(evaluate(made, metrics="faithfulness", judge="embedded"))


def test_the_stage_that_had_a_relevant_chunk_last_lost_it():
    # found in both samples, dropped by the ranker in the first: recall 1, 1/2, 1/2
    funnel = funnel_of(
        sample(stage("retrieved", "search", GOLD, OTHER), stage("reranked", "ranker", OTHER), shown=(OTHER,)),
        sample(stage("retrieved", "search", OTHER, GOLD), stage("reranked", "ranker", GOLD), shown=(GOLD,)),
    )
    assert [(each.stage, each.component, each.recall.value, each.lost) for each in funnel.stages] == [
        ("retrieved", "search", 1.0, 0),
        ("reranked", "ranker", 0.5, 1),
        ("shown", "", 0.5, 0),
    ]
    assert [lost[:4] for lost in funnel.lost] == [("s1", "gold", "reranked", "ranker")]


def test_a_chunk_that_no_search_finds_and_one_that_the_prompt_drops_are_told_apart():
    funnel = funnel_of(
        sample(stage("retrieved", "search", OTHER), shown=(OTHER,)),
        sample(stage("retrieved", "search", GOLD, OTHER), shown=(OTHER,)),
    )
    assert [(lost.stage, lost.component) for lost in funnel.lost] == [
        ("", "not found by any search"),
        ("shown", "shown to the model"),
    ]


def test_a_chunk_that_one_of_two_searches_finds_is_not_lost_by_the_other():
    funnel = funnel_of(
        sample(
            stage("retrieved", "words", GOLD),
            stage("retrieved", "vectors", OTHER),
            stage("fused", "joiner", GOLD, OTHER),
            shown=(GOLD, OTHER),
        )
    )
    assert funnel.lost == ()
    assert [each.recall.value for each in funnel.stages] == [1.0, 0.0, 1.0, 1.0]
    assert [hop.samples for hop in funnel.hops] == [1]


def test_quotes_are_found_in_chunks_that_have_no_ids():
    funnel = funnel_of(
        sample(
            stage("retrieved", "search", GOLD, OTHER, ids=False),
            stage("filtered", "cutoff", ids=False),
            reference_context_ids=None,
            reference_contexts=["cross the  sound"],
        )
    )
    assert [lost[1:] for lost in funnel.lost] == [("cross the  sound", "filtered", "cutoff")]


def test_each_search_says_what_it_brought_and_the_same_one_twice_is_told():
    # the second search asks the same again, the third brings the relevant chunk: 0, 0 and 1 new relevant ones
    funnel = funnel_of(
        sample(
            stage("retrieved", "search", OTHER, query="ferries"),
            stage("retrieved", "search", OTHER, query="Ferries "),
            stage("retrieved", "search", GOLD, query="ferry times"),
            shown=(GOLD,),
        )
    )
    assert [tuple(hop) for hop in funnel.hops] == [(1, 1, 0.0, 0, 0), (2, 1, 0.0, 1, 1), (3, 1, 1.0, 0, 0)]
    assert [(each.finding, each.what) for each in funnel.findings] == [("same search twice", "Ferries ")]


def test_an_answer_without_a_search_and_a_search_that_nobody_needed_are_told():
    message = {"role": "user", "content": "When do ferries cross?"}
    unsearched = Sample(
        question="When do ferries cross?",
        answer="At seven.",
        contexts=(),
        request_messages=[message],
        reference_context_ids=["gold"],
    )
    needless = sample(stage("retrieved", "search", OTHER), shown=(OTHER,), reference_context_ids=[])
    funnel = funnel_of(unsearched, needless)
    assert [(each.sample_id, each.finding) for each in funnel.findings] == [
        ("s1", "answer without a search"),
        ("s2", "search not needed"),
    ]


def test_the_shown_chunks_that_a_supported_statement_quotes_are_used():
    # of two chunks the answer repeats one
    funnel = funnel_of(
        sample(
            stage("retrieved", "search", GOLD, OTHER),
            shown=(GOLD, OTHER),
            answer="Ferries cross the sound at seven.",
        )
    )
    assert funnel.used is not None
    assert funnel.used.value == 0.5


def test_a_run_without_stages_has_no_funnel():
    with pytest.raises(ConfigError, match="what became of its retrieval"):
        study_funnel(
            evaluate(
                [{"question": "q", "answer": "a", "contexts": ["c"]}],
                metrics="faithfulness",
                judge="embedded",
            )
        )
