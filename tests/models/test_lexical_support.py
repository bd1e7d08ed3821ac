"""Verdicts of the lexical judge that can be derived by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core.models.lexical.sources import read_source
from ragmetrics_core.models.lexical.support import Support, find_support
from ragmetrics_core.models.lexical.tokens import read_sentence
from ragmetrics_core.models.lexical.verdicts import Finding, chunk_findings, findings

CHUNK = (
    "Timer T310 is started when the UE detects a radio problem. It runs for 1 000 ms at most. "
    "The timer is not stopped by a handover. "
    "Rf connects the CTF with the CDF, and Ga connects the CDF with the CGF. "
    "The value 1 stands for eMBB, 2 for URLLC and 3 for MIoT. "
    "The Session Management Function (SMF) selects the UPF."
)


def verdict(statement: str, *chunks: str) -> Finding:
    (found,) = findings([statement], chunks or (CHUNK,), where="the contexts")
    return found


@pytest.mark.parametrize(
    "statement",
    [
        "Timer T310 is started when the UE detects a radio problem.",
        "When a radio problem is detected by the UE, T310 starts.",  # other order and inflection
        "The timer runs for 1000 ms.",  # the same number, written otherwise
        "T310 runs for 1 second.",  # the same amount in another unit
        "A handover does not stop the timer.",  # negated on both sides
        "Ga connects the CDF and the CGF.",
        "The value 2 stands for URLLC.",
        "The SMF selects the UPF.",  # the abbreviation stands in the source
        "Session Management Function selects the UPF.",
        "It runs for 1 000 ms.",
    ],
)
def test_a_statement_in_words_of_the_source_is_supported(statement: str):
    assert verdict(statement).supported, verdict(statement).reason


@pytest.mark.parametrize(
    ("statement", "because"),
    [
        ("The timer runs for 2 000 ms.", "the number 2 000 ms is not in the contexts"),
        ("The timer runs for 1 000 MHz.", "1 000 MHz is not in the contexts, which says 1 000 ms"),
        ("The timer runs for three seconds.", "three seconds is not in the contexts"),
        ("The timer is stopped by a handover.", "negated"),
        ("Timer T310 is not started when the UE detects a radio problem.", "negated"),
        ("Timer T311 is started when the UE detects a radio problem.", '"T311" is not in the contexts'),
        ("Rf connects the CDF with the CGF.", 'does not name "CGF"'),
        ("The value 3 stands for URLLC.", "2 stands there in place of 3"),
        ("Paris is the capital of France.", "none of its words is in the contexts"),
        ("The committee meets every year in a castle.", "none of its words"),
    ],
)
def test_a_changed_number_unit_name_or_negation_is_not_supported_and_the_reason_says_which(
    statement: str, because: str
):
    found = verdict(statement)

    assert not found.supported
    assert because in found.reason


def test_the_opposite_word_is_not_supported():
    source = "The short DRX cycle is optional; the long one is always configured."

    assert verdict("The short DRX cycle is optional.", source).supported
    assert not verdict("The long DRX cycle is optional.", source).supported


def test_a_negating_prefix_counts_as_a_negation():
    source = "Above 5 MHz the channel model is unsuitable."

    assert not verdict("Above 5 MHz the channel model is suitable.", source).supported
    assert verdict("Above 5 MHz the channel model is not suitable.", source).supported


def test_the_evidence_is_copied_from_the_source_letter_for_letter():
    chunk = "An  odd   spacing of “words”.\nTimer T310 runs for 1 000 ms (see TS 38.331)!"

    found = verdict("T310 runs for 1000 ms.", chunk)

    assert found.supported
    assert isinstance(found.evidence, str)
    assert found.evidence in chunk


def test_two_sentences_can_support_one_statement():
    chunks = ("Numerology 2 has a spacing of 60 kHz.", "A subframe has 4 slots for numerology 2.")

    found = verdict("At a spacing of 60 kHz a subframe has 4 slots.", *chunks)

    assert found.supported
    assert found.evidence == [chunks[1], chunks[0]] or found.evidence == [chunks[0], chunks[1]]


def test_chinese_without_spaces_is_compared_by_pairs_of_characters():
    source = "标准化的 5QI 1 的资源类型为 GBR，分组时延预算为 100 ms，典型业务是会话语音。"

    assert verdict("5QI 1 的典型业务是会话语音。", source).supported
    assert not verdict("5QI 1 的分组时延预算为 300 ms。", source).supported
    assert not verdict("5QI 1 的典型业务不是会话语音。", source).supported
    assert not verdict("北京是中国的首都。", source).supported


def test_across_languages_only_names_and_numbers_are_compared_and_the_reason_says_so():
    source = "For each PDU Session a single SDAP entity is configured, with up to 8 flows."

    right = verdict(
        "Für jede PDU-Sitzung wird eine einzige SDAP-Instanz mit bis zu 8 Flows eingerichtet.", source
    )
    wrong = verdict(
        "Für jede PDU-Sitzung wird eine einzige SDAP-Instanz mit bis zu 9 Flows eingerichtet.", source
    )

    assert right.supported
    assert "other language" in right.reason
    assert not wrong.supported


def test_what_the_question_says_need_not_be_said_again():
    question = "How many downlink HARQ processes does a UE support per cell?"
    statement = "A UE supports 16 downlink HARQ processes per cell."

    (with_question,) = findings([statement], ("At most 16.",), where="the reference", question=question)
    (without,) = findings([statement], ("At most 16.",), where="the reference")

    assert with_question.supported
    assert not without.supported


def test_what_the_reference_says_in_passing_is_not_asked_of_the_answer():
    question = "Which protocol is used on N4?"
    reference = "PFCP is used on N4, specified in TS 29.244."

    (found,) = findings([reference], ("It uses PFCP.",), where="the answer", question=question)

    assert found.supported


def test_a_remark_that_something_is_missing_is_supported_unless_a_sentence_has_it():
    assert verdict("The text does not mention the price of the licence.").supported
    assert not verdict("The text does not say when timer T310 is started.").supported


def test_a_reference_supports_a_remark_on_missing_information_only_when_it_makes_one_too():
    remark = ["I could not find this in the documents."]

    (against_fact,) = findings(remark, ("It has 10 bits.",), where="the reference")
    (against_remark,) = findings(remark, ("The documents do not say it.",), where="the reference")

    assert not against_fact.supported
    assert against_remark.supported


def test_a_statement_without_content_is_not_supported_and_says_so():
    found = verdict("This is it.")

    assert not found.supported
    assert "no word of content" in found.reason


def test_a_chunk_is_relevant_when_it_alone_holds_a_fact_of_the_reference():
    contexts = (
        "CDR files are transferred over Bx to the Billing Domain.",
        "A call is charged by its length.",
    )

    first, second = chunk_findings(
        contexts, question="How do CDR files reach the Billing Domain?", reference="Over Bx."
    )

    assert first.supported
    assert first.evidence == contexts[0]
    assert not second.supported


numbers = st.lists(st.sampled_from(["1", "1.200", "1,200", "5 km", "5000 m", "3 kg", "5", "x"]), max_size=8)


@given(statement=numbers, source=st.lists(numbers, max_size=4))
def test_looking_numbers_up_finds_what_comparing_each_with_each_does(
    statement: list[str], source: list[list[str]]
):
    held = read_source(tuple(" ".join(each) + "." for each in source))
    for quantity in read_sentence(", ".join(statement)).quantities:
        agreeing = {(place, other.readings, other.unit) for place, other in held.agreeing(quantity)}

        assert agreeing == {
            (place, other.readings, other.unit) for place, other in held.quantities if quantity.agrees(other)
        }


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


def test_order_of_the_chunks_does_not_change_the_verdicts():
    chunks = tuple(part.strip() + "." for part in CHUNK.split(". "))
    statements = [
        "Ga connects the CDF and the CGF.",
        "T310 runs for 1 second.",
        "Rf connects the CDF with the CGF.",
    ]

    forward = findings(statements, chunks, where="the contexts")
    backward = findings(statements, chunks[::-1], where="the contexts")

    assert forward == backward


WORDS = st.sampled_from(
    ["SMF", "UPF", "not", "selects", "the", "timer", "12", "ms", "long", "short", "it", "and", ","]
)
SENTENCES = st.lists(WORDS, min_size=1, max_size=8).map(lambda words: " ".join(words).capitalize() + ".")


@given(statement=SENTENCES, chunks=st.lists(SENTENCES, min_size=1, max_size=4), data=st.data())
def test_the_verdict_never_depends_on_the_order_of_the_chunks(
    statement: str, chunks: list[str], data: st.DataObject
):
    shuffled = data.draw(st.permutations(chunks))

    (first,) = findings([statement], tuple(chunks), where="the contexts")
    (second,) = findings([statement], tuple(shuffled), where="the contexts")

    assert (first.supported, first.score) == (second.supported, second.score)


@given(statement=st.text(max_size=80), text=st.text(max_size=200))
def test_any_text_gets_a_score_between_0_and_1_and_evidence_from_the_source(statement: str, text: str):
    found: Support = find_support(read_sentence(statement), source := read_source((text,)))

    assert 0 <= found.score <= 1
    assert found.reason
    assert set(found.evidence) <= {sentence.text for sentence in source.sentences}
