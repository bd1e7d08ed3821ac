"""Telling our own work from the host's: the mark that hooks look for, and a context without the host's."""

from collections.abc import Callable
from contextvars import Context, ContextVar
from typing import ParamSpec, TypeVar

__all__ = ["is_judging", "judging_context", "mark_thread", "within_judging"]

P = ParamSpec("P")
T = TypeVar("T")

_JUDGING = ContextVar("ragmetrics_judging", default=False)


def is_judging() -> bool:
    """Whether this code was called by a judgement, a translation or a sink of ours.

    A hook returns at once then: what a judge calls is no sample, even if it calls the application itself.
    """
    return _JUDGING.get()


def judging_context() -> Context:
    """A context that has nothing of the caller's and the mark.

    Handlers and spans of the host are context variables too: with a copied context its tracers would see
    our judge's calls as the application's.
    """
    context = Context()
    context.run(_JUDGING.set, True)
    return context


def mark_thread() -> None:
    """Mark everything that this thread, one of our own, runs from now on."""
    _JUDGING.set(True)


def within_judging(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function under the mark, in a context of its own."""
    return judging_context().run(function, *args, **kwargs)
