"""The machinery below the metrics: paths, sharing, splitting, and metrics of the user's own."""

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core import Metric, Run, Sample, evaluate, prompts, recompute
from ragmetrics_core.asking import ask, ask_draws, rate, similar, split, together
from ragmetrics_core.drivers import audit
from ragmetrics_core.drivers._interpreter import Segments
from ragmetrics_core.measurement import Measurement, undefined, valued
from ragmetrics_core.parsers import split_sentences
from ragmetrics_core.protocol import Completion, Steps
from ragmetrics_core.samples import Answered, Referenced
from ragmetrics_core.testing import HashEmbedder, ScriptedJudge

SAMPLE = {"id": "q1", "question": "Q?", "answer": "One. Two.", "reference": "R", "contexts": ["C"]}
VALID = st.text(st.characters(exclude_categories=["Cs"]))


@dataclass(frozen=True, kw_only=True)
class Overlap(Metric[Referenced]):
    """A metric of a user: what a scorer makes of answer and reference, range [0, 1]; never undefined."""

    name = "overlap"
    inputs = Referenced
    needs = frozenset({"scorer"})

    def measure(self, sample: Referenced) -> Steps[Measurement]:
        (rating,) = yield from rate([(sample.answer, sample.reference)])
        return valued(rating, counts={"rating": rating}, spelled="rating")


@dataclass(frozen=True, kw_only=True)
class Forked(Metric[Answered]):
    """A metric with nested forks, range [0, 9]; undefined without sentences."""

    name = "forked"
    inputs = Answered
    needs = frozenset({"judge", "embedder"})

    def measure(self, sample: Answered) -> Steps[Measurement]:
        def branch(text: str) -> Steps[int]:
            listed, _ = yield from together(
                ask(prompts.STATEMENTS, question=text, answer=sample.answer), similar(text, [sample.answer])
            )
            return len(listed.statements)

        sentences = yield from split(sample.answer)
        if not sentences:
            return undefined("no_sentences")
        counts = yield from together(*(branch(sentence) for sentence in sentences))
        return valued(float(sum(counts)), counts={"statements": sum(counts)}, spelled="{statements}")


class LengthRatio:
    """A scorer that needs no model."""

    identity = "length-ratio"

    async def arate(self, pairs: Any) -> list[float]:
        return [min(map(len, pair)) / max(map(len, pair)) for pair in pairs]


def forked() -> Run:
    judge = ScriptedJudge(
        lambda request: {"statements": [request.variables["question"], "more"], "declined": False}
    )
    return evaluate([SAMPLE], metrics=[Forked()], judge=judge, embedder=HashEmbedder())


def test_paths_name_each_steps_place_in_nested_forks():
    # request 1 splits, request 2 forks into two branches; each branch forks into asking and comparing
    paths = [(step.path, step.kind) for step in forked().score("q1", "forked").steps]
    assert paths == [
        ("2.1.1.1.1", "generate"),
        ("2.1.1.2.1", "compare"),
        ("2.2.1.1.1", "generate"),
        ("2.2.1.2.1", "compare"),
    ]


def test_a_users_own_metric_is_measured_and_audited_through_its_run():
    run = forked()
    assert run.score("q1", "forked").formula == "4 = 4"
    assert list(run.audit()) == []


def test_a_users_own_metric_is_recomputed_when_it_is_passed():
    record = forked().score("q1", "forked")
    assert recompute(record, metric=Forked()).value == record.value


def test_a_scorer_rates_pairs_and_the_record_proves_it():
    run = evaluate([SAMPLE], metrics=[Overlap()], scorer=LengthRatio())
    record = run.score("q1", "overlap")
    # "One. Two." has 9 characters, "R" has 1
    assert record.value == pytest.approx(1 / 9)
    assert record.scorer == "length-ratio"
    assert audit(record, metric=Overlap()) == []


def test_draws_are_asked_in_one_call_and_the_rest_again_when_fewer_come():
    class Stingy:
        """Returns at most two completions for a call."""

        identity = "stingy"

        def __init__(self) -> None:
            self.asked: list[tuple[int, int]] = []

        async def agenerate(self, request: Any) -> list[Completion]:
            self.asked.append((request.draw, request.draws))
            return [Completion(text=f"Question {request.draw + n}?") for n in range(min(2, request.draws))]

    @dataclass(frozen=True, kw_only=True)
    class Drawn(Metric[Answered]):
        """Three draws, range [0, 3]; never undefined."""

        name = "drawn"
        inputs = Answered

        def measure(self, sample: Answered) -> Steps[Measurement]:
            drawn = yield from ask_draws(prompts.PAPER_QUESTION, 3, answer=sample.answer)
            texts = {each.questions[0].question for each in drawn}
            return valued(float(len(texts)), counts={}, spelled="distinct questions")

    judge = Stingy()
    score = evaluate([SAMPLE], metrics=[Drawn()], judge=judge).score("q1", "drawn")
    assert judge.asked == [(0, 3), (2, 1)]
    assert score.value == 3.0
    assert [step.draw for step in score.steps] == [0, 1, 2]


def test_prompts_are_asked_in_the_samples_language_where_there_is_a_translation():
    german = prompts.STATEMENTS.with_text(
        system="",
        user='Zerlege: {{ question }} {{ answer }} JSON: {"statements": [], "declined": false}',
    )
    translated = prompts.Prompt(
        **{
            name: getattr(prompts.STATEMENTS, name)
            for name in ("name", "version", "answer", "system", "user")
        },
        translations={"de": german},
    )

    @dataclass(frozen=True, kw_only=True)
    class Listing(Metric[Answered]):
        """One call, range [0, 9]; never undefined."""

        name = "listing"
        inputs = Answered

        def measure(self, sample: Answered) -> Steps[Measurement]:
            listed = yield from ask(translated, question=sample.question, answer=sample.answer)
            return valued(float(len(listed.statements)), counts={}, spelled="statements")

    judge = ScriptedJudge({"statements": {"statements": ["a"], "declined": False}})
    rows = [{**SAMPLE, "language": "de"}, {**SAMPLE, "id": "q2", "language": "fr"}]
    run = evaluate(rows, metrics=[Listing()], judge=judge, concurrency=1)
    assert [request.messages[1].content.split(" ")[0] for request in judge.asked] == ["Zerlege:", "Split"]
    assert list(run.audit()) == []


@given(VALID)
def test_segments_are_the_sentences_and_say_where_they_stand(text):
    used: dict[str, tuple[tuple[int, int], ...]] = {}
    sentences = Segments(Sample(id="s")).sentences(text, used)
    assert sentences == split_sentences(text)
    (spans,) = used.values()
    assert tuple(text[start:end] for start, end in spans) == sentences


def test_a_recorded_split_is_used_whatever_the_splitter_does_today():
    record = forked().score("q1", "forked")
    (digest,) = record.segments
    # as if an earlier splitter had cut the first sentence of "One. Two." before its full stop
    other = record.model_copy(update={"segments": {digest: ((0, 3), (5, 9))}})
    assert "steps[1].rendered_digest" in [found.field for found in audit(other, metric=Forked())]


def test_a_record_with_a_step_taken_out_is_a_difference_and_no_crash():
    record = forked().score("q1", "forked")
    other = record.model_copy(update={"steps": record.steps[1:]})
    (first, *_) = audit(other, metric=Forked())
    assert str(first.derived) == "forked/strict.1 of q1: the record has no step 2.1.1.1.1 (statements.v5)"
