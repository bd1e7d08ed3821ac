"""A metric of one's own: `yield from` keeps the type of each answer."""

from dataclasses import dataclass
from typing import assert_type

from ragmetrics_core import evaluate, prompts
from ragmetrics_core.authoring import (
    Answered,
    EntityList,
    Grounded,
    Judged,
    Labels,
    Measurement,
    Metric,
    Prompt,
    StatementList,
    Steps,
    VerdictList,
    ask,
    ask_each,
    check_metric,
    score,
    scoring,
    similar,
    split,
    together,
    undefined,
)


@dataclass(frozen=True, kw_only=True)
class Hedging(Metric[Answered]):
    """A metric as docs/new_metric.md writes one."""

    name = "hedging"
    inputs = Answered
    higher_is_better = False

    verify: Prompt[VerdictList] = prompts.VERDICTS
    least: int = 1

    def measure(self, sample: Answered) -> Steps[Measurement]:
        sentences = yield from split(sample.answer)
        assert_type(sentences, tuple[str, ...])
        if len(sentences) < self.least:
            return undefined("no_sentences")
        judged = yield from ask_each(
            self.verify, sentences, labels=Labels("hedges", "plain"), answer=sample.answer
        )
        assert_type(judged, Judged)
        counts = {"hedging": judged.supported, "sentences": len(judged)}
        return score(
            lambda hedges: float(any(hedges)), judged, counts=counts, spelled="{hedging} / {sentences}"
        )


@dataclass(frozen=True, kw_only=True)
class Mistaken(Metric[Grounded]):
    """What a type checker finds before a run does."""

    name = "mistaken"
    inputs = Grounded

    decompose: Prompt[StatementList] = prompts.STATEMENTS
    entities: Prompt[EntityList] = prompts.ENTITIES

    def measure(self, sample: Grounded) -> Steps[Measurement]:
        answer = yield from ask(self.decompose, question=sample.question, answer=sample.answer)
        assert_type(answer, StatementList)
        print(answer.verdicts)  # error: attr-defined, reportAttributeAccessIssue
        print(sample.reference)  # error: attr-defined, reportAttributeAccessIssue
        listed, named = yield from together(
            ask(self.decompose, question=sample.question, answer=sample.answer),
            ask(self.entities, contexts=sample.contexts),
        )
        assert_type(listed, StatementList)
        assert_type(named, EntityList)
        (cosine,) = yield from similar(sample.question, [sample.answer])
        print(cosine + 1)  # error: operator, reportOptionalOperand
        judged = yield from ask_each(self.decompose, answer.statements)  # error: arg-type, reportArgumentType
        counts = {"supported": judged.supported}
        print(score(scoring.supported_share, judged, counts=counts))  # error: call-overload, reportCallIssue
        if not answer.statements:
            return 0.0  # error: return-value, reportReturnType
        return score(scoring.supported_share, judged, counts=counts, spelled="{supported}")


@dataclass(frozen=True, kw_only=True)
class Unfinished(Metric[Grounded]):
    """A `measure` that is no generator of steps."""

    name = "unfinished"
    inputs = Grounded

    def measure(self, sample: Grounded) -> float:  # error: override, reportIncompatibleMethodOverride
        return float(len(sample.answer))


def it_is_used_as_any_other() -> None:
    evaluate("data.jsonl", metrics=[Hedging(least=2), "faithfulness"])
    check_metric(Hedging(), [{"answer": "It may rain."}])
    check_metric(Hedging, [])  # error: arg-type, reportArgumentType
    Hedging(least="2")  # error: arg-type, reportArgumentType
    Hedging(most=2)  # error: call-arg, reportCallIssue
    Hedging(verify=prompts.STATEMENTS)  # error: arg-type, reportArgumentType
