"""Models of the transformers library that rate pairs of texts in this process. Requires the extra `models`.

Weights are read from a folder or fetched by the library from its hub. Only the safetensors format is loaded,
and code that comes with a model is never run. Every pair is rated by itself: the rest of the batch changes
nothing. A text that is too long for the encoder is refused, unless `too_long` is "cut"; then the scorer's
identity in the record says so.
"""

# torch and transformers ship types that say little; what they return is converted here.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

import asyncio
import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ragmetrics_core.boundary.shapes import is_tuple
from ragmetrics_core.errors import ConfigError, ModelRefused
from ragmetrics_core.models._openai_endpoint import encodable

__all__ = ["CrossEncoderScorer", "Encoder", "TokenMatchScorer"]

Pair = tuple[str, str]
_UNLIMITED = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Encoder:
    """An encoder with its tokeniser, loaded on first use.

    Attributes:
        model: a folder, or a name on the library's hub.
        device: "cpu", "cuda", "cuda:1" or "mps".
        batch_size: texts or pairs per batch.
        too_long: "refuse" or "cut" texts longer than the limit.
        longest: the limit in tokens; by default the model's own.
        asked: False to report a missing package only on first use.
        auto: the library's class that loads the model.
    """

    auto: ClassVar[str]

    model: str
    device: str = "cpu"
    batch_size: int = 16
    too_long: Literal["refuse", "cut"] = "refuse"
    longest: int | None = None
    asked: bool = field(default=True, compare=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the settings without loading anything."""
        from importlib.util import find_spec

        for module in ("torch", "transformers"):
            if self.asked and find_spec(module) is None:
                raise ConfigError(
                    f"{type(self).__name__} needs the package {module}: pip install 'ragmetrics-core[models]'"
                )
        if self.batch_size < 1 or (self.longest is not None and self.longest < 4):
            raise ConfigError(
                f"{type(self).__name__}: batch_size must be at least 1 and longest at least 4, "
                f"not {self.batch_size} and {self.longest}"
            )

    @property
    def concurrency(self) -> int:
        """One call at a time, because a call uses the whole device."""
        return 1

    @cached_property
    def weights(self) -> str:
        """The model's name; for a folder, its name and a digest of its files."""
        folder = Path(self.model)
        if not folder.is_dir():
            return self.model
        state = hashlib.sha256()
        for path in sorted(folder.glob("*")):
            if path.suffix in {".json", ".safetensors", ".txt", ".model"}:
                state.update(path.name.encode())
                with path.open("rb") as file:
                    state.update(hashlib.file_digest(file, "sha256").digest())
        return f"{folder.resolve().name}@{state.hexdigest()[:12]}"

    @property
    def named(self) -> str:
        """The weights, and the length at which texts are cut."""
        cut = f",cut at {self.longest or 'its limit'}" if self.too_long == "cut" else ""
        return f"{self.weights}{cut}"

    def _load(self, kind: str, read: Callable[[Any], Any]) -> Any:
        try:
            import transformers

            return read(getattr(transformers, kind))
        except (ImportError, OSError, ValueError) as error:
            raise ModelRefused(f"the {kind} of {self.model!r} cannot be loaded: {error}") from error

    @cached_property
    def loaded(self) -> Any:
        """The model, ready to rate."""
        model = self._load(
            self.auto,
            lambda auto: auto.from_pretrained(self.model, trust_remote_code=False, use_safetensors=True),
        )
        return model.to(self.device).eval()

    @cached_property
    def tokenizer(self) -> Any:
        """The model's own tokeniser."""
        return self._load(
            "AutoTokenizer",
            lambda AutoTokenizer: AutoTokenizer.from_pretrained(self.model, trust_remote_code=False),  # noqa: N803
        )

    def batches(self, texts: Sequence[Any], limit: int) -> Iterator[tuple[list[int], Any]]:
        """Positions of texts or pairs of similar length, and their tokens as tensors.

        Raises:
            ModelRefused: a text is longer than the limit.
        """
        longest = min(limit, self.longest or _UNLIMITED)
        pairs = [text if is_tuple(text) else (text, None) for text in texts]
        lengths = [len(self.tokenizer(*pair)["input_ids"]) for pair in pairs]
        if self.too_long == "refuse" and lengths and max(lengths) > longest:
            raise ModelRefused(
                f"a text of {max(lengths):,} tokens, and {self.weights} takes {longest:,}: "
                "shorten it, or pass too_long='cut' to cut it there"
            )
        order = sorted(range(len(pairs)), key=lambda place: lengths[place])
        for start in range(0, len(order), self.batch_size):
            places = order[start : start + self.batch_size]
            first = [pairs[place][0] for place in places]
            second = [pairs[place][1] for place in places]
            tokens = self.tokenizer(
                first,
                None if second[0] is None else second,
                padding=True,
                truncation=self.too_long == "cut",
                max_length=longest if self.too_long == "cut" else None,
                return_tensors="pt",
            )
            yield places, tokens.to(self.device)

    def limit(self, model: Any) -> int:
        """The limit in tokens."""
        positions = getattr(model.config, "max_position_embeddings", None) or _UNLIMITED
        # models of the RoBERTa family begin to count their positions behind the padding's number
        if getattr(model.config, "model_type", "") in {"roberta", "xlm-roberta", "camembert"}:
            positions -= 2
        return min(int(positions), int(min(self.tokenizer.model_max_length, _UNLIMITED)))


@dataclass(frozen=True, kw_only=True)
class CrossEncoderScorer(Encoder):
    """A sequence classifier that reads two texts together: SAS, BEM, rerankers, entailment.

    A model with one output rates a pair by its sigmoid, one with several by the probability of `label`.

    Attributes:
        label: name or number of the label whose probability counts. Default: the second of two labels.
        activation: for one output: "sigmoid", or "none" if the model's output is already within [0, 1].
    """

    auto: ClassVar[str] = "AutoModelForSequenceClassification"

    label: str | int | None = None
    activation: Literal["sigmoid", "none"] = "sigmoid"

    @property
    def identity(self) -> str:
        """The model and the output that is read from it."""
        read = f",label {self.label}" if self.label is not None else ""
        read += ",no activation" if self.activation == "none" else ""
        return f"cross-encoder:{self.named}{read}"

    async def arate(self, pairs: Sequence[Pair]) -> Sequence[float]:
        """One number within [0, 1] per pair.

        Raises:
            ModelRefused: the model cannot be loaded or has no such label, or a pair is too long.
        """
        return await asyncio.to_thread(self.rate, pairs)

    def rate(self, pairs: Sequence[Pair], label: str | int | None = None) -> list[float]:
        """Synchronous `arate`, by default for the probability of the scorer's own label."""
        import torch

        with self._lock, torch.inference_mode():
            model = self.loaded
            ratings = [0.0] * len(pairs)
            readable = [(encodable(one), encodable(other)) for one, other in pairs]
            for places, tokens in self.batches(readable, self.limit(model)):
                logits = model(**tokens).logits.double()
                if logits.shape[1] == 1:
                    values = logits[:, 0].sigmoid() if self.activation == "sigmoid" else logits[:, 0]
                else:
                    place = self._place if label is None else self._place_of(label)
                    values = logits.softmax(dim=1)[:, place]
                for position, value in zip(places, values.tolist(), strict=True):
                    ratings[position] = value
        return ratings

    @cached_property
    def _place(self) -> int:
        """The number of the label whose probability counts."""
        return self._place_of(self.label)

    def _place_of(self, label: str | int | None) -> int:
        names = {int(number): str(name) for number, name in self.loaded.config.id2label.items()}
        if label is None and len(names) == 2:
            return 1
        found = [
            number
            for number, name in names.items()
            if label == number or str(label).casefold() == name.casefold()
        ]
        if not found:
            raise ModelRefused(
                f"{self.weights} has the labels {', '.join(names.values())}: pass label=... to choose one"
            )
        return found[0]


@dataclass(frozen=True, kw_only=True)
class TokenMatchScorer(Encoder):
    """BERTScore's match: mean over the first text's tokens of the best match in the second text.

    A token's match is its highest cosine with a token of the second text. The mean is the precision of the
    first text against the second; exchange the texts for the recall. Tokens added by the tokeniser ([CLS],
    [SEP]) do not count.

    Attributes:
        layer: the layer whose vectors are compared, counted from 1; None means the last.
    """

    auto: ClassVar[str] = "AutoModel"

    layer: int | None = None

    @property
    def identity(self) -> str:
        """The model and the layer."""
        return f"token-match:{self.named},layer {self.layer or 'last'}"

    async def arate(self, pairs: Sequence[Pair]) -> Sequence[float]:
        """One number per pair; 0 if a text has no token.

        Raises:
            ModelRefused: the model cannot be loaded, has no such layer, or a text is too long.
        """
        return await asyncio.to_thread(self.rate, pairs)

    def rate(self, pairs: Sequence[Pair]) -> list[float]:
        """Synchronous `arate`."""
        readable = [(encodable(one), encodable(other)) for one, other in pairs]
        texts = list(dict.fromkeys(text for pair in readable for text in pair))
        with self._lock:
            vectors = dict(zip(texts, self._vectors(texts), strict=True))
        return [_found(vectors[one], vectors[other]) for one, other in readable]

    def _vectors(self, texts: Sequence[str]) -> list[NDArray[np.float64]]:
        """The unit vectors of each text's own tokens."""
        import torch

        model = self.loaded
        layers = int(model.config.num_hidden_layers)
        if self.layer is not None and not 1 <= self.layer <= layers:
            raise ModelRefused(f"{self.weights} has layers 1 to {layers}, not {self.layer}")
        rows: list[NDArray[np.float64]] = [np.zeros((0, 0))] * len(texts)
        special = torch.tensor(_frame(self.tokenizer), device=self.device)
        with torch.inference_mode():
            for places, tokens in self.batches(texts, self.limit(model)):
                hidden = model(**tokens, output_hidden_states=True).hidden_states[self.layer or layers]
                unit = torch.nn.functional.normalize(hidden.double(), dim=-1)
                own = tokens["attention_mask"].bool() & ~torch.isin(tokens["input_ids"], special)
                for row, place in enumerate(places):
                    rows[place] = unit[row][own[row]].cpu().numpy()
        return rows


def _found(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    if not len(one) or not len(other):
        return 0.0
    # rounding can leave a cosine of equal vectors a little above 1
    return min(1.0, float((one @ other.T).max(axis=1).mean()))


def _frame(tokenizer: Any) -> list[int]:
    """The special tokens around a text. An unknown word ([UNK]) is part of the text."""
    names = ("cls", "sep", "bos", "eos", "pad")
    ids = [getattr(tokenizer, f"{name}_token_id", None) for name in names]
    return [each for each in ids if each is not None]
