"""Statements that affirm what their text denies, or deny what it affirms, and their true relatives."""

import pytest

from ragmetrics_embedded._support import SupportModel, support_model
from ragmetrics_embedded._support.trees import load_weights

MODELS = pytest.mark.parametrize(
    "model", [SupportModel(load_weights("plain")), support_model()], ids=["plain", "vectors"]
)

FALSE = [
    ("The parcel is red. It is not insured.", "The parcel is insured."),
    ("The clinic is in Bern. It does not accept cash.", "The clinic accepts cash."),
    ("The clinic is in Bern. It accepts no cash.", "The clinic accepts cash."),
    ("The museum is in the old mill. It never opens on Mondays.", "The museum opens on Mondays."),
    ("Tickets are sold at the door. They can't be refunded.", "Tickets can be refunded."),
    ("The hut has twelve beds. There is no heating.", "The hut has heating."),
    ("The flat is on the third floor. It comes without a balcony.", "The flat comes with a balcony."),
    ("The lake is deep and cold. Neither dogs nor cats are allowed there.", "Dogs are allowed there."),
    ("The rooms face the garden. None of them has a bath.", "The rooms have a bath."),
    ("The engine was tested. It failed to start in the cold.", "The engine started in the cold."),
    ("The bridge was built in 1902. It is no longer used by trains.", "The bridge is used by trains."),
    ("The fence is new. Nobody has painted it yet.", "The fence was painted."),
    ("The car is small. It lacks air conditioning.", "The car has air conditioning."),
    ("The warranty covers the motor. It does not cover the battery.", "The warranty covers the battery."),
    ("Guests may bring dogs. They may not bring cats.", "Guests may bring cats."),
    ("The app runs on phones. Nor does it need a network.", "The app needs a network."),
    ("The clinic does not accept cash. The shop accepts cash.", "The clinic accepts cash."),
    ("The device, which is made in Japan, is not waterproof.", "The device is waterproof."),
    ("The parcel is red. It is insured.", "The parcel is not insured."),
    ("The clinic is in Bern. It accepts cash.", "The clinic does not accept cash."),
    ("The hut has twelve beds. It has heating.", "The hut has no heating."),
    ("The museum is in the mill. It opens on Mondays.", "The museum never opens on Mondays."),
    ("The flat is on the third floor. It comes with a balcony.", "The flat comes without a balcony."),
    ("Ms Keller leads the team. She has worked in Paris.", "Ms Keller has never worked in Paris."),
    ("Das Paket ist rot. Es ist nicht versichert.", "Das Paket ist versichert."),
    ("Die Klinik liegt in Bern. Sie akzeptiert Bargeld nicht.", "Die Klinik akzeptiert Bargeld."),
    ("Die Wohnung ist klein. Sie hat einen Balkon.", "Die Wohnung hat keinen Balkon."),
    ("Le colis est rouge et il est lourd. Il n'est pas assuré.", "Le colis est assuré."),
    ("El paquete es rojo y pesa mucho. No está asegurado.", "El paquete está asegurado."),
    ("De woning is klein. Het heeft geen balkon.", "De woning heeft een balkon."),
    ("Пакет красный. Он не застрахован и не открыт.", "Пакет застрахован."),
    ("诊所在伯尔尼。它不接受现金。", "诊所接受现金。"),
    ("这家酒店在北京。酒店没有游泳池。", "这家酒店有游泳池。"),
    ("この製品は防水ではない。", "この製品は防水です。"),
    ("店は駅の近くです。現金は使えません。", "店では現金が使えます。"),
]
TRUE = [
    ("The parcel is red. It is not insured.", "The parcel is not insured."),
    ("The parcel is red. It is not only insured but also sealed.", "The parcel is insured."),
    ("The clinic does not take cheques, but it accepts cash.", "The clinic accepts cash."),
    ("The museum is not in the mill but in the castle.", "The museum is in the castle."),
    ("It closed in May not because of the rent but because it was small.", "It closed in May."),
    ("Is the parcel not insured? It is insured for 200 francs.", "The parcel is insured for 200 francs."),
    ("Whether or not it rains, the market opens at eight.", "The market opens at eight."),
    ("The alarm is old. It does not fail to ring at six.", "The alarm rings at six."),
    ("The shop does not accept cash. The clinic accepts cash.", "The clinic accepts cash."),
    ("The hut has no heating. The hotel has heating.", "The hotel has heating."),
    ("The clinic is in Bern. It accepts no cash.", "The clinic does not accept cash."),
    ("The clinic is in Bern. It does not accept cash.", "The clinic accepts no cash."),
    (
        "The path is steep, and dogs are not allowed. The path leads to the lake.",
        "The path leads to the lake.",
    ),
    ("The lift is small. It carries no more than six people.", "The lift carries no more than six people."),
    ("The office is open on Mondays. It is not open on Sundays.", "The office is open on Mondays."),
    ("The clinic accepts cash. It does not have parking.", "The clinic accepts cash."),
    ("The warranty covers the motor. It does not cover the battery.", "The warranty covers the motor."),
    ("The parcel is insured. If it is not insured, call us.", "The parcel is insured."),
    ("Not all rooms have a bath. Rooms with a bath cost more.", "Rooms with a bath cost more."),
    ("He did not resign because of the scandal. He resigned because he was ill.", "He resigned."),
    ("The hotel has no pool, no sauna and no bar.", "The hotel has no bar."),
    ("Only members may use the pool. Guests may not use it.", "Members may use the pool."),
    ("It is not true that dogs are banned. Dogs are welcome.", "Dogs are welcome."),
    ("Das Paket ist nicht versichert, aber es ist versiegelt.", "Das Paket ist versiegelt."),
    ("Das Paket ist rot. Es ist nicht versichert.", "Das Paket ist nicht versichert."),
    ("Le colis est rouge et il est lourd. Il n'est pas assuré.", "Le colis n'est pas assuré."),
    ("El paquete es rojo y pesa mucho. No está asegurado.", "El paquete no está asegurado."),
    ("诊所不但接受现金，还接受支票。", "诊所接受现金。"),
    ("この製品は赤いですが、防水ではありません。", "この製品は赤いです。"),
]
LOST = [
    ("The shop did not open in 2010 but in 2012.", "The shop opened in 2012."),
    ("You cannot enter without a ticket.", "You can enter with a ticket."),
    ("The museum does not open until nine.", "The museum opens at nine."),
    ("The law does not only apply to employees.", "The law applies to employees."),
    ("The firm refused to pay the fine.", "The firm did not pay the fine."),
    ("The gate is not locked at night.", "At night the gate is not locked."),
]


@MODELS
@pytest.mark.parametrize(("text", "statement"), FALSE)
def test_a_statement_is_refused_if_its_text_denies_it_or_affirms_what_it_denies(
    model: SupportModel, text: str, statement: str
):
    found = model.support(statement, [text])

    assert found.supported is False, found.reason


@MODELS
@pytest.mark.parametrize(("text", "statement"), TRUE)
def test_a_negation_of_something_else_does_not_refute_a_statement(
    model: SupportModel, text: str, statement: str
):
    found = model.support(statement, [text])

    assert found.supported, found.reason


@MODELS
@pytest.mark.parametrize(("text", "statement"), LOST)
@pytest.mark.xfail(strict=True, reason="the trees count negations and do not see what they negate")
def test_a_true_statement_whose_text_has_a_negation_more_is_supported(
    model: SupportModel, text: str, statement: str
):
    assert model.support(statement, [text]).supported


@pytest.mark.parametrize(
    ("text", "statement", "reason", "quote"),
    [
        (
            "The parcel is red. It is not insured.",
            "The parcel is insured.",
            '"insured" is denied there',
            "It is not insured.",
        ),
        (
            "The clinic is in Bern. It accepts cash.",
            "The clinic does not accept cash.",
            '"accept" is affirmed there',
            "It accepts cash.",
        ),
    ],
)
def test_the_reason_names_the_denied_word_and_the_evidence_quotes_its_sentence(
    text: str, statement: str, reason: str, quote: str
):
    found = support_model().support(statement, [text])

    assert reason in found.reason
    assert found.evidence[0] == quote
