"""Context entity recall: the reference's entities that the contexts name."""

import pytest

from ragmetrics_core.metrics import ContextEntityRecall

TAJ_MAHAL = {
    "contexts": ["The Taj Mahal is a symbol of love located in Agra, India."],
    "reference": "The Taj Mahal is a mausoleum on the bank of the Yamuna in Agra, commissioned in 1631.",
}
SIX = ["Taj Mahal", "Yamuna", "Agra", "1631", "Shah Jahan", "Mumtaz Mahal"]


def named(reference, contexts):
    return {"entities": {"entities": reference}, "context_entities": {"entities": contexts}}


def test_the_rich_context_of_the_taj_mahal_names_four_of_six_entities(measure):
    # Taj Mahal, Agra, Shah Jahan, Mumtaz Mahal are found; India is not in the reference. 4 / 6
    replies = named(SIX, ["Taj Mahal", "Agra", "Shah Jahan", "Mumtaz Mahal", "India"])

    score = measure(ContextEntityRecall(), replies, **TAJ_MAHAL).score

    assert score.value == 4 / 6
    assert score.counts == {"found": 4, "entities": 6, "context_entities": 5}


def test_case_punctuation_and_spaces_do_not_keep_entities_apart(measure):
    replies = named(["Shah Jahan", "St. John's"], ["shah  jahan", "st john s"])

    score = measure(ContextEntityRecall(), replies, **TAJ_MAHAL).score

    assert score.value == 1.0
    assert [verdict.reason for verdict in score.verdicts] == [
        "the contexts name 'shah  jahan'",
        "the contexts name 'st john s'",
    ]


def test_an_entity_that_the_reference_lists_twice_counts_once(measure):
    # Agra and India; Agra is found: 1 / 2
    replies = named(["Agra", "AGRA.", "India"], ["Agra"])
    assert measure(ContextEntityRecall(), replies, **TAJ_MAHAL).score.value == 0.5


def test_an_exact_match_tells_cases_apart(measure):
    replies = named(["Paris", "France"], ["paris", "France"])
    assert measure(ContextEntityRecall(match="exact"), replies, **TAJ_MAHAL).score.value == 0.5


def test_a_reference_without_entities_is_undefined(measure):
    score = measure(ContextEntityRecall(), named([], ["India"]), **TAJ_MAHAL).score
    assert (score.status, score.reason, score.value) == ("undefined", "no_entities", None)


@pytest.mark.parametrize("contexts", [[], ["", " "]])
def test_without_contexts_nothing_is_found_and_no_context_is_read(measure, contexts):
    # 0 / 6
    score, judge = measure(
        ContextEntityRecall(), {"entities": {"entities": SIX}}, **TAJ_MAHAL | {"contexts": contexts}
    )

    assert (score.status, score.value) == ("ok", 0.0)
    assert [request.prompt.name for request in judge.asked] == ["entities"]


@pytest.mark.parametrize("variant", ["ragas-0.1", "ragas-0.4"])
def test_the_ragas_variants_add_an_epsilon_and_match_exactly(measure, variant):
    # 1 / (2 + 1e-8); "paris" is not "Paris"
    replies = named(["Paris", "France"], ["paris", "France"])
    score = measure(ContextEntityRecall(variant=variant), replies, **TAJ_MAHAL).score
    assert score.value == 1 / (2 + 1e-8)


@pytest.mark.parametrize("variant", ["ragas-0.1", "ragas-0.4"])
def test_the_ragas_variants_score_a_reference_without_entities_zero(measure, variant):
    score = measure(ContextEntityRecall(variant=variant), named([], ["India"]), **TAJ_MAHAL).score
    assert (score.status, score.value) == ("ok", 0.0)
