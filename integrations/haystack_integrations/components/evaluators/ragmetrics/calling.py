"""Calls of Haystack components from an event loop, and their names in records."""

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
from ragmetrics_core.boundary import is_mapping
from ragmetrics_core.errors import ModelError
from ragmetrics_core.models import SettingsDigest, foreign_answer, foreign_name, model_error

__all__ = ["call", "identity_of"]


async def call(component: Any, *, asynchronous: bool, executor: Executor | None, **inputs: Any) -> Mapping[str, Any]:
    """
    Run a component without blocking the loop.

    :param component: The component.
    :param asynchronous: Await its `run_async`, if it has one. A client belongs to the event loop of its first
        use, so set this only on the pipeline's own loop.
    :param executor: Threads in which `run` is called otherwise; None for the loop's own threads.
    :param inputs: The component's inputs.
    :returns: The component's output.
    :raises ModelError: The component failed, or its output is not a mapping.
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


def identity_of(component: Any, settings: Mapping[str, str] | None = None) -> ForeignName:
    """
    Name a generator or an embedder by its class, model, server and settings, without keys.

    :param component: The component.
    :param settings: Additional settings of the calls.
    :returns: Its name.
    """
    try:
        given = component_to_dict(component, "model").get("init_parameters", {})
        text = json.dumps(
            {key: value for key, value in given.items() if not _is_secret(value)},
            sort_keys=True,
            default=str,
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
        settings=settings,
        digest=digest,
    )


def _shows_settings(component: Any) -> bool:
    """
    Whether a component can be saved with its settings.

    Haystack saves the default of a setting that the component stores under a different name.

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
