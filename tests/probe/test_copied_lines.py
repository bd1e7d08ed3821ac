"""A judge that copies lines of the sample says nothing by it: no text rule reads a verdict out of them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from ragmetrics_core import Sample, evaluate
from ragmetrics_core.metrics import METRICS, get
from ragmetrics_core.models._lexical import LexicalJudge
from ragmetrics_core.parsers import (
    ExtractedSentences,
    FactLists,
    Hints,
    Rating,
    RelevantSentences,
    VerdictList,
)
from ragmetrics_core.probe import read_corpus
from ragmetrics_core.protocol import Completion, Generate
from ragmetrics_core.runs._preparation import prompt_names
from ragmetrics_core.testing import HashEmbedder, OverlapScorer

# One attack makes items of one word, which a copy cannot be told from; the last test is about these.
ATTACKS = [attack for attack in read_corpus().attacks if attack.id != "reference-numbering"]
JUDGED = [
    f"{name}/{variant}"
    for name, kind in METRICS.items()
    if "judge" in kind.needs
    for variant in kind.variants
]
JSON_RULES = {"json", "fenced", "json_lines", "block", "repair"}
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
    """The copied replies out of which a text rule read a judgement."""
    samples = [attacked(attack) for attack in attacks]
    run = evaluate(samples, metrics=names, judge=judge, embedder=HashEmbedder(), scorer=OverlapScorer())
    return {
        (record.sample_id, step.prompt, step.rule, str(step.value))
        for record in run.records()
        for step in record.generate_steps
        if step.rule not in {"unread", *JSON_RULES} and not is_content(step.prompt, step.value)
    }


@pytest.mark.parametrize("judge", COPYING.values(), ids=list(COPYING))
def test_no_text_rule_reads_a_copied_line_as_a_verdict_under_any_prompt(judge):
    assert read_as_verdicts(ATTACKS, of_every_prompt(), judge) == set()


def test_no_metric_and_no_variant_reads_a_copied_line_as_a_verdict():
    # they share the prompts of the test above, so every fourth attack will do
    assert read_as_verdicts(ATTACKS[::4], JUDGED, COPYING["as shown"]) == set()


def is_content(prompt: str, value: Any) -> bool:
    """Whether copying is what a prompt asks for: statements, questions, names, and sentences by number."""
    name = prompt.partition(".")[0]
    if name in {"relevant_sentences", "paper_sentences"}:
        # every sentence was copied, so every sentence is named; no line of one may be read as the list
        return not value["insufficient"] and value.get("numbers", []) == sorted(value.get("numbers", []))
    return name in {
        "context_entities", "entities", "paper_question", "paper_statements", "questions",
        "reference_statements", "statements",
    }  # fmt: skip


def test_an_item_of_one_word_is_judged_by_it_under_its_own_number_alone():
    # "2. Yes." may be the second item copied, or the verdict on it: it says nothing on any other item
    reading = VerdictList.read("1. It is high.\n2. Yes.", Hints.counting(2, items=("It is high.", "Yes.")))
    assert [(one.number, one.supported) for one in reading.value.verdicts] == [(2, True)]
