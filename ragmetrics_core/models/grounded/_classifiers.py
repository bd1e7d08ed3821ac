"""MiniCheck and FactCG: models that read a chunk of the texts with one statement."""

# torch and transformers ship types that say little; what they return is converted here.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from ragmetrics_core.models._encoders import Encoder
from ragmetrics_core.models._openai_endpoint import encodable
from ragmetrics_core.models.grounded._formats import factcg_chunks, factcg_text, minicheck_chunks
from ragmetrics_core.models.grounded._judge import GroundedFinding

__all__ = ["FactCG", "MiniCheck"]

MiniCheckKind = Literal["roberta", "deberta", "flan-t5"]

# The numbers of the tokens that MiniCheck-Flan-T5 begins its answer with: not supported, supported.
_ANSWERS = [3, 209]


@dataclass(frozen=True, kw_only=True)
class FactCG(Encoder):
    """FactCG-DeBERTa (Lei et al. 2025), prompted as in derenlei/FactCG, factcg/inference.py.

    A statement's probability is its highest over the chunks; above 0.5 it is supported. Longer texts are cut,
    as in the published code.
    """

    auto: ClassVar[str] = "AutoModelForSequenceClassification"

    @property
    def identity(self) -> str:
        """The model and its prompt format."""
        return f"factcg:{self.named}"

    @property
    def most(self) -> int:
        """Maximum number of tokens."""
        return self.longest or 2048

    def chunks(self, text: str) -> list[str]:
        """The texts in chunks of 550 words."""
        return factcg_chunks(text)

    def joined(self, chunk: str, claim: str) -> str:
        """The input of the model: the chunk and the question about the statement."""
        return factcg_text(chunk, claim)

    async def acheck(
        self, claims: Sequence[str], texts: Sequence[str], question: str | None
    ) -> Sequence[GroundedFinding]:
        """One finding per statement; the question is ignored.

        Raises:
            ModelError: the model cannot be loaded.
        """
        del question
        return await asyncio.to_thread(self.check, claims, texts)

    def check(self, claims: Sequence[str], texts: Sequence[str]) -> list[GroundedFinding]:
        """Synchronous `acheck`."""
        with self._lock:
            chunks = self.chunks("\n".join(map(encodable, texts)))
            pairs = [self.joined(chunk, encodable(claim)) for claim in claims for chunk in chunks]
            shares = iter(self._shares(pairs))
        return [_finding([next(shares) for _ in chunks]) for _ in claims]

    def _shares(self, pairs: Sequence[str]) -> list[float]:
        """The probability of "supported" per text, in batches."""
        import torch

        found: list[float] = []
        how = {"max_length": self.most, "truncation": True, "padding": True, "return_tensors": "pt"}
        with torch.inference_mode():
            for start in range(0, len(pairs), self.batch_size):
                tokens = self.tokenizer(list(pairs[start : start + self.batch_size]), **how)
                found += self.logits(tokens.to(self.device)).double().softmax(dim=-1)[:, 1].tolist()
        return found

    def logits(self, tokens: Any) -> Any:
        """The two outputs per text: not supported, supported."""
        return self.loaded(**tokens).logits


@dataclass(frozen=True, kw_only=True)
class MiniCheck(FactCG):
    """MiniCheck (Tang et al. 2024), prompted as in Liyan06/MiniCheck, minicheck/inference.py.

    Attributes:
        kind: which of the three models it is.
    """

    kinds: ClassVar[tuple[MiniCheckKind, ...]] = get_args(MiniCheckKind)

    kind: MiniCheckKind

    @property
    def identity(self) -> str:
        """The model and its prompt format."""
        return f"minicheck-{self.kind}:{self.named}"

    @property
    def most(self) -> int:
        """Maximum number of tokens."""
        return self.longest or (512 if self.kind == "roberta" else 2048)

    @property
    def is_t5(self) -> bool:
        """Whether the model writes its answer, as the largest one does."""
        return self.kind == "flan-t5"

    @property
    def auto(self) -> str:  # type: ignore[override]
        """The library's class that loads the model."""
        return "AutoModelForSeq2SeqLM" if self.is_t5 else "AutoModelForSequenceClassification"

    def chunks(self, text: str) -> list[str]:
        """500 words for Flan-T5, 400 tokens for the others."""
        if self.is_t5:
            return minicheck_chunks(text, size=500, count=lambda sentence: len(sentence.split()))
        how = {"add_special_tokens": False, "max_length": self.most, "truncation": True}
        return minicheck_chunks(
            text, size=400, count=lambda part: len(self.tokenizer(part, **how)["input_ids"])
        )

    def joined(self, chunk: str, claim: str) -> str:
        """Chunk and statement with the end token between them."""
        return f"{'predict: ' * self.is_t5}{chunk}{self.tokenizer.eos_token}{claim}"

    def logits(self, tokens: Any) -> Any:
        """The classifier's outputs; for Flan-T5, those of the two possible first answer tokens."""
        if not self.is_t5:
            return super().logits(tokens)
        import torch

        first = torch.zeros((len(tokens["input_ids"]), 1), dtype=torch.long, device=self.device)
        return self.loaded(**tokens, decoder_input_ids=first).logits[:, 0, _ANSWERS]


def _finding(shares: Sequence[float]) -> GroundedFinding:
    if not shares:
        return GroundedFinding(False, 0.0, "there is no text")
    best = max(shares)
    where = f" by chunk {shares.index(best) + 1} of {len(shares)}" if len(shares) > 1 else ""
    return GroundedFinding(best > 0.5, best, f"supported with probability {best:.3f}{where}")
