"""Scores that ragas gave, through our metrics: the same number, or a stated reason why not.

`ragas_formula_cases.json` was made by running ragas 0.0.11, 0.1.7, 0.1.21 and 0.4.3; `cases_by_hand.json`
adds cases that their rules decide and that the file lacks. `ragas_rating_cases.json` was made by running the
rating metrics of ragas 0.4.3 with a judge that follows a script; it says how often ragas asked. Where we do
something else on purpose, a rule of `OURS_INSTEAD` says what and why, from a case's inputs alone, so that it
also holds for cases that are added.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ragmetrics_core.drivers import audit
from ragmetrics_core.errors import ConfigError
from tests.conformance.conftest import Case, final_list, free_text

Decisions = Sequence[bool | None]

FOLDER = Path(__file__).parent


def cases_of(name: str) -> list[Case]:
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


CASES = [
    *cases_of("ragas_formula_cases.json"),
    *cases_of("ragas_rating_cases.json"),
    *cases_of("cases_by_hand.json"),
]


# no number that ragas would give: no score, or the share of the verdicts that have a statement
UNSURE = "unsure"
# a score, or none with a reason
NO_ERROR = "no error"
STATUSES = {UNSURE: {"parse_error", "incomplete", "ok"}, NO_ERROR: {"ok", "undefined"}}


class Outcome(NamedTuple):
    """What a metric makes of a case; a field that an expectation leaves at None is not compared."""

    status: str
    value: float | None = None
    bounds: tuple[float, float] | None = None
    reason: str | None = None


# -- what our metrics should give, worked out from the inputs alone


def decided(value: object) -> bool | None:
    """The decision in a verdict's value: only 1 and 0, in JSON's or the judge's words, are one."""
    if isinstance(value, str):
        return {"yes": True, "1": True, "no": False, "0": False}.get(value.casefold())
    return bool(value) if isinstance(value, int) and value in {0, 1} else None


def share(verdicts: Sequence[bool]) -> float:
    return sum(verdicts) / len(verdicts)


def average_precision(verdicts: Sequence[bool]) -> float:
    precisions = [share(verdicts[:rank]) for rank, relevant in enumerate(verdicts, start=1) if relevant]
    return sum(precisions) / (len(precisions) + 1e-10)


def f_of(tp: int, fp: int, fn: int, beta: float) -> float:
    return (1 + beta**2) * tp / ((1 + beta**2) * tp + beta**2 * fn + fp)


class Verdicts(NamedTuple):
    """A case as decisions on numbered texts, `None` where there is none, and the formula over them."""

    groups: list[Decisions]
    formula: Callable[..., float]


def verdicts_of(case: Case) -> Verdicts | None:
    """The verdicts of a case, put at the numbers of what they are about: what is beyond does not count."""
    i = case["inputs"]
    match case["metric"]:
        case "faithfulness" | "context_recall":
            if text_of_verdicts(case) is not None:
                return None
            given = [decided(each) for each in i.get("verdicts", i.get("attributed", []))]
            count = len(i.get("statements", given))
            return Verdicts([(given + [None] * count)[:count]], share)
        case "context_precision":
            return Verdicts([[decided(each) for each in i.get("verdicts", [])]], average_precision)
        case "factual_correctness" if "response_claim_verdicts" in i:
            sides = [i["response_claim_verdicts"], i["reference_claim_verdicts"]]
            beta, mode = i.get("beta", 1.0), i.get("mode", "f1")

            def formula(response: Sequence[bool], reference: Sequence[bool]) -> float:
                tp, fp, fn = sum(response), len(response) - sum(response), len(reference) - sum(reference)
                values = {"precision": (tp, tp + fp), "recall": (tp, tp + fn)}
                if mode == "f1":
                    return round(f_of(tp, fp, fn, beta), 2) if tp else 0.0
                part, whole = values[mode]
                return round(part / whole, 2) if whole else 0.0

            return Verdicts([[decided(each) for each in side] for side in sides], formula)
    return None


# -- where ours differs: each rule gives our outcome for the cases that it is about


def settings_that_mean_nothing(case: Case) -> Outcome | None:
    """Weights, a beta or a mode that ragas rejects are a `ConfigError` here too, before anything is asked."""
    i = case["inputs"]
    weights = i.get("weights", [1, 1])
    weighs_nothing = len(weights) != 2 or min(weights) < 0 or sum(weights) == 0
    unknown = (
        i.get("mode", "f1") not in {"f1", "precision", "recall"} and case["metric"] == "factual_correctness"
    )
    return Outcome("ConfigError") if weighs_nothing or unknown or i.get("beta", 1) <= 0 else None


def whole_number_as_beta(case: Case) -> Outcome | None:
    """Ragas rejects beta 2 and takes 2.0; they are one number, so ours computes with it."""
    i = case["inputs"]
    if not isinstance(i.get("beta"), int) or not str(case["expected"]).startswith("ERROR"):
        return None
    if verdicts := verdicts_of(case):
        return Outcome("ok", verdicts.formula(*verdicts.groups))
    factual = f_of(i.get("TP", 1), i.get("FP", 0), i.get("FN", 0), i["beta"])
    weights = i.get("weights", [0.75, 0.25]) if case["metric"] == "answer_correctness" else [1, 0]
    return Outcome("ok", (weights[0] * factual + weights[1] * i.get("similarity", 1.0)) / sum(weights))


def nothing_was_retrieved(case: Case) -> Outcome | None:
    """Without a chunk there is no rank and nothing to rest on; ragas raises, or gives 0 or NaN."""
    if case["metric"] not in {"faithfulness", "context_precision"}:
        return None
    i = case["inputs"]
    no_chunks = not any(each.strip() for each in i.get("retrieved_contexts", i.get("contexts", ["a chunk"])))
    no_ranks = case["metric"] == "context_precision" and i.get("verdicts", []) == []
    return Outcome("undefined", reason="no_contexts") if no_chunks or no_ranks else None


def an_empty_text_raises(case: Case) -> Outcome | None:
    """An empty answer or reference makes ragas raise; ours is undefined, and the run goes on."""
    raises = str(case["expected"]).startswith("ERROR")
    if raises and case["metric"] in {"faithfulness", "context_recall"}:
        return Outcome("undefined", reason="no_statements")
    return None


def a_verdict_is_neither_yes_nor_no(case: Case) -> Outcome | None:
    """Ragas takes a 2 for a yes, or for two; here it decides nothing, and what it could be is the bounds."""
    verdicts = verdicts_of(case)
    if verdicts is None or all(None not in group for group in verdicts.groups):
        return None
    if any(group and not any(each is not None for each in group) for group in verdicts.groups):
        return Outcome("parse_error")
    completions = [
        list(product(*((False, True) if each is None else (each,) for each in group)))
        for group in verdicts.groups
    ]
    values = [verdicts.formula(*filled) for filled in product(*completions)]
    return Outcome("incomplete", bounds=(min(values), max(values)), reason="missing_verdicts")


def more_verdicts_than_statements(case: Case) -> Outcome | None:
    """Ragas divides by the verdicts that came back; here one that was not asked about spoils the reply.

    Too few verdicts are `a_verdict_is_neither_yes_nor_no`: the missing ones could be either.
    """
    i = case["inputs"]
    given = i.get("verdicts", i.get("attributed", []))
    return Outcome("parse_error") if "statements" in i and len(given) > len(i["statements"]) > 0 else None


def the_text_has_no_verdict_for_each_statement(case: Case) -> Outcome | None:
    """Ragas 0.0 counts pieces of text: none gives 1, too many go below 0. Here only numbered ones count."""
    text, count = text_of_verdicts(case), count_of_statements(case["inputs"])
    if text is None or (words := words_of(text)) == [] or count is None or len(words) == count:
        return None if text is None or words else Outcome("parse_error")
    return Outcome(UNSURE, share(words[:count]))


def the_text_has_other_marks(case: Case) -> Outcome | None:
    """Ragas 0.0 splits verdicts at full stops and statements at every line: "Yes, no" is one yes to it."""
    text = text_of_verdicts(case)
    blank = any("\n\n" in each for each in case["inputs"].values() if isinstance(each, str))
    if text is None or not (blank or re.search(r"\b(?:yes|no)\b\s*[,;]", text, re.IGNORECASE)):
        return None
    return Outcome("ok", share(words_of(text)))


def text_of_verdicts(case: Case) -> str | None:
    """The verdicts as running text, as versions before 0.0.22 asked for them."""
    return free_text(case["inputs"]) if case["metric"] == "faithfulness" else None


def words_of(text: str) -> list[bool]:
    """The verdicts that a text gives: those of its final list, else each behind "verdict:"."""
    return [word == "yes" for word in re.findall(r"\b(?:yes|no)\b", final_list(text))]


def count_of_statements(inputs: Mapping[str, Any]) -> int | None:
    for name, value in inputs.items():
        if "statement" in name:
            lines = [line for line in value.splitlines() if line.strip()] if isinstance(value, str) else value
            return lines if isinstance(lines, int) else len(lines)
    return None


def a_blank_question(case: Case) -> Outcome | None:
    """Ragas embeds an empty question and scores none as 0; here it is asked for as many as there must be."""
    if case["metric"] != "answer_relevancy":
        return None
    i = case["inputs"]
    questions = i.get("generated_questions", i.get("generated_question_vectors", []))
    return None if questions and all(questions) else Outcome("parse_error")


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True)) / (math.hypot(*a) * math.hypot(*b))


def a_threshold_of_zero(case: Case) -> Outcome | None:
    """Ragas takes a threshold of 0 for no threshold and gives the cosine; here it is one."""
    i = case["inputs"]
    if case["metric"] != "semantic_similarity" or i.get("threshold") is None or i["threshold"] != 0:
        return None
    return Outcome("ok", float(cosine(i["reference_vector"], i["response_vector"]) >= 0))


def an_empty_reply(case: Case) -> Outcome | None:
    """Ragas counts no sentence in an empty reply and scores 0; a judge that says nothing has not judged."""
    return Outcome("parse_error") if case["inputs"].get("llm_reply", "text").strip() == "" else None


def statements_that_the_classifier_leaves_out(case: Case) -> Outcome | None:
    """Ragas scores statements that its classifier put nowhere as 0 or 1; here they wait for a verdict."""
    i = case["inputs"]
    left_out = i.get("response_statements", 0) > 0 and i.get("TP", 1) + i.get("FP", 0) == 0
    return Outcome("parse_error") if left_out and i.get("weights", [1])[0] else None


def no_statement_on_either_side_under_0_1(case: Case) -> Outcome | None:
    """Ragas 0.1.21 calls two sides without statements equal (1), 0.1.7 different (0); our 0.1 is as 0.1.7."""
    i = case["inputs"]
    empty = (i.get("response_statements"), i.get("reference_statements")) == (0, 0)
    if case["metric"] != "answer_correctness" or not case["variant"].startswith("ragas-0.1") or not empty:
        return None
    factual, similar = i.get("weights", [0.75, 0.25])
    return Outcome("ok", similar * i.get("similarity", 1.0) / (factual + similar))


def another_error(case: Case) -> Outcome | None:
    """An error of ragas that no rule above is about: ours does not end the run with one."""
    return Outcome(NO_ERROR) if str(case["expected"]).startswith("ERROR") else None


def not_a_number(case: Case) -> Outcome | None:
    """What ragas calls NaN has no value here either, and the reason is said."""
    return Outcome("undefined") if case["expected"] == "NaN" else None


RATED = {"context_relevance", "response_groundedness", "answer_accuracy"}


def no_rating_on_the_scale(case: Case) -> Outcome | None:
    """Ragas has NaN when no judge gives a rating on the scale; here that is a stated failure."""
    is_missing = case["metric"] in RATED and case["expected"] == "NaN"
    return Outcome("parse_error") if is_missing else None


def nothing_is_relevant(case: Case) -> Outcome | None:
    """Ragas has a precision of 0 where no id is relevant; there nothing can be precise."""
    return Outcome("undefined") if case["inputs"].get("reference_ids") == [] else None


OURS_INSTEAD = (
    no_rating_on_the_scale,
    nothing_is_relevant,
    settings_that_mean_nothing,
    whole_number_as_beta,
    nothing_was_retrieved,
    an_empty_text_raises,
    the_text_has_no_verdict_for_each_statement,
    the_text_has_other_marks,
    a_verdict_is_neither_yes_nor_no,
    more_verdicts_than_statements,
    a_blank_question,
    a_threshold_of_zero,
    an_empty_reply,
    statements_that_the_classifier_leaves_out,
    no_statement_on_either_side_under_0_1,
    another_error,
    not_a_number,
)


def expected_of(case: Case) -> Outcome:
    """Our outcome: that of the first rule about the case, else the number that ragas gave."""
    found = next((outcome for rule in OURS_INSTEAD if (outcome := rule(case)) is not None), None)
    return found or Outcome("ok", case["expected"])


# -- the tests

LATER = {"quoted_spans_alignment"}
RUN = [case for case in CASES if case["metric"] not in LATER]


@pytest.mark.parametrize("case", RUN, ids=[case["id"] for case in RUN])
def test_a_case_of_ragas_scores_the_same_or_says_why_not(case, run_case):
    expected = expected_of(case)
    if expected.status == "ConfigError":
        with pytest.raises(ConfigError):
            run_case(case)
        return

    score = run_case(case)

    assert score.status in STATUSES.get(expected.status, {expected.status}), score.explain()
    if expected.value is not None and score.status == "ok":
        assert math.isclose(score.value, expected.value, rel_tol=0, abs_tol=1e-12), score
    # our bounds of context precision leave out the 1e-10 that the variant adds to the denominator
    assert expected.bounds is None or score.bounds == pytest.approx(expected.bounds, rel=0, abs=1e-9)
    assert expected.reason in {None, score.reason}
    assert audit(score) == []


@pytest.mark.parametrize("case", [each for each in RUN if "calls" in each], ids=lambda case: case["id"])
def test_a_rating_is_asked_for_as_often_as_ragas_asks(case, run_case):
    if not str(case["expected"]).startswith("ERROR"):
        assert len(list(run_case(case).generate_steps)) == case["calls"]


def test_every_metric_of_the_cases_has_a_counterpart_or_a_reason_why_not(counterparts):
    metrics = {case["metric"] for case in CASES}
    assert metrics - set(counterparts) == set()
    assert {name for name, counterpart in counterparts.items() if hasattr(counterpart, "why")} == LATER


def test_every_case_has_its_own_id():
    assert len({case["id"] for case in CASES}) == len(CASES)


@pytest.mark.parametrize("rule", OURS_INSTEAD, ids=lambda rule: rule.__name__)
def test_every_difference_from_ragas_is_shown_by_a_case(rule):
    # a rule that no case needs would hide a wrong number one day
    ours = [(rule(case), Outcome("ok", case["expected"])) for case in RUN]
    assert any(outcome is not None and outcome != theirs for outcome, theirs in ours)
