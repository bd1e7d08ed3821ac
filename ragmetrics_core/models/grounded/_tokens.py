"""LettuceDetect: a model that marks the words of an answer that the passages do not support."""

# torch and transformers ship types that say little; what they return is converted here.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import ClassVar, NamedTuple

from ragmetrics_core.models._encoders import Encoder
from ragmetrics_core.models._openai_endpoint import encodable
from ragmetrics_core.models.grounded._formats import lettuce_groups, lettuce_prompt
from ragmetrics_core.models.grounded._judge import GroundedFinding

__all__ = ["LettuceDetect", "MarkedSpan"]


class MarkedSpan(NamedTuple):
    """Unsupported words of an answer.

    Attributes:
        start, end: position in the answer.
        probability: highest probability of one of its tokens to be unsupported.
    """

    start: int
    end: int
    probability: float


@dataclass(frozen=True, kw_only=True)
class LettuceDetect(Encoder):
    """LettuceDetect's token classifier (Kovács and Recski 2025), prompted as by its package, in English.

    Each statement is read as an answer. It is supported if none of its tokens is marked; its probability is
    one minus the highest probability of a mark. Passages that do not fit are read in groups; a token's
    highest probability counts.
    """

    auto: ClassVar[str] = "AutoModelForTokenClassification"

    @property
    def identity(self) -> str:
        """The model and its prompt format."""
        return f"lettucedetect:{self.named}"

    async def acheck(
        self, claims: Sequence[str], texts: Sequence[str], question: str | None
    ) -> Sequence[GroundedFinding]:
        """One finding per statement.

        Raises:
            ModelError: the model cannot be loaded.
        """
        return await asyncio.to_thread(self._check, claims, texts, question)

    def spans(self, answer: str, passages: Sequence[str], question: str | None = None) -> list[MarkedSpan]:
        """The marked words of an answer, in order; neighbouring tokens form one span."""
        with self._lock:
            return _joined(self._tokens(encodable(answer), list(map(encodable, passages)), question))

    def _check(
        self, claims: Sequence[str], texts: Sequence[str], question: str | None
    ) -> list[GroundedFinding]:
        with self._lock:
            passages = list(map(encodable, texts))
            return [self._finding(claim, passages, question) for claim in map(encodable, claims)]

    def _finding(self, claim: str, passages: Sequence[str], question: str | None) -> GroundedFinding:
        if not passages:
            return GroundedFinding(False, 0.0, "there is no text")
        tokens = self._tokens(claim, passages, question)
        spans = _joined(tokens)
        words = tuple([claim[span.start : span.end].strip() for span in spans])
        told = "; ".join(
            f"“{marked}” has no support ({span.probability:.2f})"
            for marked, span in zip(words, spans, strict=True)
        )
        highest = max((token.probability for token in tokens), default=0.0)
        return GroundedFinding(not spans, 1 - highest, told or "no word is marked", words)

    def _tokens(self, answer: str, passages: Sequence[str], question: str | None) -> list[MarkedSpan]:
        """Each token of the answer with its probability to be unsupported."""
        longest = self.longest or 4096
        groups = lettuce_groups(passages, question, answer, longest=longest, count=self._count)
        read = [self._group(lettuce_prompt(group, question), answer, longest) for group in groups]
        return [
            MarkedSpan(same[0].start, same[0].end, max(each.probability for each in same))
            for same in zip(*read, strict=True)
        ]

    def _group(self, prompt: str, answer: str, longest: int) -> list[MarkedSpan]:
        import torch

        tokens = self.tokenizer(
            prompt,
            answer,
            truncation="only_first",
            max_length=longest,
            return_offsets_mapping=True,
            return_tensors="pt",
        )
        offsets = tokens.pop("offset_mapping")[0].tolist()
        places = [place for place, part in enumerate(tokens.sequence_ids(0)) if part == 1]
        tensors = {name: tokens[name].to(self.device) for name in ("input_ids", "attention_mask")}
        with torch.inference_mode():
            shares = self.loaded(**tensors).logits[0].double().softmax(dim=-1)[:, 1].tolist()
        begin = offsets[places[0]][0] if places else 0
        return [
            MarkedSpan(offsets[place][0] - begin, offsets[place][1] - begin, shares[place])
            for place in places
            if offsets[place][0] < offsets[place][1]
        ]

    def _count(self, text: str) -> int:
        return len(self.tokenizer(text, add_special_tokens=False)["input_ids"])


def _joined(tokens: Sequence[MarkedSpan]) -> list[MarkedSpan]:
    """Neighbouring marked tokens as one span each."""
    marked = groupby(tokens, key=lambda token: token.probability >= 0.5)
    runs = [list(run) for is_marked, run in marked if is_marked]
    return [MarkedSpan(run[0].start, run[-1].end, max(each.probability for each in run)) for run in runs]
