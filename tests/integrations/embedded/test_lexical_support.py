"""Verdicts of the embedded judge that can be derived by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_embedded._rules.verdicts import LexicalVerdict, chunk_findings, compared, findings
from ragmetrics_embedded._support.quantities import readings

CHUNK = (
    "Timer T310 is started when the UE detects a radio problem. It runs for 1 000 ms at most. "
    "The timer is not stopped by a handover. "
    "Rf connects the CTF with the CDF, and Ga connects the CDF with the CGF. "
    "The Session Management Function (SMF) selects the UPF."
)


def verdict(statement: str, *chunks: str) -> LexicalVerdict:
    (found,) = findings([statement], chunks or (CHUNK,))
    return found


def on_reference(statement: str, reference: str, question: str) -> LexicalVerdict:
    (found,) = compared([statement], reference, where="the reference", question=question)
    return found


@pytest.mark.parametrize(
    "statement",
    [
        "Timer T310 is started when the UE detects a radio problem.",
        "When a radio problem is detected by the UE, T310 starts.",  # other order and inflection
        "The timer runs for 1000 ms.",  # the same number, written otherwise
        "A handover does not stop the timer.",  # negated on both sides
        "Ga connects the CDF and the CGF.",
        "The SMF selects the UPF.",  # the abbreviation stands in the source
        "It runs for 1 000 ms.",
    ],
)
def test_a_statement_in_words_of_the_source_is_supported(statement: str):
    assert verdict(statement).supported, verdict(statement).reason


@pytest.mark.parametrize(
    ("statement", "because"),
    [
        ("The timer runs for 2 000 ms.", "the number 2 000 is missing"),
        ("The timer runs for 1 000 MHz.", "1 000 has another unit there"),
        ("Paris is the capital of France.", "0 of 3 content words"),
        ("The committee meets every year in a castle.", "0 of"),
    ],
)
def test_a_changed_number_unit_or_name_is_less_probable_and_the_reason_says_which(
    statement: str, because: str
):
    found = verdict(statement)

    assert not found.supported
    assert because in found.reason


def test_the_evidence_is_copied_from_the_source_letter_for_letter():
    chunk = "An  odd   spacing of “words”.\nTimer T310 runs for 1 000 ms (see TS 38.331)!"

    found = verdict("T310 runs for 1000 ms.", chunk)

    assert found.supported
    assert isinstance(found.evidence, str)
    assert found.evidence in chunk


def test_chinese_without_spaces_is_compared_by_pairs_of_characters():
    source = "标准化的 5QI 1 的资源类型为 GBR，分组时延预算为 100 ms，典型业务是会话语音。"

    assert verdict("5QI 1 的典型业务是会话语音。", source).supported
    assert not verdict("北京是中国的首都。", source).supported


@pytest.mark.parametrize(
    ("statement", "reference", "question"),
    [
        ("A UE supports 16 downlink HARQ processes per cell.", "At most 16.", "How many processes?"),
        ("Nick Bakay", 'Nicholas "Nick" Bakay', "who does the voice of salem the cat"),
        ("The group is the Maldives.", "Republic of Maldives/Maldive islands/Maldives", "Which islands?"),
        ("six", "6", "how many episodes of the killing"),
        ("It opened on 6 July 2017.", "July 2017", "when did it open"),
        ("AM", "AM", "which mode is used"),
        ("The Who", "The Who", "which band wrote it"),
        ("Lloyd", "Christopher Lloyd", "who plays the doc"),
    ],
)
def test_a_short_answer_is_a_statement_whatever_its_grammar(statement: str, reference: str, question: str):
    assert on_reference(statement, reference, question).supported
    assert on_reference(reference, statement, question).supported


@pytest.mark.parametrize(
    ("statement", "reference", "question"),
    [
        ("A UE supports 8 downlink HARQ processes per cell.", "At most 16.", "How many processes?"),
        ("It opened in July 2018.", "July 2017", "when did it open"),
        ("Steven Kynman", "Ben Faulks", "who plays reggie the robot"),
        ("austin texas", "Pflugerville", "where was friday night lights filmed"),
    ],
)
def test_another_short_answer_is_not_supported(statement: str, reference: str, question: str):
    assert not on_reference(statement, reference, question).supported
    assert not on_reference(reference, statement, question).supported


def test_a_remark_that_something_is_missing_is_supported_unless_a_sentence_has_it():
    assert verdict("The text does not mention the price of the licence.").supported
    assert not verdict("The text does not say when timer T310 is started.").supported


def test_a_reference_supports_a_remark_on_missing_information_only_when_it_makes_one_too():
    remark = "I could not find this in the documents."

    assert not on_reference(remark, "It has 10 bits.", "How long is it?").supported
    assert on_reference(remark, "The documents do not say it.", "How long is it?").supported


def test_a_chunk_is_relevant_when_it_alone_holds_a_fact_of_the_reference():
    contexts = (
        "CDR files are transferred over Bx to the Billing Domain.",
        "A call is charged by its length.",
    )

    first, second = chunk_findings(
        contexts, question="How do CDR files reach the Billing Domain?", reference="Over Bx."
    )

    assert first.supported
    assert not second.supported


@pytest.mark.parametrize("text", ["[1, 2", "1.", " ", "7 km, "])
def test_a_text_of_nothing_but_numbers_or_spaces_is_judged_like_any_other(text: str):
    # comparing each number with each for each of them would take hours here
    long = text * (30_000 // len(text))

    assert verdict(f"The rate is {long} high.", f"The rate was {long} low.").reason


def test_a_worse_fit_has_a_lower_score():
    fits = verdict("Timer T310 is started when the UE detects a radio problem.")
    half = verdict("Timer T310 is started when the user presses a button.")
    none = verdict("Paris is the capital of France.")

    assert 1 >= fits.score > half.score > none.score >= 0


WORDS = st.sampled_from(
    ["SMF", "UPF", "not", "selects", "the", "timer", "12", "ms", "long", "short", "it", "and", ","]
)
SENTENCES = st.lists(WORDS, min_size=1, max_size=8).map(lambda words: " ".join(words).capitalize() + ".")


@given(statement=SENTENCES, chunks=st.lists(SENTENCES, min_size=1, max_size=4), data=st.data())
def test_the_verdict_never_depends_on_the_order_of_the_chunks(
    statement: str, chunks: list[str], data: st.DataObject
):
    shuffled = data.draw(st.permutations(chunks))

    assert findings([statement], tuple(chunks)) == findings([statement], tuple(shuffled))


@given(statement=st.text(max_size=80), text=st.text(max_size=200))
def test_any_text_gets_a_score_between_0_and_1_and_evidence_from_the_source(statement: str, text: str):
    for found in (verdict(statement, text), on_reference(statement, text, text)):
        assert 0 <= found.score <= 1
        assert found.reason
        quotes = [found.evidence] if isinstance(found.evidence, str) else found.evidence
        assert all(quote in text for quote in quotes)


@pytest.mark.parametrize(
    ("one", "other"),
    [("1 200", "1200"), ("1,200", "1200"), ("1.200", "1200"), ("0.50", ".5"), ("007", "7")],
)
def test_a_number_has_the_same_reading_in_whatever_way_it_is_written(one: str, other: str):
    assert readings(one) & readings(other)
