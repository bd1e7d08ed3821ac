"""Statements, refusals, questions, entities and relevant sentences, as the lexical judge finds them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_embedded._rules.entities import entities_of
from ragmetrics_embedded._rules.questions import questions_for
from ragmetrics_embedded._rules.refusals import is_missing_remark, refusal
from ragmetrics_embedded._rules.relevance import relevant_sentences
from ragmetrics_embedded._rules.statements import statements_of

DECLINING = [
    "NO ANSWER FOUND.",
    "I don't know.",
    "I could not find this in the documents.",
    "The text does not mention it.",
    "The provided context doesn't explicitly state the year.",
    "Based on the given passages, there is no mention of the price.",
    "Unable to answer based on given passages.",
    "I'm sorry, but I cannot help with that.",
    "It is not specified in the provided text.",
    "N/A",
    "Dazu gibt es keine Informationen.",
    "Das wird im Text nicht erwähnt.",
    "Je ne sais pas.",
    "Le texte ne précise pas la date.",
    "El texto no menciona la fecha.",
    "Non lo so.",
    "O texto não menciona isso.",
    "Ik weet het niet.",
    "Я не знаю.",
    "文中没有提到这一点。",
    "抱歉，我无法回答。",
    "わかりません。",
    "모르겠습니다.",
    "मुझे नहीं पता।",
    "لا أعرف.",
]
ANSWERING = [
    "Paris.",
    "It does not depend on the numerology.",
    "The data does not leave the network.",
    "A UE in RM-DEREGISTERED has no valid location.",
    "The air does not contain water.",
    "He was not found guilty.",
    "The document does not expire.",
    "Der Stoff ist nicht giftig.",
    "No hay vida en Marte.",
    "Lisboa não é a capital da Espanha.",
    "该公司未提供服务。",
    "",
]


@pytest.mark.parametrize("answer", DECLINING)
def test_an_answer_that_declines_is_recognised_in_many_languages(answer: str):
    assert refusal(answer) is not None


@pytest.mark.parametrize("answer", ANSWERING)
def test_a_negative_statement_is_no_refusal(answer: str):
    assert refusal(answer) is None


def test_an_answer_that_begins_with_a_remark_and_then_answers_is_no_refusal():
    answer = "The documents do not mention the year. However, the treaty was signed in Rome."

    assert is_missing_remark(answer)
    assert refusal(answer) is None


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        (
            "Answer: The SMF selects a UPF. (Based on the given context.)",
            ("The SMF selects a UPF.",),
        ),
        (
            "RRC is in the gNB-CU; RLC is in the gNB-DU.",
            ("RRC is in the gNB-CU.", "RLC is in the gNB-DU."),
        ),
        (
            "The SEAF chooses the method and tells the UDM which one to use.",
            ("The SEAF chooses the method and tells the UDM which one to use.",),
        ),
        (
            "NG-U uses GTP-U, which runs over TCP.",
            ("NG-U uses GTP-U, which runs over TCP.",),
        ),
        (
            "The GMLC is asked first. It checks the client.",
            ("The GMLC is asked first.", "It checks the client."),
        ),
        (
            "According to the provided passages, Ada Lovelace wrote it.",
            ("Ada Lovelace wrote it.",),
        ),
        # words that are only joined stay together
        ("It has a head and a tail.", ("It has a head and a tail.",)),
        ("The SMF allocates and manages the address.", ("The SMF allocates and manages the address.",)),
        ("If it rains and it is cold, we stay.", ("If it rains and it is cold, we stay.",)),
        ("Four operations:\n1. Create\n2. Delete", ("Create.", "Delete.")),
        ("Yes.", ("Yes.",)),
        ("Yes. The timer is running.", ("The timer is running.",)),
        ("", ()),
    ],
)
def test_statements_are_sentences_without_framing(text: str, statements: tuple[str, ...]):
    assert statements_of(text) == statements


def test_the_prose_of_other_languages_is_split_at_sentences_only():
    text = "Die SMF wählt eine UPF aus und sendet ihr die Regeln. 它选择UPF。"

    assert statements_of(text) == ("Die SMF wählt eine UPF aus und sendet ihr die Regeln.", "它选择UPF。")


def test_questions_ask_for_the_subject_and_for_the_predicate_in_the_words_of_the_answer():
    assert questions_for("The SMF allocates the IP address.", 2) == (
        "What allocates the IP address?",
        "What is known of the SMF?",
    )


def test_the_first_questions_come_from_different_statements():
    first, second = questions_for("The SMF allocates the IP address. The UPF forwards the packets.", 2)

    assert "IP address" in first
    assert "packets" in second


@pytest.mark.parametrize(
    ("text", "entities"),
    [
        (
            "Marie Curie worked in Paris with 3 mg of radium.",
            ("Marie Curie", "Paris", "3 mg"),
        ),
        ("The SMF sends it over N4, see TS 29.244.", ("SMF", "N4", "TS 29.244")),
        (
            "It was signed on 12 March 1957 by the University of Rome.",
            ("12 March 1957", "University of Rome"),
        ),
        ("The SMF, the SMF and the UPF.", ("SMF", "UPF")),  # each once
        ("The cat sat on the mat.", ()),
        ("Die Katze sitzt auf der Matte in der SMF.", ("SMF",)),  # German nouns are no names
        ("5QI 1 的资源类型为 GBR，时延为 100 ms。", ("5QI 1", "GBR", "100 ms")),
    ],
)
def test_entities_are_names_abbreviations_references_dates_and_quantities(
    text: str, entities: tuple[str, ...]
):
    assert entities_of(text) == entities


CONTEXTS = (
    "The UPF forwards packets. It is controlled over N4.",
    "The SMF allocates the IP address of the UE. The weather is fine.",
)


def test_the_sentences_that_share_the_rare_words_of_the_question_are_relevant():
    found = relevant_sentences("Which function allocates the IP address of a UE?", CONTEXTS)

    assert found == {2: "The SMF allocates the IP address of the UE."}


def test_no_sentence_is_relevant_to_a_question_about_something_else():
    assert relevant_sentences("Who painted the Mona Lisa?", CONTEXTS) == {}


@given(st.text(max_size=300))
def test_no_text_makes_a_rule_raise(text: str):
    assert all(statements_of(text))
    assert all(question for question in questions_for(text, 3))
    assert all(entities_of(text))
    assert all(relevant_sentences(text, (text,)).values())
    refusal(text)
