"""Kinds of questions: what each must pass, and what its sample looks like."""

import pytest

from ragmetrics_core.questions import QuestionSet, generate_questions, plan_questions
from tests.questions.towers import PLACES, Towers, documents, good, sentence_of


@pytest.fixture
def made(tmp_path):
    def made(towers, **settings):
        settings = {"per": 6, "tries": 1, "first_hit_share": 1.0, **settings}
        return generate_questions(documents(), out=tmp_path, judge=towers.judge, progress=False, **settings)

    return made


def unanswerable(place):
    reply = good(place, question=f"Who cleans the tower of {place}?")
    del reply["questions"][0]["answer"]
    return reply


def follow_up(place):
    earlier = {
        "earlier_question": f"What is the tower of {place}?",
        "earlier_answer": f"The tower of {place} is a building.",
    }
    return good(place, question="Who built it?", **earlier)


def test_an_unanswerable_question_is_kept_if_no_passage_answers_it(made):
    # every passage is insufficient
    faults = dict.fromkeys((place for places in PLACES.values() for place in places), "insufficient")
    found = made(Towers(written=unanswerable, **faults), kinds=["unanswerable"])

    assert len(found) == 6
    assert {each.answer for each in found.questions} == {None}
    sample = found.samples()[0]
    assert (sample.reference, sample.reference_contexts) == (None, None)
    assert found.audit() == []


def test_an_unanswerable_question_that_its_passage_answers_is_dropped(made):
    found = made(Towers(written=unanswerable), kinds=["unanswerable"])

    assert found.counts == {"answered_by_documents": 6}
    assert not found.is_complete


def test_a_wrong_premise_is_kept_if_the_quotes_support_its_correction(made):
    # the passage does not answer the question as it is asked; of one, the correction is not supported
    faults = {"Bergen": "insufficient", "Oslo": "unfaithful"}
    found = made(Towers(**faults), kinds=["wrong_premise"])

    assert len(found) == 5
    assert found.counts == {"not_answered_by_quotes": 1}
    assert not (found.path / "without").exists()


def test_a_follow_up_question_has_the_turns_before_it(made):
    found = made(Towers(written=follow_up), kinds=["follow_up"], per=2)

    question = found.questions[0]
    place = question.quotes[0].document
    assert [turn.content for turn in question.history] == [
        f"What is the tower of {place}?",
        f"The tower of {place} is a building.",
    ]
    assert found.samples()[0].history == question.history
    assert found.audit() == []


@pytest.mark.parametrize(("quoted", "codes"), [(2, {}), (1, {"one_passage_only": 1})])
def test_a_multi_hop_question_needs_a_quote_from_both_passages(tmp_path, quoted, codes):
    # two passages share the name Ingeborg Krag
    texts = [
        f"{sentence_of('Oslo')} Its plan is by Ingeborg Krag.",
        "Far away near Hamar, Ingeborg Krag painted wooden boats and never travelled without a compass.",
    ]
    corpus = [{"id": "a", "text": texts[0]}, {"id": "b", "text": texts[1]}]
    quotes = [sentence_of("Oslo"), texts[1]][:quoted]
    towers = Towers(written=lambda place: good(place, quotes=quotes))
    found = generate_questions(
        corpus,
        out=tmp_path,
        judge=towers.judge,
        per=1,
        kinds=["multi_hop_specific"],
        tries=1,
        first_hit_share=1,
        progress=False,
    )

    assert found.counts == codes
    assert len(found) == 1 - len(codes)


def test_without_pairs_of_passages_the_set_says_why_it_has_no_multi_hop_questions(tmp_path):
    corpus = [{"id": "a", "text": sentence_of("Oslo")}]
    found = generate_questions(
        corpus, out=tmp_path, judge=Towers().judge, per=2, kinds=["multi_hop_specific"], progress=False
    )

    assert len(found) == 0
    assert found.summary.cells[0].why_short == "no two passages share a rare word"
    assert not found.is_complete


def test_kinds_are_spread_by_their_weights(made):
    # weights 2 to 1 of 6 questions: 4 and 2
    found = made(Towers(), kinds={"single_hop_specific": 2, "wrong_premise": 1})

    asked = {cell.kind: cell.asked for cell in found.summary.cells}
    assert asked == {"single_hop_specific": 4, "wrong_premise": 2}


def test_styles_lengths_and_personas_are_taken_in_turn(made):
    found = made(
        Towers(), styles=["misspelled", "web_search_like"], lengths=["short"], personas=["Ada: a nurse"]
    )

    assert [each.style for each in found.questions].count("misspelled") == 3
    assert {each.length for each in found.questions} == {"short"}
    assert {each.persona.role_description for each in found.questions} == {"a nurse"}
    assert QuestionSet.read(found.path).questions == found.questions


def test_a_second_question_on_a_passage_is_asked_with_the_first_one_named(tmp_path):
    # 1 passage for 3 questions: the first round asks for all at once, the next names what was written
    towers = Towers()
    generate_questions(
        documents({"Norway": ["Oslo"]}), out=tmp_path, judge=towers.judge, per=3, progress=False
    )
    briefs = [request.variables["brief"] for request in towers.judge.asked if "brief" in request.variables]

    assert briefs[0] == ""
    assert "other_than: Who built the tower of Oslo?" in briefs[-1]


def test_a_plan_counts_a_round_in_which_all_candidates_pass():
    # 2 questions: a call to write each; sufficiency, statements, verdicts, quality and 2 calls without
    # documents on the quotes; sufficiency of another passage and of the first hit, which is the quote
    plan = plan_questions(documents(), judge=Towers().judge, per=2)

    assert plan.candidates == 2
    assert plan.stages["written"].total.calls == 2
    assert plan.stages["without"].total.calls == 2
    assert plan.most_calls == 3 * plan.calls
