"""What the examples use of xllamacpp, which is compiled and ships no types."""

from collections.abc import Callable, Mapping
from typing import Any

class CommonParamsModel:
    path: str

class CpuParams:
    n_threads: int

class CommonParams:
    verbosity: int
    model: CommonParamsModel
    n_ctx: int
    n_parallel: int
    warmup: bool
    api_keys: list[str]
    cpuparams: CpuParams
    cpuparams_batch: CpuParams

class Server:
    listening_address: str
    def __init__(self, params: CommonParams) -> None: ...
    def handle_chat_completions(
        self, body: Mapping[str, object], callback: Callable[[dict[str, Any]], object]
    ) -> None: ...
