"""A copy of a text in another writing is the same text wherever two texts are compared."""

import re
import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragmetrics_core import evaluate
from ragmetrics_core.drivers import audit
from ragmetrics_core.metrics import ContextEntityRecall, ExactMatch, Faithfulness, RetrievalRecall, TokenF1
from ragmetrics_core.parsers import locate
from ragmetrics_core.samples import tile
from ragmetrics_core.testing import ScriptedJudge
from ragmetrics_core.texts.comparing import Writing, plain_form
from ragmetrics_embedded._rules.verdicts import findings

SENTENCES = (
    "Le café Été fut créé à Nîmes en 1990 par Zoë.",
    "Thành phố Hồ Chí Minh có 9 triệu người dân.",
    "한국어 문장은 1446년에 만든 글자로 씁니다.",
    "Die Straße nach Köln ist 25 km lang – und schön.",
    "東京タワーは1958年にガラスで建てられた。",
    "मुंबई में क़रीब 12 लाख घर हैं।",
    "استخدمت المدينة 40 حافلة في العام الماضي.",
    "Dr. Smith moved the pump from Oslo to Ghent in 1990.",
)
PLAIN = st.sampled_from(SENTENCES)


def in_full_width(text: str) -> str:
    return re.sub("[0-9A-Za-z]", lambda found: chr(ord(found[0]) + 0xFEE0), text)


def in_half_width(text: str) -> str:
    return text.replace("ガラス", "ｶﾞﾗｽ").replace("タワー", "ﾀﾜｰ")


def with_unseen(char: str):
    # inside of words only, and also between a letter and its marks
    return lambda text: re.sub(r"(?<=\w)(?=\w)", char, text)


COPIES = {
    "composed": lambda text: unicodedata.normalize("NFC", text),
    "decomposed": lambda text: unicodedata.normalize("NFD", text),
    "full-width digits": lambda text: re.sub("[0-9]", lambda found: chr(ord(found[0]) + 0xFEE0), text),
    "full width": in_full_width,
    "half width": in_half_width,
    "digits of another script": lambda text: re.sub("[0-9]", lambda found: chr(0x660 + int(found[0])), text),
    "soft hyphens": with_unseen("\u00ad"),
    "zero-width spaces": with_unseen("\u200b"),
    "joiners": with_unseen("\u200d"),
    "word joiners and a byte order mark": lambda text: "\ufeff" + with_unseen("\u2060")(text),
    "soft hyphens in a decomposed text": lambda text: "".join(
        f"\u00ad{char}" if unicodedata.combining(char) else char
        for char in unicodedata.normalize("NFD", text)
    ),
    "no-break spaces": lambda text: text.replace(" ", "\u00a0"),
    "stretched": lambda text: text.replace("مدين", "مـديـن"),
}
COPY = pytest.mark.parametrize("copy", COPIES.values(), ids=COPIES)


@COPY
@pytest.mark.parametrize("text", SENTENCES)
def test_a_copy_has_the_same_form(copy, text):
    assert plain_form(copy(text)) == plain_form(text)


@COPY
@settings(max_examples=20, deadline=None)
@given(before=PLAIN, text=PLAIN, after=PLAIN)
def test_a_quote_is_found_in_a_copy_at_the_characters_that_it_is_a_copy_of(copy, before, text, after):
    start, end = len(copy(before)) + 1, len(copy(before)) + 1 + len(copy(text))
    context = f"{copy(before)}\n{copy(text)}\n{copy(after)}"
    if text == before:
        start, end = 0, len(copy(text))

    for quote in (text, copy(text)):
        span = locate(quote, [context])
        assert span is not None
        # what is unseen at an end belongs to neither
        assert context[span.start : span.end].strip("\ufeff") == context[start:end].strip("\ufeff")


@COPY
@pytest.mark.parametrize("text", SENTENCES)
def test_a_copy_scores_1_where_words_are_compared(copy, text):
    row = {"id": "q", "answer": copy(text), "reference": text}
    row |= {"contexts": ["Nothing of it.", copy(text)], "reference_contexts": [text]}
    run = evaluate([row], metrics=[ExactMatch(), TokenF1(), RetrievalRecall(match="text", threshold=1)])

    assert {score.metric: score.value for score in run.records()} == {
        "exact_match": 1.0,
        "token_f1": 1.0,
        "retrieval_recall": 1.0,
    }


@COPY
@pytest.mark.parametrize("text", SENTENCES)
def test_the_embedded_judge_gives_a_copy_the_same_verdict_and_quotes_the_copy(copy, text):
    rest = "The museum opened in Leeds. The council closed the river before noon."
    (plain,) = findings([text], (f"{text}\n{rest}",))
    for statement, context in ((text, copy(text)), (copy(text), text)):
        (found,) = findings([statement], (f"{context}\n{rest}",))
        assert found._replace(evidence="") == plain._replace(evidence="")
        assert "".join(found.evidence).strip("\ufeff") == context.strip("\ufeff")


@COPY
@pytest.mark.parametrize("text", SENTENCES)
def test_a_copy_in_the_request_proves_that_a_chunk_was_shown(copy, text):
    message = f"Answer from this:\n\n{copy(text)}\n\nQuestion: what?"

    tiling = tile([message], [text])

    assert tiling.share(0) == 1
    (place,) = tiling.places(0)
    assert message[place.start : place.end].strip("\ufeff") == copy(text).strip("\ufeff")


def test_a_proof_by_the_embedded_judge_quotes_no_title_alone():
    row = {"id": "q", "question": "Who moved?", "answer": "Dr. Smith moved to Oslo in 1990."}
    row["contexts"] = ["Mr. Jones stayed. Dr. Smith moved to Oslo in 1990 with Mrs. Brown."]
    (record,) = evaluate([row], metrics=[Faithfulness()], judge="embedded").records()

    (evidence,) = record.verdicts[0].evidence
    assert evidence.span is not None
    assert evidence.quote == "Dr. Smith moved to Oslo in 1990 with Mrs. Brown."


# -- what is not the same

DIFFERENT = [
    ("10²", "102"),
    ("10²", "10 2"),
    ("10⁻³", "10-3"),
    ("s⁻¹", "s-1"),
    ("10₂", "102"),
    ("1½", "11/2"),
    ("5①", "51"),
    ("in 2019.②", "in 2019.2"),
    ("in 5.²", "in 5.2"),
    ("②5", "25"),
    ("½5", "1/25"),
    ("㎡5", "m25"),
    ("resume", "résumé"),
    ("naif", "naïf"),
    ("ma", "mà"),
    ("가", "각"),
    ("か", "が"),
    ("क", "क़"),
    ("שׁ", "שׂ"),
    ("ı", "i"),
    ("25", "２６"),
]
SAME = [
    ("m²", "m2"),
    ("CO₂", "CO2"),
    ("10²", "10^2"),
    ("1½", "1 1/2"),
    ("½", "1/2"),
    ("100㎡", "100 m2".replace(" ", "")),
    ("İstanbul", "istanbul"),
    ("ﻣﺮﺣﺒﺎ", "مرحبا"),
    ("don’t", "don't"),
    ("ﬁne™", "fine"),
    ("x‑ray", "x-ray"),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_means_something_else_stays_different(one, other):
    assert plain_form(one) != plain_form(other)
    run = evaluate([{"id": "q", "answer": one, "reference": other}], metrics=[ExactMatch()])
    assert run.score("q", "exact_match").value == 0
    # a quote with enough of other letters around it
    assert locate(f"about {one} there", [f"It is about {other} there."]) is None


@pytest.mark.parametrize(("one", "other"), SAME)
def test_what_is_only_written_otherwise_is_equal(one, other):
    run = evaluate([{"id": "q", "answer": one, "reference": other}], metrics=[ExactMatch()])
    assert run.score("q", "exact_match").value == 1
    assert locate(f"about {one} there", [f"It is about {other} there."]) is not None


NUMBERS = re.compile("[²³¹⁰-ⁿ₀-₎¼-¾⅐-⅟↉①-⒛⓪㉈-㉏㉑-㉟㊱-㊿㋀-㋋㍘-㍰㎟-㎨㎯㏠-㏾\U0001f100-\U0001f10a]")
ANY = st.text(max_size=40) | st.text(
    st.sampled_from("e\u0301\u0323\u00ad\u200b가ᅡᆨ각ｶﾞ²1½aA①’–\u3131\ufe0f٣１ ")
)


@given(ANY)
def test_the_form_is_that_of_every_canonical_copy_and_is_final(text):
    form = plain_form(text)

    assert plain_form(unicodedata.normalize("NFC", text)) == form
    assert plain_form(unicodedata.normalize("NFD", text)) == form
    assert plain_form(form) == form
    if not NUMBERS.search(text) and "´" not in text:  # which is an apostrophe here, and a space in NFKC
        assert plain_form(unicodedata.normalize("NFKC", text)) == form
        assert plain_form(unicodedata.normalize("NFKD", text)) == form


@given(ANY)
def test_each_character_of_the_form_comes_from_a_place_in_the_text(text):
    writing = Writing.of(text).plain()

    assert writing.text == plain_form(text)
    assert len(writing.starts) == len(writing.ends) == len(writing.text)
    assert (writing.starts < writing.ends).all()
    assert (writing.starts[1:] >= writing.starts[:-1]).all()
    for place in range(len(writing.text)):
        start, end = writing.origin(place, place + 1)
        assert writing.text[place] in plain_form(text[start:end]) + "^ "


def test_entities_are_found_in_a_copy():
    row = {"id": "q", "reference": "Zoë Müller met Dr. Émile Zola.", "contexts": []}
    row["contexts"] = [unicodedata.normalize("NFD", "Zoë Müller met Dr. Émile Zola in Paris.")]

    run = evaluate([row], metrics=[ContextEntityRecall()], judge="embedded")

    assert run.score("q", "context_entity_recall").value == 1


@pytest.mark.parametrize(("reader", "fields"), [("2", []), ("3", ["verdicts[1].evidence[1].span"])])
def test_what_an_earlier_reader_found_nowhere_stays_so_in_its_records(reader, fields):
    text = SENTENCES[0]
    row = {"id": "q", "question": "Quand ?", "answer": text, "contexts": [unicodedata.normalize("NFD", text)]}
    judge = ScriptedJudge(
        {
            "statements": {"statements": [text], "declined": False},
            "verdicts": {"verdicts": [{"number": 1, "reason": "", "evidence": text, "verdict": "yes"}]},
        }
    )
    (record,) = evaluate([row], metrics=[Faithfulness()], judge=judge).records()
    (verdict,) = record.verdicts
    (evidence,) = verdict.evidence
    assert evidence.span is not None

    lost = replace(verdict, evidence=(replace(evidence, span=None),))
    versions = record.versions | {"reader": reader}
    earlier = record.model_copy(update={"verdicts": (lost,), "versions": versions})

    assert [each.field for each in audit(earlier)] == fields


@pytest.mark.parametrize(("quote", "there"), [("Le cafe est la", False), ("café est la", True)])
def test_a_quote_does_not_end_between_a_letter_and_its_accent(quote, there):
    context = unicodedata.normalize("NFD", "Le café est là.")

    assert (locate(quote + "\u0300", [context]) is not None) == there
    assert locate(quote, [context]) is None
