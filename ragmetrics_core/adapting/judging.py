"""Distinguish our own work from the host's: a mark for hooks, and a context without the host's."""

from collections.abc import Callable
from contextvars import Context, ContextVar
from typing import ParamSpec, TypeVar

__all__ = ["is_judging", "judging_context", "mark_thread", "within_judging"]

P = ParamSpec("P")
T = TypeVar("T")

_JUDGING = ContextVar("ragmetrics_judging", default=False)


def is_judging() -> bool:
    """Whether this code was called by a judge, a translation or a sink of ours.

    Then a hook returns at once: a judge's calls are not samples, even calls of the application.
    """
    return _JUDGING.get()


def judging_context() -> Context:
    """A context with the mark and without the caller's variables.

    The host's handlers and spans are context variables: with a copied context, its tracers would report our
    judge's calls as the application's.
    """
    context = Context()
    context.run(_JUDGING.set, True)
    return context


def mark_thread() -> None:
    """Mark everything that this thread of ours runs from now on."""
    _JUDGING.set(True)


def within_judging(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function under the mark, in its own context."""
    return judging_context().run(function, *args, **kwargs)
