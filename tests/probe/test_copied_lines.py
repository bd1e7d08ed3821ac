"""A judge that copies lines of the sample says nothing by it: no verdict is read out of them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from ragmetrics_core import Sample, evaluate
from ragmetrics_core.metrics import METRICS, get
from ragmetrics_core.parsers import (
    ExtractedSentences,
    FactLists,
    Rating,
    RelevantSentences,
    VerdictList,
)
from ragmetrics_core.probe import read_corpus
from ragmetrics_core.protocol import Completion, Generate
from ragmetrics_core.runs.preparation import prompt_names
from ragmetrics_core.testing import HashEmbedder, OverlapScorer
from ragmetrics_embedded import LexicalJudge

ATTACKS = read_corpus().attacks
JUDGED = [
    f"{name}/{variant}"
    for name, kind in METRICS.items()
    if "judge" in kind.needs
    for variant in kind.variants
]
# Copying is what these ask for.
CONTENT = {"paper_question", "paper_statements", "paper_sentences"}
FENCED = re.compile(r"<(question|answer|reference|contexts|items)>\n(.*?)\n</\1>", re.DOTALL)


def as_shown(line: str) -> str:
    return line


def quoted(line: str) -> str:
    return f"> {line}"


def listed(line: str) -> str:
    return f'- "{line}"'


@dataclass(frozen=True)
class CopyingJudge:
    """Copies what the prompt shows of the sample, line by line, where it is asked for a judgement."""

    written: Any
    raw: bool = False
    identity: str = "copying"

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        kind = request.prompt.answer
        if not issubclass(kind, VerdictList | Rating | RelevantSentences | FactLists | ExtractedSentences):
            return await LexicalJudge().agenerate(request)
        shown = [found[2] for found in FENCED.finditer(request.messages[1].content)]
        if self.raw:
            shown = [text for value in request.variables.values() for text in texts(value)]
        lines = [self.written(line) for text in shown for line in text.split("\n")]
        return [Completion(text="\n".join(lines))] * request.draws


def texts(value: Any) -> list[str]:
    if isinstance(value, int):
        return []
    return [value] if isinstance(value, str) else [getattr(each, "text", each) for each in value]


def attacked(attack) -> Sample:
    """A sample with the attack behind one of its texts."""
    row = {
        "id": attack.id,
        "question": "How high is the tower?",
        "contexts": ["The tower is 42 metres high.", "It stands on a rock."],
        "answer": "The tower is 42 metres high. It is made of brick.",
        "reference": "It is 42 metres high.",
    }
    if attack.field == "context":
        row["contexts"][0] += f"\n{attack.text}"
    else:
        row[attack.field] += f"\n{attack.text}"
    return Sample.model_validate(row)


def of_every_prompt() -> list[str]:
    """Metrics that ask, together, what all metrics ask."""
    chosen, asked = [], set()
    for name in JUDGED:
        if names := prompt_names(get(name)) - asked:
            chosen.append(name)
            asked |= names
    return chosen


COPYING = {
    "as shown": CopyingJudge(as_shown),
    "as it stands in the sample": CopyingJudge(as_shown, raw=True),
    "quoted": CopyingJudge(quoted),
    "listed": CopyingJudge(listed),
}


def read_as_verdicts(attacks, names, judge) -> set[tuple[str, str, str, str]]:
    """The copied lines out of which a judgement was read."""
    samples = [attacked(attack) for attack in attacks]
    run = evaluate(samples, metrics=names, judge=judge, embedder=HashEmbedder(), scorer=OverlapScorer())
    return {
        (record.sample_id, step.prompt, step.rule, str(step.value))
        for record in run.records()
        for step in record.generate_steps
        if step.rule == "lines" and step.prompt.partition(".")[0] not in CONTENT
    }


@pytest.mark.parametrize("judge", COPYING.values(), ids=list(COPYING))
def test_no_copied_line_is_read_as_a_verdict_under_any_prompt(judge):
    assert read_as_verdicts(ATTACKS, of_every_prompt(), judge) == set()


def test_no_metric_and_no_variant_reads_a_copied_line_as_a_verdict():
    # they share the prompts of the test above, so every fourth attack will do
    assert read_as_verdicts(ATTACKS[::4], JUDGED, COPYING["as shown"]) == set()
