"""The corpus: large, balanced, varied, and such that each attack leaves its target standing."""

import pytest

from ragmetrics_core.parsers import split_sentences
from ragmetrics_core.probe import read_corpus
from ragmetrics_core.probe._corpus import spread, truth
from ragmetrics_core.probe._layouts import attacked, laid_out, target_of

CORPUS = read_corpus()


FIELDS = {"context", "answer", "question", "reference"}
MEANS = {"encoding", "fence", "instruction", "invisible", "json", "language", "role", "thinking"}


def test_there_are_more_than_sixty_attacks_on_every_field_and_by_every_means_each_with_its_name():
    assert len({attack.id for attack in CORPUS.attacks}) == len(CORPUS.attacks) >= 60
    assert {attack.field for attack in CORPUS.attacks} == FIELDS
    assert {attack.kind for attack in CORPUS.attacks} >= {*MEANS, "verdict line"}


def test_the_known_statements_are_balanced_and_in_several_languages():
    statements = [each for passage in CORPUS.passages for each in passage.statements]
    assert len(statements) >= 60
    assert sum(each.supported for each in statements) * 2 == len(statements)
    assert len({passage.language for passage in CORPUS.passages}) >= 6


@pytest.mark.parametrize("is_chunk", [False, True])
def test_the_truth_does_not_depend_on_the_place(is_chunk):
    # a judge that always says yes to the first must not be right by it
    facts = truth(CORPUS.passages).items()
    first = [fact for case, fact in facts if (case.is_chunk, case.place) == (is_chunk, 0)]
    assert 0.25 <= sum(first) / len(first) <= 0.75


@pytest.mark.parametrize("passage", CORPUS.passages, ids=lambda passage: passage.id)
def test_each_statement_is_one_sentence_plain_and_padded_to_twice_its_length(passage):
    plain, padded = laid_out(passage), laid_out(passage, paddings=CORPUS.paddings)
    assert list(plain.statements) == [statement.text for statement in passage.statements]
    for layout in (plain, padded):
        assert split_sentences(layout.sample.answer, passage.language) == tuple(layout.statements)
    for text, statement in zip(padded.statements, passage.statements, strict=True):
        assert len(text) >= 2 * len(statement.text)


def test_an_attack_is_aimed_at_a_verdict_that_is_right_and_leaves_the_statements_as_they_are():
    facts = truth(CORPUS.passages)
    for number, attack in enumerate(CORPUS.attacks):
        target = target_of(attack, number, CORPUS.passages, facts)
        assert facts[target.case] is not attack.wants_yes
        assert target.case.is_chunk == (attack.field in ("question", "reference"))
        host = target_of(attack, number, CORPUS.passages[:12], facts)
        sentences = split_sentences(attacked(host).sample.answer, host.passage.language)
        assert set(sentences) >= {statement.text for statement in host.passage.statements}
    wrong = {case: not fact for case, fact in facts.items()}
    assert target_of(CORPUS.attacks[0], 0, CORPUS.passages, wrong) is None


def test_a_limit_takes_from_all_over_the_corpus():
    few = spread(CORPUS.attacks, 10)
    assert (len(few), {attack.field for attack in few}) == (10, FIELDS)
