"""Citations as ALCE defines them: recall by all that a sentence cites, precision by what it needs."""

import json
import random
import re
from fractions import Fraction

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import CitationPrecision, CitationRecall
from ragmetrics_core.parsers import split_sentences
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
    "text",
    ["Sun shines [2019].", "Sun shines [sic].", "Sun shines [a].", "Sun shines (1).", "Sun shines [12345]."],
)
def test_what_is_no_marker_cites_nothing(measure, text):
    assert scored(measure, CitationRecall(), text).score.counts["uncited"] == 1
    assert scored(measure, CitationPrecision(), text).score.reason == "no_citations"


def claims(score):
    """The sentences of a score with what they cite, in the order of the answer."""
    return {each.text: each.about.removeprefix("sentence that cites ") for each in score.verdicts}


@pytest.mark.parametrize(
    "marker",
    [
        "[1-3]", "[1–3]", "[1, 2-3]", "[1][2][3]", "[[1]][[2]][[3]]", "[1](https://a.example)[2, 3]",
        "([1], [2], [3])", "[^1][^2][^3]", "[doc1][doc2][doc3]", "[Source 1, 2, 3]",
        "[citation:1][citation:2-3]", "【1】【2】【3】", "【1†a.pdf】【2†b.pdf】【3†c.pdf】",
        "[١][٢][٣]", "[１，２，３]", "[一][二][三]",
    ],
)  # fmt: skip
def test_markers_are_read_as_models_write_them(measure, marker):
    fields = {"context_ids": ["一", "二", "三"]} if "一" in marker else {}
    for answer in (f"Sun shines {marker}. Rain falls.", f"Sun shines. {marker} Rain falls."):
        assert claims(scored(measure, CitationRecall(), answer, **fields).score) == {
            "Sun shines. [1, 2, 3]": "chunks 1, 2, 3",
            "Rain falls.": "nothing",
        }


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        # a year or a remark in brackets is not known to be a citation, and stays in the sentence
        ("In [2019] sun shone [1].", {"In [2019] sun shone. [1]": "chunk 1"}),
        ("He said so [sic].", {"He said so [sic].": "nothing"}),
        # the id of a chunk is a citation, and so is a name of the same form
        ("Sun [doc-a].", {"Sun. [1]": "chunk 1"}),
        ("Sun [w-2]. Rain [w-7].", {"Sun. [2]": "chunk 2", "Rain. [w-7]": "a missing chunk: w-7"}),
        ("Sun [2019].", {"Sun. [3]": "chunk 3"}),
        ("Sun [2019]. Rain [2024].", {"Sun. [3]": "chunk 3", "Rain. [2024]": "a missing chunk: 2024"}),
        # the first number is that of a message: which chunk it means is unknown
        ("Sun 【4:0†source】.", {"Sun. [4:0]": "a missing chunk: 4:0"}),
    ],
)
def test_other_brackets_are_citations_only_if_they_lead_to_a_chunk(measure, answer, expected):
    fields = {"context_ids": ["doc-a", "w-2", "2019" if "Sun [2019]" in answer else "c"]}
    assert claims(scored(measure, CitationRecall(), answer, **fields).score) == expected


def test_a_bracket_that_may_be_a_citation_is_named(measure):
    score = scored(measure, CitationRecall(), "Sun shone in [2019]. Rain falls [1].").score
    assert score.verdicts[0].reason == "it cites nothing; [2019] leads to no chunk"


@pytest.mark.parametrize(
    "footnotes",
    [
        "\n\n[1] Handbook, page 3\n[2] Almanac. See there.",
        "\nSources:\n[1] Handbook\n[2] Almanac\n[3] Unused",
        "\n\n## References\n\n- [1] Handbook\n- [2] Almanac",
        "\n\n**Quellen**\n[^1] Handbook\n[^2] Almanac",
        "\n[^1]: Handbook\n[^2]: https://almanac.example",
        "\n\n【1】 Handbook\n【2】 Almanac",
    ],
)
def test_a_list_of_sources_at_the_end_is_not_a_claim(measure, footnotes):
    answer = "Sun shines [1]. Rain falls [2]."
    assert claims(scored(measure, CitationRecall(), answer + footnotes).score) == {
        "Sun shines. [1]": "chunk 1",
        "Rain falls. [2]": "chunk 2",
    }


@pytest.mark.parametrize(
    "answer",
    [
        "[1] Sun shines.\n[2] Rain falls.",
        "- [1] Sun shines.\n- [2] Rain falls.",
        "Sun shines [1]\n\n[2] Rain falls",
    ],
)
def test_lines_that_begin_with_their_citation_are_claims(measure, answer):
    assert list(claims(scored(measure, CitationRecall(), answer).score).values()) == ["chunk 1", "chunk 2"]


def test_citations_of_the_sample_replace_markers_in_the_answer(measure):
    answer = "Sun shines【4:0†source】. Rain falls [2]. Wind blows."
    citations = [
        {"start": 10, "end": 22, "chunks": [3]},
        {"start": answer.index("Wind"), "end": len(answer), "chunks": [1, "other.pdf"]},
    ]
    score = scored(measure, CitationRecall(), answer, citations=citations).score
    assert claims(score) == {
        "Sun shines. [3]": "chunk 3",
        "Rain falls.": "nothing",
        "Wind blows. [1, other.pdf]": "a missing chunk: other.pdf",
    }


def test_citations_keep_their_places_behind_a_thought(measure):
    answer = "<think>Is it sunny?</think>\nSun shines. Rain falls."
    start = answer.index("Rain")
    citations = [{"start": start, "end": len(answer), "chunks": [2]}]
    assert claims(scored(measure, CitationRecall(), answer, citations=citations).score) == {
        "Sun shines.": "nothing",
        "Rain falls. [2]": "chunk 2",
    }


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
    row = SAMPLE | {
        "id": "q",
        "answer": "There is sun [1]. There is rain [1]. There is wind [7]. It is nice.",
    }
    judge_of_weather = ScriptedJudge(judge(weather))
    run = evaluate([row], metrics="citation_recall", judge=judge_of_weather)
    assert [str(finding) for finding in run.diagnosis("q")] == [
        "a sentence is not supported by what it cites: There is rain. [1]",
        "a sentence cites nothing: It is nice.",
        "a sentence cites a chunk that is not among the contexts: There is wind. [7]",
    ]
    assert run.diagnoses()["q"] == ("unsupported_citation", "uncited_statement", "dangling_citation")


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


def alce_program(sentences, docs, entails):
    """Citation recall and precision as ALCE's eval.py counts them, in integers.

    Precision has no denominator of sentences that cite an absent document, as in the program.
    """
    recalled = precise = citations = 0
    for sentence in sentences:
        claim = re.sub(r"\s*\[\d+\]", "", sentence)
        cited = [int(number) - 1 for number in re.findall(r"\[(\d+)", sentence)]
        if not cited or max(cited) >= len(docs):
            continue
        citations += len(cited)
        if not entails("\n".join(docs[each] for each in cited), claim):
            continue
        recalled += 1
        for each in cited:
            others = "\n".join(docs[other] for other in cited if other != each)
            is_superfluous = not entails(docs[each], claim) and entails(others, claim)
            precise += len(cited) == 1 or not is_superfluous
    return recalled, precise, citations


def contains(passage, claim):
    """Every word of the claim is in the passage."""
    return set(re.findall(r"\w+", claim.casefold())) <= set(re.findall(r"\w+", passage.casefold()))


def test_both_equal_alce_s_program_on_its_utility_set(measure, shared_data):
    # the set has answers without citations: each sentence gets some here, and each half of it is a document
    rows = shared_data("alce_utility/alce_utility.jsonl").read_text(encoding="utf-8").splitlines()
    chance = random.Random(61)
    seen = {"joint": 0, "superfluous": 0, "answers": 0}
    for row in rows[::3]:
        plain = [
            each
            for each in split_sentences(json.loads(row)["answer"])
            if each.endswith(".") and "[" not in each
        ]
        halves = [each.split() for each in plain]
        docs = [
            " ".join(part)
            for words in halves
            for part in (words[: len(words) // 2], words[len(words) // 2 :])
        ]
        marked = []
        for number, sentence in enumerate(plain):
            own = [2 * number, 2 * number + 1]
            cited = chance.choice([own, own[:1], [*own, chance.randrange(len(docs))], [], [len(docs)]])
            markers = "".join(f"[{each + 1}]" for each in dict.fromkeys(cited))
            marked.append(f"{sentence[:-1]} {markers}." if markers else sentence)
        answer = " ".join(marked)
        if len(split_sentences(answer)) != len(marked) or len(set(plain)) != len(plain) or not plain:
            continue
        recalled, precise, citations = alce_program(marked, docs, contains)
        fields = {"contexts": docs, "has": lambda text, shown: contains("\n".join(shown), text)}
        recall = scored(measure, CitationRecall(), answer, **fields).score
        precision = scored(measure, CitationPrecision(), answer, **fields).score
        assert (recall.counts["supported"], recall.counts["sentences"]) == (recalled, len(plain))
        absent = sum(f"[{len(docs) + 1}]" in each for each in marked)
        if citations + absent:
            counts = (precision.counts["needed"], precision.counts["citations"])
            assert counts == (precise, citations + absent)
        seen["answers"] += 1
        seen["joint"] += recalled
        seen["superfluous"] += citations - precise
    assert min(seen.values()) > 50


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
