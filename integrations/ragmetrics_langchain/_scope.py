"""Which runs become samples of their own."""

from collections.abc import Callable, Iterator

from ragmetrics_core.live import Node
from ragmetrics_langchain._extraction import Rules
from ragmetrics_langchain._seen import RunInfo, Seen, SeenTurn

__all__ = ["Scope", "part_units", "scope_test"]

Scope = str | Callable[[RunInfo], bool]


def scope_test(scope: Scope) -> Callable[[RunInfo], bool]:
    """The test that a run must pass when it begins."""
    if callable(scope):
        return scope
    if scope in ("root", "outermost_rag"):
        return lambda run: run.is_root
    return lambda run: run.name == scope


def part_units(node: Node, rules: Rules) -> list[SeenTurn]:
    """The outermost runs inside one that answer a question each with something retrieved.

    None of them when the run itself gives one answer: then it is the unit.
    """
    return [] if rules.answer(SeenTurn(node)) is not None else list(_parts(node, rules))


def _parts(node: Node, rules: Rules) -> Iterator[SeenTurn]:
    for child in tuple(node.children):
        turn = SeenTurn(child)
        run: Seen = child.payload
        is_answer = run.kind == "chain" and run.has_ended and rules.answer(turn) is not None
        if is_answer and rules.question(turn) is not None and turn.retrievals():
            yield turn
        else:
            yield from _parts(child, rules)
