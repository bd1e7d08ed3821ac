"""Names, variants, settings and prompts: how a metric is asked for and how a score is named."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.metrics import (
    ALIASES,
    METRICS,
    AnswerCorrectness,
    AnswerRelevance,
    AnswerSimilarity,
    FactualCorrectness,
    Faithfulness,
    Ndcg,
    RagasScore,
    Rubric,
    get,
    resolve,
)
from ragmetrics_core.metrics.catalogue import reworded
from ragmetrics_core.prompts import QUESTIONS, STATEMENTS, VERDICTS, PromptText
from ragmetrics_core.protocol import Part

SHORT = PromptText("verdicts", 1, None, "Judge.", "{{ contexts }} {{ items }} Supported?", "All of them.")


@pytest.mark.parametrize(
    ("metric", "signature"),
    [
        (Faithfulness(), "faithfulness/strict.1"),
        (Faithfulness(variant="paper"), "faithfulness/paper.1"),
        (Faithfulness(granularity="sentence"), "faithfulness/strict.1(granularity=sentence)"),
        (AnswerCorrectness(weights=(1, 0)), "answer_correctness/strict.1(weights=1:0)"),
        (AnswerCorrectness(weights=(1.0, 0.0)), "answer_correctness/strict.1(weights=1:0)"),
        (AnswerRelevance(variant="ragas-0.4", n_questions=5), "answer_relevance/ragas-0.4(n_questions=5)"),
        (FactualCorrectness(beta=0.5, mode="recall"), "factual_correctness/strict.1(beta=0.5,mode=recall)"),
        (
            AnswerCorrectness(factual=Part("factual_correctness", "strict.1", {"beta": 2.0})),
            "answer_correctness/strict.1(factual=factual_correctness/strict.1(beta=2))",
        ),
    ],
)
def test_a_signature_names_the_variant_and_what_differs_from_it(metric, signature):
    assert metric.signature == signature


@pytest.mark.parametrize(
    ("threshold", "shown"),
    [(0.5, "0.5"), (1.0, "1"), (1e-5, "1e-05"), (0.1234567, "0.1234567"), (0.12345674, "0.12345674")],
)
def test_a_signature_holds_numbers_in_full_so_that_two_of_them_never_share_one(threshold, shown):
    signature = AnswerSimilarity(threshold=threshold).signature
    assert signature == f"answer_similarity/strict.1(threshold={shown})"
    assert get(signature) == AnswerSimilarity(threshold=threshold)


@pytest.mark.parametrize(
    ("levels", "shown"),
    [
        (("a:b", "c"), r"a\:b:c"),
        (("a", "b:c"), r"a:b\:c"),
        (("a\\", "b:c"), r"a\\:b\:c"),
        (("a\\:b", "c"), r"a\\\:b:c"),
        (("a:", ":"), r"a\::\:"),
    ],
)
def test_texts_that_are_cut_elsewhere_share_no_signature(levels, shown):
    assert Rubric(levels=levels).signature == f"rubric/strict.1(levels={shown})"
    assert get(f"rubric(levels={shown})") == Rubric(levels=levels)


@pytest.mark.parametrize(("whole", "number"), [(2, 2.0), (10**6, 1e6), (2**53 - 1, 2.0**53 - 1)])
def test_equal_settings_share_a_signature(whole, number):
    one, other = FactualCorrectness(beta=whole), FactualCorrectness(beta=number)
    assert one == other
    assert one.signature == other.signature == f"factual_correctness/strict.1(beta={whole})"


def test_a_setting_of_the_variants_own_value_is_not_in_the_signature():
    assert AnswerRelevance(variant="ragas-0.1", noncommittal="any").signature == "answer_relevance/ragas-0.1"


def test_another_prompt_is_in_the_signature_by_its_digest():
    metric = Faithfulness(verify=VERDICTS.with_text(system=SHORT.system, user=SHORT.user))
    assert metric.signature == f"faithfulness/strict.1(verify=verdicts.v5@{metric.verify.digest[:8]})"


def test_a_part_has_the_prompts_in_its_signature_that_it_asks_and_no_others():
    questions = PromptText("questions", 1, None, "Ask.", QUESTIONS.user, QUESTIONS.again)
    metric = reworded(RagasScore(), {"verdicts": SHORT, "questions": questions})

    # verdicts are asked by faithfulness and context_recall, questions by answer_relevance
    verdicts, asked = f"verdicts.v1@{SHORT.digest[:8]}", f"questions.v1@{questions.digest[:8]}"
    assert metric.signature == (
        f"ragas_score/strict.1(parts=faithfulness/strict.1({verdicts}):answer_relevance/strict.1({asked}):"
        f"context_precision/strict.1:context_recall/strict.1({verdicts}))"
    )
    assert RagasScore.from_settings("strict.1", metric.settings).signature == RagasScore().signature


def test_a_part_without_a_variant_is_in_the_signature_by_its_name():
    metric = RagasScore(parts=(Part("faithfulness"), Part("context_recall", "ragas-0.1")))
    assert metric.signature == "ragas_score/strict.1(parts=faithfulness:context_recall/ragas-0.1)"


def test_a_text_that_is_the_librarys_own_changes_no_signature():
    packaged = PromptText("verdicts", 5, None, VERDICTS.system, VERDICTS.user, VERDICTS.again)
    assert [reworded(each, {"verdicts": packaged}).signature for each in (RagasScore(), Faithfulness())] == [
        "ragas_score/strict.1",
        "faithfulness/strict.1",
    ]


def test_a_translation_is_in_the_signature_by_its_digest():
    dutch = SHORT._replace(language="nl")
    assert reworded(Faithfulness(), {"verdicts.nl": dutch}).signature == (
        f"faithfulness/strict.1(verify=verdicts.v5@{VERDICTS.digest[:8]}:verdicts.v1.nl@{dutch.digest[:8]})"
    )


@pytest.mark.parametrize(
    "metric",
    [
        Faithfulness(granularity="sentence"),  # its sentences need no prompt to be split
        FactualCorrectness(variant="paper"),  # one reply holds all lists
        AnswerCorrectness(weights=(0, 1)),  # the facts have no weight
    ],
)
def test_a_prompt_that_a_metric_does_not_ask_leaves_its_signature_as_it_is(metric):
    statements = PromptText("statements", 1, None, "Split.", STATEMENTS.user, STATEMENTS.again)
    assert reworded(metric, {"statements": statements}) == metric


def test_every_metric_has_its_page_and_no_page_is_of_another():
    pages = {path.stem for path in (Path(__file__).parents[2] / "docs" / "metrics").glob("*.md")}
    assert pages == {"index", *METRICS}


@pytest.mark.parametrize("alias", ALIASES)
def test_an_alias_gives_the_metric_itself(alias):
    assert get(alias) == METRICS[ALIASES[alias]]()


def test_the_papers_abbreviations_are_known():
    papers = ["FaiFul", "AnsRel", "ConRel", "AnsSim", "FacCor", "AnsCor"]
    assert [get(name).name for name in papers] == [
        "faithfulness",
        "answer_relevance",
        "context_relevance",
        "answer_similarity",
        "factual_correctness",
        "answer_correctness",
    ]


def test_recommended_are_faithfulness_and_factual_correctness():
    assert resolve("recommended") == (Faithfulness(), FactualCorrectness())


def test_a_metric_given_twice_is_a_mistake():
    with pytest.raises(ConfigError, match=r"^the metric faithfulness/strict\.1 is given twice$"):
        resolve(["faithfulness", Faithfulness()])


def test_rewording_replaces_a_prompt_of_that_name_and_no_other():
    metric = reworded(Faithfulness(), {"verdicts": SHORT})

    assert metric.verify.user == SHORT.user
    assert metric.verify.again == SHORT.again
    assert metric.decompose == STATEMENTS


def test_rewording_adds_a_translation_and_leaves_the_rest():
    verify = reworded(Faithfulness(), {"verdicts.nl": SHORT._replace(language="nl")}).verify

    assert (verify.in_language("nl").user, verify.in_language("nl").language) == (SHORT.user, "nl")
    assert verify.user == verify.in_language("de").user == VERDICTS.user


def test_a_changed_prompt_reaches_the_parts_of_a_metric(measure):
    metric = reworded(RagasScore(parts=(Part("faithfulness"),)), {"verdicts": SHORT})
    replies = {
        "statements": {"statements": ["Paris is in France."], "declined": False},
        "verdicts": "1. yes",  # a text that does not say JSON asks for lines
    }

    measured = measure(
        metric, replies, question="Where?", answer="In France.", contexts=["France."], reference="France."
    )

    asked = measured.judge.asked[-1].messages
    assert asked[0].content == "Judge."
    assert asked[1].content.endswith("Supported?")
    assert measured.score.steps[-1].prompt_digest != VERDICTS.digest


@pytest.mark.parametrize("metric", [Faithfulness(), RagasScore()])
def test_a_prompt_with_other_variables_is_refused(metric):
    with pytest.raises(ConfigError, match=r"prompt verdicts\.v5: expected the variables"):
        reworded(metric, {"verdicts": SHORT._replace(user="{{ items }}")})


def test_a_metric_never_changes():
    with pytest.raises(AttributeError):
        Faithfulness().granularity = "sentence"


def test_a_copy_of_a_variant_keeps_what_was_set_by_hand():
    copy = replace(AnswerRelevance(variant="ragas-0.1", noncommittal="ignore"), n_questions=5)
    assert (copy.variant, copy.noncommittal, copy.n_questions) == ("ragas-0.1", "ignore", 5)


def test_a_metric_that_needs_a_judge_says_so_before_anything_is_asked():
    with pytest.raises(
        ConfigError,
        match=r"^faithfulness needs a judge, and none was given: judge=\.\.\. takes one\. Use ",
    ):
        evaluate([{"question": "q", "answer": "a", "contexts": ["c"]}], metrics=["faithfulness"])


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        ("faithfulness/paper", "faithfulness/paper.1"),
        ("ndcg@10", "ndcg/strict.1(k=10)"),
        ("ndcg(k=10,gain=exponential)", "ndcg/strict.1(gain=exponential,k=10)"),
        ("answer_correctness/strict.1(weights=1:0)", "answer_correctness/strict.1(weights=1:0)"),
        ("rouge(kind=2, stemmer=true)", "rouge/strict.1(kind=2,stemmer=true)"),
        ("criterion(text=names the release)", "criterion/strict.1(text=names the release)"),
        ("mrr@5", "reciprocal_rank/strict.1(k=5)"),
        ("criterion(text=ratio 1:2)", "criterion/strict.1(text=ratio 1:2)"),
        ("criterion(text=3)", "criterion/strict.1(text=3)"),
        ("answer_equivalence(threshold=none)", "answer_equivalence/strict.1"),
        ("answer_correctness(weights=2:0.5)", "answer_correctness/strict.1(weights=2:0.5)"),
    ],
)
def test_a_name_may_carry_settings_as_a_signature_does(name, signature):
    assert get(name).signature == signature


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("faithfulnes", "there is no metric 'faithfulnes'; did you mean 'faithfulness'?"),
        (
            "faithfulness/papr",
            "faithfulness has no variant 'papr', only strict.1, strict.2, paper.1, turn.1, ragas-0.1, "
            "ragas-0.4; "
            "did you mean 'paper.1'?",
        ),
        (
            "faithfulness(grain=sentence)",
            "faithfulness has no setting 'grain'; it has ['aggregate', 'decompose', 'granularity', ",
        ),
        (
            "faithfulness(granularity=word)",
            "faithfulness: granularity must be one of 'statement', 'sentence', 'answer', not 'word'",
        ),
        ("ndcg(k)", "a setting is written setting=value, not 'k'"),
        ("ndcg(k=10", "a metric is written name"),
        ("faithfulness@5", "faithfulness has no setting 'k'"),
        ("ndcg@0", "ndcg: k must be at least 1"),
        ("ndcg@10(k=5)", "ndcg@10(k=5): k is given twice"),
        ("faithfulness(per_call=0)", "faithfulness: per_call must be at least 1, not 0"),
        ("factual_correctness(per_call=0)", "factual_correctness: per_call must be at least 1, not 0"),
        ("context_recall(per_call=0)", "context_recall: per_call must be at least 1, not 0"),
        ("answer_relevance(n_questions=0)", "answer_relevance: n_questions must be at least 1, not 0"),
        ("answer_accuracy(attempts=0)", "answer_accuracy: attempts must be at least 1, not 0"),
        ("factual_correctness(beta=0)", "factual_correctness: beta must be above 0, not 0"),
        ("factual_correctness(beta=inf)", "factual_correctness: beta must be a finite number, not inf"),
        ("answer_correctness(weights=0:0)", "0 or more, one of them above 0, not (0, 0)"),
        ("answer_correctness(weights=-1:2)", "0 or more, one of them above 0, not (-1, 2)"),
        (
            "answer_correctness(weights=1:2:3)",
            "weights must be 2 values, each a finite number, not (1, 2, 3)",
        ),
        ("answer_correctness(weights=nan:1)", "weights must be 2 values, each a finite number, not (nan, 1)"),
        (
            "answer_similarity(threshold=1.5)",
            "answer_similarity: threshold must be between -1 and 1, not 1.5",
        ),
        ("answer_similarity(threshold=-2)", "answer_similarity: threshold must be between -1 and 1, not -2"),
        ("answer_equivalence(threshold=-1)", "answer_equivalence: threshold must be between 0 and 1, not -1"),
        ("bert_score(baseline=1)", "bert_score: baseline must be at least 0 and below 1, not 1"),
        (
            "chrf(char_order=0)",
            "chrf: char_order and beta must be at least 1 and word_order at least 0, not 0",
        ),
        ("chrf(word_order=-1)", "chrf: char_order and beta must be at least 1"),
        ("chrf(beta=0)", "chrf: char_order and beta must be at least 1"),
        ("meteor(alpha=1)", "meteor: alpha must be between 0 and 1"),
        (
            "rubric(levels=only)",
            "rubric: levels must be at least two texts that are not blank, not ('only',)",
        ),
        ("rubric(levels=wrong:)", "rubric: levels must be at least two texts"),
        ("criterion(text=)", "criterion: say what the answer must do"),
        (
            "context_relevance(without_sentences=2)",
            "context_relevance: without_sentences must be a score from 0 to 1, not 2",
        ),
        ("context_precision(epsilon=-1)", "context_precision: epsilon must be 0 or more, not -1"),
        ("ndcg(k=2.5)", "ndcg: k must be a whole number or none, not 2.5"),
        (
            "answer_relevance(n_questions=abc)",
            "answer_relevance: n_questions must be a whole number, not 'abc'",
        ),
        (
            "answer_similarity(threshold=nan)",
            "answer_similarity: threshold must be a finite number or none, not nan",
        ),
        ("bleu(lowercase=2)", "bleu: lowercase must be true or false, not 2"),
        ("rouge(kind=3)", "rouge: kind must be one of '1', '2', 'L', not '3'"),
        (
            "answer_correctness(weights=1:x)",
            "answer_correctness: weights must be 2 values, each a finite number, not (1, 'x')",
        ),
        (
            "faithfulness(variant=paper)",
            "faithfulness: the variant is not a setting; write faithfulness/paper",
        ),
        (
            "faithfulness(verify=strictly)",
            "faithfulness: verify must be a prompt, not 'strictly'; pass Faithfulness(verify=Prompt(...)), "
            "a version of the library's, or a folder of prompts (prompts=..., --prompts)",
        ),
        (
            "faithfulness(verify=verdicts.v9)",
            "the prompt library has no version 'verdicts.v9' of verdicts; it has verdicts.v1, verdicts.v2, "
            "verdicts.v3, verdicts.v4",
        ),
        (
            "faithfulness(verify=verdicts.v2@00000000)",
            "the library's verdicts.v2 has the digest faed3dc1d1e2c7d5d055b72c08c86a40, not 00000000",
        ),
        (
            "faithfulness(decompose=answer_rating.v1)",
            "the prompt library has no version 'answer_rating.v1' of statements; it has statements.v1, "
            "statements.v2",
        ),
        (
            "answer_accuracy(rate=accuracy_grade.v1)",
            "answer_accuracy: rate must be a prompt with {first, question, second}, not accuracy_grade.v1 "
            "with {answer, question, reference}",
        ),
        (
            "answer_correctness(factual=paper)",
            "answer_correctness: factual must be made of Part(...), not 'paper'; "
            "pass AnswerCorrectness(factual=...)",
        ),
    ],
)
def test_settings_that_cannot_be_read_are_a_mistake(name, message):
    with pytest.raises(ConfigError, match=re.escape(message)):
        get(name)


def test_a_variant_or_a_setting_in_the_name_and_beside_it_is_a_mistake():
    with pytest.raises(ConfigError, match=r"^faithfulness/paper: variant is given twice$"):
        get("faithfulness/paper", variant="strict")
    with pytest.raises(ConfigError, match=r"^ndcg@10: k is given twice$"):
        get("ndcg@10", k=5)


def test_settings_of_an_object_are_checked_like_those_of_a_name():
    with pytest.raises(ConfigError, match=r"^ndcg: k must be a whole number or none, not True$"):
        Ndcg(k=True)
    with pytest.raises(ConfigError, match=r"^faithfulness: verify must be a prompt, not 'Is it so\?';"):
        Faithfulness(verify="Is it so?")
    with pytest.raises(
        ConfigError, match=r"^ragas_score: parts must be one or more different metrics, not \["
    ):
        RagasScore(parts=(Part("faithfulness"), Part("faithfulness", "paper")))


def test_a_list_is_as_good_as_a_tuple():
    assert AnswerCorrectness(weights=[0.75, 0.25]) == AnswerCorrectness()


def test_what_a_metric_of_ones_own_may_hold_is_not_checked_where_its_type_says_more():
    @dataclass(frozen=True, kw_only=True)
    class Own(Faithfulness):
        ignored: frozenset[str] = frozenset()
        limit: "NotImportedHere" = 3  # noqa: F821 - as under TYPE_CHECKING

    assert Own(ignored={"a"}, limit="many").limit == "many"
