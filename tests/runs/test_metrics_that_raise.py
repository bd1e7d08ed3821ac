"""A metric of a user's own that does not do what it should fails its sample, and no more."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from ragmetrics_core import Run, evaluate
from ragmetrics_core.asking import ask, together
from ragmetrics_core.drivers import audit
from ragmetrics_core.measurement import Measurement, valued
from ragmetrics_core.metrics import Metric
from ragmetrics_core.prompts import STATEMENTS
from ragmetrics_core.report._causes import Causes
from ragmetrics_core.runs import plan
from ragmetrics_core.samples import Answered
from ragmetrics_core.testing import ScriptedJudge

ROWS = [{"id": f"s{n}", "question": "Where?", "answer": f"Paris {n}."} for n in range(3)]
REPLIES: dict[str, Any] = {"statements": {"statements": ["Paris."], "declined": False}}


def fail() -> Any:
    raise ZeroDivisionError("division by zero")


@dataclass(frozen=True, kw_only=True)
class Odd(Metric[Answered]):
    """Does something odd on the second sample."""

    name = "odd"
    inputs = Answered
    needs = frozenset()

    def measure(self, sample: Answered) -> Any:
        yield from ()
        if sample.answer == "Paris 1.":
            return ODD[-1]()
        return valued(1.0, counts={"n": 1}, spelled="{n}")


ODD: list[Callable[[], Any]] = [fail]


@pytest.mark.parametrize(
    ("odd", "told"),
    [
        (fail, "odd on sample s1: ZeroDivisionError: division by zero"),
        (
            lambda: 0.5,
            "odd on sample s1: measure must return score(), valued() or undefined(), and returned float",
        ),
        (lambda: Measurement(value=float("nan")), "odd on sample s1: value: Input should be a finite number"),
        (lambda: valued(float("nan"), counts={}, spelled=""), "odd on sample s1: ValueError: cannot convert"),
        (lambda: valued(1.0, counts={}, spelled="{n}"), "odd on sample s1: KeyError: 'n'"),
    ],
)
def test_a_metric_that_raises_fails_that_sample_with_both_names_and_the_run_goes_on(tmp_path, odd, told):
    ODD.append(odd)
    run = evaluate(ROWS, metrics=[Odd()], out=tmp_path / "run")
    assert run.mean("odd").statuses == {"ok": 2, "metric_error": 1}
    assert (run.score("s1", "odd").reason or "").startswith(told)
    assert list(run.audit()) == []
    # mended, the same call measures that sample again
    ODD.append(lambda: valued(0.0, counts={}, spelled="none"))
    assert evaluate(ROWS, metrics=[Odd()], out=tmp_path / "run").mean("odd").statuses == {"ok": 3}


def test_the_reason_names_the_line_of_the_metrics_own_file():
    # the last line of this file that the error came through: where `fail` raises
    ODD.append(fail)
    line = fail.__code__.co_firstlineno + 1
    reason = evaluate(ROWS, metrics=[Odd()]).score("s1", "odd").reason or ""
    assert reason.endswith(f"division by zero (test_metrics_that_raise.py, line {line})")


def test_a_file_that_was_edited_above_the_line_proves_its_failures_as_before(tmp_path):
    ODD.append(fail)
    run = evaluate(ROWS, metrics=[Odd()], out=tmp_path / "run")
    found = run.score("s1", "odd")
    moved = found.model_copy(update={"reason": (found.reason or "").replace("line ", "line 9")}).sealed()
    assert audit(found, metric=Odd()) == audit(moved, metric=Odd()) == []


@dataclass(frozen=True, kw_only=True)
class Beside(Metric[Answered]):
    """One branch raises while the other one waits for a reply that another metric shares."""

    name = "beside"
    inputs = Answered

    def measure(self, sample: Answered) -> Any:
        def broken() -> Any:
            yield from ()
            fail()

        yield from together(ask(STATEMENTS, question=sample.question, answer=sample.answer), broken())


@dataclass(frozen=True, kw_only=True)
class Statements(Metric[Answered]):
    """Asks the same, and is well."""

    name = "statement_count"
    inputs = Answered

    def measure(self, sample: Answered) -> Any:
        found = yield from ask(STATEMENTS, question=sample.question, answer=sample.answer)
        return valued(len(found.statements), counts={}, spelled="")


def test_a_branch_that_raises_takes_nothing_from_a_metric_that_shares_its_calls():
    run = evaluate(ROWS, metrics=[Beside(), Statements()], judge=ScriptedJudge(REPLIES))
    assert run.mean("beside").statuses == {"metric_error": 3}
    assert run.mean("statement_count").statuses == {"ok": 3}
    assert list(run.audit()) == []


@dataclass(frozen=True, kw_only=True)
class Misspelled(Metric[Answered]):
    """Fills in a variable that the prompt has not."""

    name = "misspelled"
    inputs = Answered

    def measure(self, sample: Answered) -> Any:
        yield from ask(STATEMENTS, question=sample.question, reply=sample.answer)


@dataclass(frozen=True, kw_only=True)
class Yields(Metric[Answered]):
    """Yields what is no request."""

    name = "yields"
    inputs = Answered
    needs = frozenset()

    def measure(self, sample: Answered) -> Any:
        yield "a request"


@dataclass(frozen=True, kw_only=True)
class Plain(Metric[Answered]):
    """Is no generator."""

    name = "plain"
    inputs = Answered
    needs = frozenset()

    def measure(self, sample: Answered) -> Any:
        return valued(1.0, counts={}, spelled="")


def test_a_metric_that_is_written_wrong_is_told_so_as_a_score_without_a_value():
    run = evaluate(ROWS[:1], metrics=[Misspelled(), Yields(), Plain()], judge=ScriptedJudge(REPLIES))
    reasons = [each.reason or "" for each in run.records()]
    assert "PromptError" in reasons[0]
    assert reasons[1:] == [
        "yields on sample s0: measure must yield from the steps of ragmetrics_core.asking, and yielded str",
        "plain on sample s0: measure is no generator: it returned Measurement",
    ]


def test_one_cause_on_many_samples_is_told_once_with_the_first_sample():
    ODD.append(fail)
    same = [{**row, "question": f"{n}?", "answer": "Paris 1."} for n, row in enumerate(ROWS)]
    run: Run = evaluate(same, metrics=[Odd()], concurrency=1)
    place = f"test_metrics_that_raise.py, line {fail.__code__.co_firstlineno + 1}"
    told = f"odd on sample s0: ZeroDivisionError: division by zero ({place})"
    assert Causes.of(run.outcomes()).failed == [(("metric_error", told), 3)]


def test_a_plan_of_a_metric_that_raises_is_a_plan():
    ODD.append(fail)
    assert plan(ROWS, metrics=[Odd()]).samples == 3
