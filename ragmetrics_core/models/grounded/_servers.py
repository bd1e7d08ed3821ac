"""Bespoke-MiniCheck-7B and Granite Guardian on a server that returns the probabilities of tokens."""

import asyncio
import math
import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ragmetrics_core.boundary.shapes import is_list, is_mapping
from ragmetrics_core.models._openai_compatible import Served
from ragmetrics_core.models._openai_endpoint import encodable
from ragmetrics_core.models.grounded._formats import (
    BESPOKE_SYSTEM,
    GUARDIAN_BLOCK,
    bespoke_question,
    minicheck_chunks,
)
from ragmetrics_core.models.grounded._judge import GroundedFinding
from ragmetrics_core.models.openai_replies import completions_in

__all__ = ["BespokeMiniCheck", "GraniteGuardian"]

# Bespoke-MiniCheck reads 32,768 tokens, of which its makers keep 300 for the statement.
_BESPOKE_TOKENS = 32_768 - 300
_SCORE = re.compile(r"<score>\s*(yes|no)\s*</score>", re.IGNORECASE)
_THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL)


@dataclass(frozen=True, repr=False)
class _OnServer(Served):
    """A grounded model on an OpenAI-compatible server; one call per statement and chunk.

    Raises:
        ConfigError: the aiohttp package is missing, or the address is invalid.
    """

    kind: ClassVar[str]

    @property
    def identity(self) -> str:
        """Server and model."""
        return f"{self.kind}:{self.endpoint.url}/{self.model}"

    @abstractmethod
    async def _one(self, claim: str, text: str) -> GroundedFinding:
        """The finding on one statement."""

    async def acheck(
        self, claims: Sequence[str], texts: Sequence[str], question: str | None
    ) -> Sequence[GroundedFinding]:
        """One finding per statement; the question is not sent.

        Raises:
            ModelError: the server failed.
        """
        del question
        text = "\n".join(map(encodable, texts))
        if not text:
            return [GroundedFinding(False, 0.0, "there is no text")] * len(claims)
        return await asyncio.gather(*(self._one(encodable(claim), text) for claim in claims))

    async def _asked(
        self, *messages: tuple[str, str], **settings: object
    ) -> tuple[str, Sequence[Mapping[str, float]]]:
        """The reply, and the most likely tokens at each position with their probabilities."""
        listed = [{"role": role, "content": content} for role, content in messages]
        body = {"model": self.model, "temperature": 0, "logprobs": True, "messages": listed, **settings}
        reply = await self.endpoint.post("/chat/completions", body)
        text = completions_in(reply, where=self.endpoint.url, model=self.model)[0].text
        return text, [dict(_likely(step)) for step in _steps(reply)]


@dataclass(frozen=True, repr=False)
class BespokeMiniCheck(_OnServer):
    """Bespoke-MiniCheck-7B, prompted as in Liyan06/MiniCheck, minicheck/inference.py (`LLMCheck`).

    The probability is that of "yes", highest over the chunks; above 0.5 the statement is supported. A token
    counts as three characters, because only the server has the tokeniser.
    """

    kind: ClassVar[str] = "bespoke-minicheck"

    async def _one(self, claim: str, text: str) -> GroundedFinding:
        chunks = minicheck_chunks(text, size=_BESPOKE_TOKENS, count=lambda part: -(-len(part) // 3))
        told = [
            await self._asked(
                ("system", BESPOKE_SYSTEM),
                ("user", bespoke_question(chunk, claim)),
                max_tokens=1,
                top_logprobs=5,
            )
            for chunk in chunks
        ]
        if not all(steps for _, steps in told):
            words = {said.strip().casefold() for said, _ in told}
            supported = True if "yes" in words else False if words == {"no"} else None
            return GroundedFinding(supported, None, "the server gave no probability")
        share = max(sum(p for token, p in steps[0].items() if token.lower() == "yes") for _, steps in told)
        return GroundedFinding(share > 0.5, min(1.0, share), f"supported with probability {share:.3f}")


@dataclass(frozen=True, repr=False)
class GraniteGuardian(_OnServer):
    """Granite Guardian 4.1, prompted as in ibm-granite/granite-guardian, evaluation/models, without thinking.

    The model's "yes" means not grounded. The probability is the weight of "no" among the tokens for yes or
    no. Documents are sent in `documents`, which vLLM passes to the chat template. Texts are not cut, as in
    the published code.
    """

    kind: ClassVar[str] = "granite-guardian"

    async def _one(self, claim: str, text: str) -> GroundedFinding:
        said, steps = await self._asked(
            ("assistant", claim),
            ("user", GUARDIAN_BLOCK),
            documents=[{"doc_id": "0", "text": text}],
            max_tokens=32,
            top_logprobs=20,
        )
        found = _SCORE.search(_THOUGHT.sub("", said))
        supported = None if found is None else found[1].casefold() == "no"
        yes, no = (
            sum(p for step in steps for token, p in step.items() if token.strip().casefold() == word)
            for word in ("yes", "no")
        )
        if supported is None or not yes + no:
            told = "the reply holds no score" if supported is None else "the server gave no probability"
            return GroundedFinding(supported, None, told)
        return GroundedFinding(supported, no / (yes + no), f"grounded with probability {no / (yes + no):.3f}")


def _steps(reply: Mapping[str, Any]) -> Sequence[Any]:
    """The tokens of the first choice, if the server returns their probabilities."""
    logprobs = reply["choices"][0].get("logprobs")
    content = logprobs.get("content") if is_mapping(logprobs) else None
    return content if is_list(content) else []


def _likely(step: Any) -> Iterator[tuple[str, float]]:
    """The most likely tokens at a position with their probabilities."""
    listed = step.get("top_logprobs") if is_mapping(step) else None
    for each in listed if is_list(listed) else []:
        if is_mapping(each) and isinstance(token := each.get("token"), str):
            value = each.get("logprob")
            if isinstance(value, int | float) and value <= 0:
                yield token, math.exp(value)
