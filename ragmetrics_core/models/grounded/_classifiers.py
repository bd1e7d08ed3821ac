"""MiniCheck and FactCG: models that read a chunk of the texts together with one statement."""

# torch and transformers ship types that say little; what they return is converted here.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

import asyncio
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal, get_args

from ragmetrics_core.models._encoders import Encoder
from ragmetrics_core.models._openai_endpoint import encodable
from ragmetrics_core.models.grounded._formats import factcg_chunks, factcg_text, minicheck_chunks
from ragmetrics_core.models.grounded._judge import GroundedFinding

__all__ = ["MINICHECKS", "FactCG", "MiniCheck"]

MiniCheckKind = Literal["roberta", "deberta", "flan-t5"]
MINICHECKS: Final[tuple[MiniCheckKind, ...]] = get_args(MiniCheckKind)

# The numbers of the tokens that MiniCheck-Flan-T5 begins its answer with: not supported, supported.
_ANSWERS = [3, 209]


@dataclass(frozen=True, kw_only=True)
class _Classifier(Encoder):
    """A statement's probability is the highest that a chunk gives it; above 0.5 it is supported.

    What is longer than the model takes is cut, as the makers do it.
    """

    @abstractmethod
    def chunks(self, text: str) -> list[str]:
        """The texts in pieces."""

    @abstractmethod
    def joined(self, chunk: str, claim: str) -> str:
        """What the model reads."""

    @property
    @abstractmethod
    def most(self) -> int:
        """How many tokens it reads."""

    async def acheck(
        self, claims: Sequence[str], texts: Sequence[str], question: str | None
    ) -> Sequence[GroundedFinding]:
        """One finding for each statement; the question is not read.

        Raises:
            ModelError: the model cannot be loaded.
        """
        del question
        return await asyncio.to_thread(self.check, claims, texts)

    def check(self, claims: Sequence[str], texts: Sequence[str]) -> list[GroundedFinding]:
        """As `acheck`, in this thread."""
        with self._lock:
            chunks = self.chunks("\n".join(map(encodable, texts)))
            pairs = [self.joined(chunk, encodable(claim)) for claim in claims for chunk in chunks]
            shares = iter(self._shares(pairs))
        return [_finding([next(shares) for _ in chunks]) for _ in claims]

    def _shares(self, pairs: Sequence[str]) -> list[float]:
        """The probability of "supported" for each text, in batches."""
        import torch

        found: list[float] = []
        with torch.inference_mode():
            for start in range(0, len(pairs), self.batch_size):
                tokens = self.tokenizer(
                    list(pairs[start : start + self.batch_size]),
                    max_length=self.most,
                    truncation=True,
                    padding=True,
                    return_tensors="pt",
                ).to(self.device)
                found += self.logits(tokens).double().softmax(dim=-1)[:, 1].tolist()
        return found

    def logits(self, tokens: Any) -> Any:
        """The two outputs for each text: not supported, supported."""
        return self._model(**tokens).logits

    @cached_property
    def _model(self) -> Any:
        return self.load("AutoModelForSequenceClassification")


@dataclass(frozen=True, kw_only=True)
class MiniCheck(_Classifier):
    """MiniCheck (Tang et al. 2024) as Liyan06/MiniCheck, minicheck/inference.py, asks it.

    Attributes:
        kind: which of the three it is.
    """

    kind: MiniCheckKind

    @property
    def identity(self) -> str:
        """The model and its form."""
        return f"minicheck-{self.kind}:{self.named}"

    @property
    def most(self) -> int:
        """How many tokens it reads."""
        return self.longest or (512 if self.kind == "roberta" else 2048)

    def chunks(self, text: str) -> list[str]:
        """500 words for Flan-T5, 400 tokens for the others."""
        if self.kind == "flan-t5":
            return minicheck_chunks(text, size=500, count=lambda sentence: len(sentence.split()))
        return minicheck_chunks(text, size=400, count=self._tokens)

    def joined(self, chunk: str, claim: str) -> str:
        """Chunk and statement with the end token between them."""
        text = f"{chunk}{self.tokenizer.eos_token}{claim}"
        return f"predict: {text}" if self.kind == "flan-t5" else text

    def logits(self, tokens: Any) -> Any:
        """The outputs of the classifier; of Flan-T5, of the two tokens that its answer begins with."""
        if self.kind != "flan-t5":
            return super().logits(tokens)
        import torch

        first = torch.zeros((len(tokens["input_ids"]), 1), dtype=torch.long, device=self.device)
        return self._model(**tokens, decoder_input_ids=first).logits[:, 0, _ANSWERS]

    def _tokens(self, sentence: str) -> int:
        tokens = self.tokenizer(sentence, add_special_tokens=False, max_length=self.most, truncation=True)
        return len(tokens["input_ids"])

    @cached_property
    def _model(self) -> Any:
        is_t5 = self.kind == "flan-t5"
        return self.load("AutoModelForSeq2SeqLM" if is_t5 else "AutoModelForSequenceClassification")


@dataclass(frozen=True, kw_only=True)
class FactCG(_Classifier):
    """FactCG-DeBERTa (Lei et al. 2025) as derenlei/FactCG, factcg/inference.py, asks it."""

    @property
    def identity(self) -> str:
        """The model and its form."""
        return f"factcg:{self.named}"

    @property
    def most(self) -> int:
        """How many tokens it reads."""
        return self.longest or 2048

    def chunks(self, text: str) -> list[str]:
        """550 words."""
        return factcg_chunks(text)

    def joined(self, chunk: str, claim: str) -> str:
        """The chunk and the question about the statement."""
        return factcg_text(chunk, claim)


def _finding(shares: Sequence[float]) -> GroundedFinding:
    if not shares:
        return GroundedFinding(False, 0.0, "there is no text")
    best = max(shares)
    where = f" by chunk {shares.index(best) + 1} of {len(shares)}" if len(shares) > 1 else ""
    return GroundedFinding(best > 0.5, best, f"supported with probability {best:.3f}{where}")
