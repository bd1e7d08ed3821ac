"""Citations as ALCE defines them: recall by all that a sentence cites, precision by what it needs."""

import random
from fractions import Fraction

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import CitationPrecision, CitationRecall
from ragmetrics_core.testing import ScriptedJudge

SAMPLE = {"question": "How is the weather?", "contexts": ["Sun.", "Rain.", "Wind."]}


def judge(has):
    """A judge that supports a sentence when `has` says so of it and the set of chunks that are shown."""

    def reply(request):
        shown = frozenset(request.variables["contexts"])
        return {
            "verdicts": [
                {"number": item.number, "verdict": "yes" if has(item.text, shown) else "no"}
                for item in request.variables["items"]
            ]
        }

    return reply


def everything(text, shown):
    return True


def scored(measure, metric, answer, has=everything, **fields):
    return measure(metric, judge(has), **SAMPLE | fields | {"answer": answer})


def weather(text, shown):
    """The chunks together have every kind of weather that the sentence names."""
    return all(f"{kind}." in shown for kind in ("Sun", "Rain", "Wind") if kind.casefold() in text.casefold())


def test_a_sentence_is_supported_by_all_that_it_cites_together(measure):
    # sun and rain by chunks 1 and 2 together; wind by chunk 1: no; no citation: no. 1 / 3
    answer = "There is sun and rain [1][2]. There is wind [1]. It is nice."
    score = scored(measure, CitationRecall(), answer, weather).score

    assert (score.value, score.formula) == (1 / 3, "1 / 3 = 0.333")
    assert score.counts == {"supported": 1, "sentences": 3, "uncited": 1}
    assert [(each.about, each.text, each.supported, each.reason) for each in score.verdicts] == [
        ("sentence that cites nothing", "It is nice.", False, "it cites nothing"),
        ("sentence that cites chunk 1", "There is wind. [1]", False, None),
        ("sentence that cites chunks 1, 2", "There is sun and rain. [1, 2]", True, None),
    ]


def test_a_citation_counts_that_its_sentence_needs(measure):
    # sun and rain need both; sun needs 1 and not 2, for 2 alone lacks it and 1 has it without 2;
    # wind by chunk 1 is wrong. 3 of 5
    answer = "There is sun and rain [1, 2]. There is sun [1, 2]. There is wind [1]."
    score = scored(measure, CitationPrecision(), answer, weather).score

    assert (score.value, score.formula) == (3 / 5, "3 / 5 = 0.6")
    assert ("sentence beside chunk 1", "There is sun. [1]", True) in [
        (each.about, each.text, each.supported) for each in score.verdicts
    ]


def test_two_chunks_that_say_the_same_are_both_needed(measure):
    twins = SAMPLE | {"contexts": ["Sun.", "Sun. ", "Wind."]}
    score = measure(
        CitationPrecision(), judge(lambda text, shown: True), **twins | {"answer": "There is sun [1][2]."}
    ).score
    assert score.value == 1.0


@pytest.mark.parametrize(
    "marker", ["[2, 3]", "[2][3]", "[2] [3]", "[2; 3]", "[^2][^3]", "【2†source】【3†page 4】"]
)
@pytest.mark.parametrize(
    "answer", ["Sun shines {}. Rain falls.", "Sun shines. {} Rain falls.", "{} Sun shines.\nRain falls."]
)
def test_markers_are_read_in_each_form_and_belong_to_their_sentence(measure, marker, answer):
    score = scored(measure, CitationRecall(), answer.format(marker)).score
    assert {each.text: each.about for each in score.verdicts} == {
        "Sun shines. [2, 3]": "sentence that cites chunks 2, 3",
        "Rain falls.": "sentence that cites nothing",
    }


@pytest.mark.parametrize(
    "text", ["Sun shines [1-3].", "Sun shines [a].", "Sun shines (1).", "Sun shines [12345]."]
)
def test_what_is_no_marker_cites_nothing(measure, text):
    assert scored(measure, CitationRecall(), text).score.counts["uncited"] == 1
    assert scored(measure, CitationPrecision(), text).score.reason == "no_citations"


def test_where_a_footnote_leads_is_no_sentence_of_the_answer(measure):
    answer = "Sun shines.[^1]\n\n[^1]: Handbook of the weather, page 3"
    score = scored(measure, CitationRecall(), answer).score
    assert [(each.text, each.about) for each in score.verdicts] == [
        ("Sun shines. [1]", "sentence that cites chunk 1")
    ]


def test_a_marker_that_leads_to_nothing_is_told_and_costs_no_call(measure):
    for metric in (CitationRecall(), CitationPrecision()):
        score, asked = scored(measure, metric, "Sun shines [1, 7].")
        assert (score.value, asked.asked) == (0.0, [])
        assert score.verdicts[0].reason == "there is no chunk 7"


def test_sentences_whose_citations_fail_are_a_finding_of_the_sample():
    row = SAMPLE | {"id": "q", "answer": "There is sun [1]. There is wind [7]. It is nice."}
    judge_of_weather = ScriptedJudge(judge(weather))
    run = evaluate([row], metrics="citation_recall", judge=judge_of_weather)
    (finding,) = run.diagnosis("q")
    assert str(finding) == (
        "a sentence is not supported by what it cites, or cites nothing: It is nice.; There is wind. [7]"
    )


def test_chunks_may_be_counted_from_0(measure):
    assert scored(measure, CitationRecall(first=0), "Sun shines [0].").score.value == 1.0
    assert scored(measure, CitationRecall(), "Sun shines [0].").score.value == 0.0
    with pytest.raises(ConfigError, match="citation_recall: first must be 0 or more, not -1"):
        CitationRecall(first=-1)


def test_blank_chunks_support_nothing_and_an_answer_of_nothing_is_undefined(measure):
    score, asked = scored(measure, CitationRecall(), "Sun shines [1].", contexts=[" "])
    assert (score.value, score.verdicts[0].reason, asked.asked) == (0.0, "chunk 1 is blank", [])
    assert scored(measure, CitationRecall(), " ").score.reason == "no_answer"
    assert scored(measure, CitationPrecision(), " ").score.reason == "no_answer"


def test_evidence_stands_in_the_sample_s_chunk_not_in_the_one_that_was_shown(measure):
    reply = {"verdicts": [{"number": 1, "verdict": "yes", "evidence": "Wind."}]}
    score = measure(CitationRecall(), {"verdicts": reply}, **SAMPLE | {"answer": "Wind blows [1, 3]."}).score
    assert score.verdicts[0].evidence[0].span.chunk == 3


def test_a_missing_verdict_leaves_bounds(measure):
    only_first = {"verdicts": [{"number": 1, "verdict": "yes"}]}
    sample = SAMPLE | {"answer": "Sun shines [1]. Rain falls [1]."}
    score = measure(CitationRecall(), {"verdicts": only_first}, **sample).score
    assert (score.status, score.bounds) == ("incomplete", (0.5, 1.0))


ORDER = ("first", "second", "third", "fourth")


def alce(citing, has):
    """A citation is superfluous if its passage alone does not support the sentence, and the others do."""
    supported = {n: bool(cited) and has(n, cited) for n, cited in citing.items()}
    good = [
        has(n, {one}) or not has(n, cited - {one}) or len(cited) == 1
        for n, cited in citing.items()
        if supported[n]
        for one in cited
    ]
    total = sum(map(len, citing.values()))
    return Fraction(sum(supported.values()), len(citing)), Fraction(sum(good), total) if total else None


@pytest.mark.parametrize("seed", range(40))
def test_both_are_what_the_definition_gives_for_any_table_of_entailments(measure, seed):
    chance = random.Random(seed)
    chunks = ["One.", "Two.", "Three."]
    citing = {n: {rank for rank in range(3) if chance.random() < 0.6} for n in range(4)}
    table = {}

    def has(sentence, ranks):
        return table.setdefault((sentence, frozenset(ranks)), chance.random() < 0.6)

    answer = " ".join(
        f"The {ORDER[n]} sentence {''.join(f'[{rank + 1}]' for rank in sorted(ranks))}."
        for n, ranks in citing.items()
    )
    fields = {"contexts": chunks}
    reply = {
        "has": lambda text, shown: has(ORDER.index(text.split()[1]), [chunks.index(each) for each in shown])
    }
    recall = scored(measure, CitationRecall(), answer, **reply, **fields).score
    precision = scored(measure, CitationPrecision(), answer, **reply, **fields).score

    expected = alce(citing, has)
    assert recall.value == pytest.approx(float(expected[0]))
    if expected[1] is None:
        assert precision.reason == "no_citations"
    else:
        assert precision.value == pytest.approx(float(expected[1]))
