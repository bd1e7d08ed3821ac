"""Calling a component of Haystack from an event loop, and telling which model it is."""

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Executor
from contextvars import copy_context
from functools import partial
from hashlib import sha256
from typing import Any

from haystack.core.serialization import component_to_dict
from ragmetrics_core.adapting import ForeignName
from ragmetrics_core.errors import ModelError
from ragmetrics_core.models import SettingsDigest, foreign_answer, foreign_name, model_error
from ragmetrics_core.shapes import is_mapping

__all__ = ["call", "identity_of"]


async def call(component: Any, *, asynchronous: bool, executor: Executor | None, **inputs: Any) -> Mapping[str, Any]:
    """
    Run a component without blocking the loop.

    :param component: The component.
    :param asynchronous: Await its `run_async`, if it has one. A client belongs to the event loop that it was
        first used on, so this is for the loop on which the pipeline itself runs.
    :param executor: Where `run` is called otherwise; None for the loop's own threads.
    :param inputs: The component's inputs.
    :returns: The component's output.
    :raises ModelError: The component failed, or its output is no mapping.
    """

    async def output_of() -> object:
        run_async: Callable[..., Awaitable[object]] | None = getattr(component, "run_async", None)
        if asynchronous and callable(run_async):
            return await run_async(**inputs)
        # the context goes along, so that spans which the component opens find their parent
        run = partial(copy_context().run, component.run, **inputs)
        return await asyncio.get_running_loop().run_in_executor(executor, run)

    output = await foreign_answer(output_of(), lambda error: model_error(error, component))
    if not is_mapping(output):
        msg = f"{type(component).__name__} returned {type(output).__name__}, not a mapping"
        raise ModelError(msg)
    return output


def identity_of(component: Any) -> ForeignName:
    """
    Name a generator or an embedder by its class, model, server and settings; keys are left out.

    :param component: The component.
    :returns: Its name.
    """
    try:
        settings = component_to_dict(component, "model").get("init_parameters", {})
        text = json.dumps(
            {key: value for key, value in settings.items() if not _is_secret(value)}, sort_keys=True, default=str
        )
        digest = SettingsDigest(sha256(text.encode()).hexdigest()[:8], _shows_settings(component))
    except Exception:  # the boundary to foreign code: a component that cannot be saved can still be asked
        digest = SettingsDigest("", is_complete=False)
    model, server = (getattr(component, name, None) for name in ("model", "api_base_url"))
    return foreign_name(
        "haystack",
        component,
        called=model if isinstance(model, str) else None,
        server=server if isinstance(server, str) else None,
        digest=digest,
    )


def _shows_settings(component: Any) -> bool:
    """
    Say whether a component can be saved with what it was made with.

    Haystack takes a setting's default where the component keeps the setting under another name.

    :param component: The component.
    :returns: Whether all settings are known.
    """
    if hasattr(component, "to_dict") or type(component).__init__ is object.__init__:
        return True
    parameters = inspect.signature(component.__init__).parameters.values()
    return all(
        each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD) and hasattr(component, each.name)
        for each in parameters
    )


def _is_secret(value: object) -> bool:
    return is_mapping(value) and value.get("type") == "env_var"
