"""What the bundled judge leaves open: another language, no words to compare, amounts in other units."""

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.models import Cascade
from ragmetrics_core.testing import ScriptedJudge
from ragmetrics_embedded._support import SupportModel, support_model
from ragmetrics_embedded._support.trees import load_weights

MODELS = pytest.mark.parametrize(
    "model", [SupportModel(load_weights("plain")), support_model()], ids=["plain", "vectors"]
)
LANGUAGES = {
    "en": ("The tower in Paris is 330 metres high and was built by Eiffel.", "The tower is 330 metres high."),
    "de": (
        "Der Turm in Paris ist 330 Meter hoch und wurde von Eiffel gebaut.",
        "Der Turm ist 330 Meter hoch.",
    ),
    "fr": ("La tour de Paris a une hauteur de 330 mètres et elle est d'Eiffel.", "La tour est d'Eiffel."),
    "zh": ("巴黎的铁塔高330米，由埃菲尔建造。", "铁塔高330米。"),
    "ja": (
        "パリの塔は高さが330メートルで、エッフェルによって建てられました。",
        "塔は高さが330メートルです。",
    ),
    "ru": ("Башня в Париже имеет высоту 330 метров, и она была построена.", "Башня имеет высоту 330 метров."),
}


@pytest.mark.parametrize("text", LANGUAGES)
@pytest.mark.parametrize("statement", LANGUAGES)
@MODELS
def test_only_a_statement_in_the_language_of_its_text_is_decided(
    model: SupportModel, text: str, statement: str
):
    found = model.support(LANGUAGES[statement][1], [LANGUAGES[text][0]])

    # a few Chinese characters may be Japanese
    is_other = text != statement and (text, statement) != ("ja", "zh")
    assert (found.supported is None) == is_other, found.reason
    assert ("another" in found.reason) == is_other


@pytest.mark.parametrize(
    "statement",
    [
        "Kule 330 metre yüksekliğindedir ve Eiffel tarafından inşa edilmiştir.",
        "Wieża Eiffla znajduje się w Paryżu i została zbudowana w 1889 roku.",
        "Eiffelova věž stojí v Paříži a byla postavena roku 1889.",
        "Eiffel-torni sijaitsee Pariisissa ja se rakennettiin vuonna 1889.",
        "Tháp Eiffel nằm ở Paris và được xây dựng năm 1889.",
    ],
)
@MODELS
def test_a_sentence_in_a_language_without_a_list_of_words_is_left_open(model: SupportModel, statement: str):
    text = "The Eiffel Tower is in Paris and was built by Gustave Eiffel in 1889. It is 330 metres high."
    found = model.support(statement, [text])

    assert (found.supported, found.reason) == (
        None,
        "not decided: it is in another language than the texts",
    )


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("Los Angeles is larger than El Paso.", "The city of Los Angeles is larger than El Paso."),
        ("Die Zeit is a German newspaper.", "The newspaper Die Zeit is printed in the city of Hamburg."),
        ("NASA", "The agency is called NASA by all of its people."),
        ("Das Angebot gilt bis Montag.", '{"Angebot": "bis Montag", "Preis": "5 EUR"}'),
        ("NG-U uses GTP-U over UDP.", "The gNBs of an NG-RAN are attached to the 5GC over NG."),
        ("The man who won, won again.", "The woman in the race lost to the others."),
        ("330", "The tower is 330 metres high."),
    ],
)
@MODELS
def test_names_of_another_language_and_texts_of_unknown_language_are_decided(
    model: SupportModel, statement: str, text: str
):
    assert model.support(statement, [text]).supported is not None


@pytest.mark.parametrize("statement", ["It is so.", "👍👍", "...", "Is it?"])
@MODELS
def test_a_statement_without_words_of_content_is_left_open(model: SupportModel, statement: str):
    found = model.support(statement, ["The tower is 330 metres high."])

    assert (found.supported, found.reason) == (None, "not decided: it has no word of content to look up")


@pytest.mark.parametrize(
    ("said", "written", "supported"),
    [
        ("2000 g", "2 kg", True),
        ("2 kg", "2000 grams", True),
        ("2.5 kg", "2500g", True),
        ("3000 g", "2 kg", False),
        ("2 g", "2 kg", False),
        ("2 kg", "2 kg", True),
        ("4.4 pounds", "2 kg", None),
        ("44 pounds", "2 kg", False),
        ("2 kg", "2", True),
    ],
)
@MODELS
def test_amounts_are_converted_and_left_open_where_one_may_be_rounded(
    model: SupportModel, said: str, written: str, supported: bool | None
):
    found = model.support(f"The parcel weighs {said}.", [f"The parcel weighs {written}. It is red."])

    assert found.supported is supported, found.reason


@pytest.mark.parametrize(
    ("said", "written", "supported"),
    [
        ("5 dollars", "$5", True),
        ("$5", "5 euros", False),
        ("€5", "$5", False),
        ("€4", "$5", None),
        ("4 euros", "5 dollars", None),
        ("$4", "$5", False),
        ("$5", "5 francs", False),
        ("5 rupees", "$5", False),
    ],
)
@MODELS
def test_currencies_are_told_apart_and_not_converted(
    model: SupportModel, said: str, written: str, supported: bool | None
):
    found = model.support(
        f"The ticket costs {said}.", [f"The ticket costs {written}. It is valid for a day."]
    )

    assert found.supported is supported, found.reason


@MODELS
def test_degrees_celsius_are_not_degrees_fahrenheit(model: SupportModel):
    text = ["Water boils at 100 °C. It freezes later."]

    assert model.support("Water boils at 100 °C.", text).supported
    assert model.support("Water boils at 100 °F.", text).supported is False
    unsure = model.support("Water boils at 212 °F.", text)
    assert (unsure.supported, unsure.reason) == (
        None,
        'not decided: "212 °F" and "100 °C" may be the same amount',
    )


@MODELS
def test_an_amount_in_another_unit_does_not_excuse_a_false_statement(model: SupportModel):
    found = model.support("The museum costs €4.", ["The ticket of the theatre costs $5 on Mondays."])

    assert found.supported is False


def test_the_score_of_a_german_answer_to_an_english_text_is_incomplete_with_the_reason():
    run = evaluate(
        [
            {
                "question": "Where is it?",
                "answer": "Der Eiffelturm steht in Paris. Paris is in France.",
                "contexts": ["The Eiffel Tower is in Paris. Paris is in France."],
            }
        ],
        metrics=["faithfulness"],
        judge="embedded",
    )
    record = next(iter(run.records()))

    assert (record.status, record.reason, record.bounds) == ("incomplete", "undecided_verdicts", (0.5, 1.0))
    assert record.formula == "1 / 2, 1 missing: 0.5 to 1"
    first = record.verdicts[0]
    assert (first.supported, first.confidence) == (None, None)
    assert first.reason == "not decided: it is in another language than the texts"


def test_a_cascade_asks_its_second_judge_about_what_the_first_leaves_open():
    verdict = {"number": 1, "reason": "r", "evidence": "", "verdict": "yes"}
    second = ScriptedJudge({"verdicts": {"verdicts": [verdict]}})
    run = evaluate(
        [{"question": "?", "answer": "Der Turm ist hoch.", "contexts": ["The tower is as high as it was."]}],
        metrics=["faithfulness(granularity=sentence)"],
        judge=Cascade("embedded", second),
    )
    record = next(iter(run.records()))

    assert (record.status, record.value) == ("ok", 1.0)


@pytest.mark.parametrize(
    ("statement", "is_there"),
    [
        ("The museum opens at nine.", True),
        ("The museum opens at 9 and closes at 6.", True),
        ("The museum opens at ten.", False),
        ("The museum opens at 9 pm.", False),
        ("The museum has 9 rooms.", False),  # it counts rooms, so it is no hour
    ],
)
@MODELS
def test_a_number_that_counts_nothing_may_be_the_hour_of_a_time(
    model: SupportModel, statement: str, is_there: bool
):
    text = "The museum opens at 9 am and closes at 6 pm. It has 8 rooms."
    assert model.support(statement, [text]).supported is is_there
