"""Which nodes an answer rests on: what was retrieved, and never what a model wrote.

LlamaIndex hands texts of a model on as if they had been retrieved: a sub-question engine gives its last model
nodes with the answers to the sub-questions, and names them as sources. An answer that rests on another answer
would then support itself.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from llama_index.core.schema import NodeWithScore, TextNode

from ragmetrics_core.adapting import chunks_of
from ragmetrics_core.live import Node
from ragmetrics_core.shapes import is_sequence
from ragmetrics_llama_index._responses import answer_in, nodes_in, text_of_node

__all__ = [
    "EngineAnswered",
    "FoundNodes",
    "Given",
    "RetrieverEnded",
    "Used",
    "Written",
    "contexts_under",
    "id_of",
    "is_pair",
    "retrieved_under",
]

# A model's short reply ("Yes.", a number) may stand at the end of any text.
_SHORTEST_REPLY = 20
# As engines that ask sub-questions, ask in steps or ask other engines write question and answer into a node.
_PAIR = re.compile(
    r"(Sub question: .*\nResponse: |\nQuestion: .*\nAnswer: |Query: .*\nResponse: )", re.DOTALL
)


class RetrieverEnded(NamedTuple):
    """A retriever's span has ended: what it was asked, and its nodes."""

    query: Any
    nodes: Sequence[Any]


class Given(NamedTuple):
    """A synthesizer was given these nodes: what the model was shown."""

    nodes: Sequence[Any]


class EngineAnswered(NamedTuple):
    """An engine inside of the one that is scored has answered."""

    query: Any
    result: Any


class Written(NamedTuple):
    """A language model has replied."""

    reply: Any


class Used(NamedTuple):
    """An agent has used a tool: its name and what came out, as LlamaIndex's `ToolOutput`."""

    tool: str
    output: Any


class FoundNodes(NamedTuple):
    """Nodes, and the rule that found them."""

    nodes: list[Any] | None
    rule: str


def contexts_under(root: Node, result: Any, context_tools: Collection[str] = ()) -> FoundNodes:
    """The nodes that an answer rests on.

    Those that the answer names itself; else those of engines inside and those that a synthesizer was given;
    else those that were retrieved, by the outermost retriever of each branch; and behind them the texts of
    the tools that are named. None where nothing was retrieved at all.

    Args:
        root: what was seen while the answer was made.
        result: the answer.
        context_tools: names of tools whose text is a context.
    """
    written = _Written(root)
    found = _retrieved(root, result, written)
    texts = [text for node in root.walk() for text in _texts_of_tool(node, context_tools)]
    if not texts:
        return found
    nodes = [NodeWithScore(node=TextNode(text=text)) for text in dict.fromkeys(texts)]
    if not found.nodes:
        return FoundNodes(nodes, "texts of tools")
    return FoundNodes([*found.nodes, *nodes], f"{found.rule}, then texts of tools")


def retrieved_under(root: Node) -> list[RetrieverEnded]:
    """What the outermost retriever of each branch gave."""
    return [
        node.payload for node in root.walk() if isinstance(node.payload, RetrieverEnded) and _is_outer(node)
    ]


def id_of(node: Any) -> str | None:
    """A node's id; None when it has none."""
    found = getattr(node, "node_id", None)
    return found if isinstance(found, str) and found else None


def is_pair(node: Any) -> bool:
    """Whether a node that belongs to no document holds a question and what an engine answered to it."""
    inner = node.node if isinstance(node, NodeWithScore) else node
    if getattr(inner, "ref_doc_id", None) is not None or getattr(node, "score", None) is not None:
        return False
    return _PAIR.match(text_of_node(node)) is not None


def _retrieved(root: Node, result: Any, written: "_Written") -> FoundNodes:
    named = written.without(nodes_in(result) or ())
    if named:
        return FoundNodes(named, "response")
    seen = list(_outermost(root.children))
    inner = [
        node for each in seen if isinstance(each, EngineAnswered) for node in nodes_in(each.result) or ()
    ]
    given = [each for each in seen if isinstance(each, Given)]
    retrieved = [each for each in seen if isinstance(each, RetrieverEnded)]
    if inner or given:
        # Where all that a synthesizer was given is written, the retrievers and engines beside it are left.
        shown = written.without(node for each in given for node in each.nodes)
        if not shown:
            shown = [node for each in retrieved for node in each.nodes]
        return FoundNodes(_once(written.without([*inner, *shown])), "synthesis")
    if retrieved:
        return FoundNodes(
            _once(written.without(node for each in retrieved for node in each.nodes)), "retrieval"
        )
    return FoundNodes(None, "none")


class _Written:
    """Tells the nodes that a model wrote from those that were retrieved, by what was seen under a root."""

    def __init__(self, root: Node) -> None:
        self._retrieved: set[str] = set()
        self._answers: list[str] = []
        self._given: set[str] = set()
        nodes = list(root.walk())[1:]
        asked = {
            id(above) for node in nodes if isinstance(node.payload, EngineAnswered) for above in _above(node)
        }
        for node in nodes:
            payload = node.payload
            if id(node) in asked:
                continue
            # Below this one no engine was asked: what it names was retrieved.
            if isinstance(payload, RetrieverEnded):
                self._retrieved.update(filter(None, map(id_of, payload.nodes)))
            elif isinstance(payload, EngineAnswered):
                self._retrieved.update(filter(None, map(id_of, nodes_in(payload.result) or ())))
        self._answers = [
            text
            for node in nodes
            if isinstance(node.payload, EngineAnswered) and (text := _text(node.payload))
        ]
        earlier: list[Node] = []
        for node in nodes:
            if isinstance(node.payload, Given) and earlier:
                above = {id(each) for each in _above(node)}
                texts = [_text(each.payload) for each in earlier if id(each) not in above]
                self._given.update(
                    name for each in node.payload.nodes if (name := id_of(each)) and self._ends(each, texts)
                )
            elif isinstance(node.payload, Written):
                earlier.append(node)

    def without(self, nodes: Iterable[Any]) -> list[Any]:
        """The nodes that no model wrote."""
        return [node for node in nodes if not self._is_written(node)]

    def _is_written(self, node: Any) -> bool:
        if id_of(node) in self._retrieved:
            return False
        return id_of(node) in self._given or self._ends(node, self._answers) or is_pair(node)

    def _ends(self, node: Any, texts: Iterable[str]) -> bool:
        if id_of(node) in self._retrieved:
            return False
        text = text_of_node(node).strip()
        return any(each and text.endswith(each) for each in texts)


def _text(payload: EngineAnswered | Written) -> str:
    """What an engine answered or a model replied; empty where it is too short to be known again."""
    if isinstance(payload, EngineAnswered):
        return (answer_in(payload.result) or "").strip()
    reply = getattr(payload.reply, "message", payload.reply)
    text = getattr(reply, "content", None) or getattr(reply, "text", None) or ""
    text = text.strip() if isinstance(text, str) else ""
    return text if len(text) >= _SHORTEST_REPLY else ""


def _texts_of_tool(node: Node, names: Collection[str]) -> Iterator[str]:
    """The texts of a named tool, as far as it has retrieved them itself."""
    used = node.payload
    if not isinstance(used, Used) or used.tool not in names or getattr(used.output, "is_error", False):
        return
    below = [each.payload for each in node.walk()]
    if any(isinstance(each, EngineAnswered | RetrieverEnded) for each in below):
        return  # what it has found are nodes, which were seen
    written = {text for each in below if isinstance(each, Written) and (text := _text(each))}
    for text in _tool_texts(used.output):
        if not any(text.strip().endswith(each) for each in written):
            yield text


def _tool_texts(output: Any) -> list[str]:
    """The chunks in what a tool returned, else its text as the model was shown it."""
    raw = getattr(output, "raw_output", output)
    parts = getattr(raw, "content", None)
    if is_sequence(parts) and not isinstance(parts, str):  # a tool behind the Model Context Protocol
        return [
            text for part in parts if isinstance(text := getattr(part, "text", None), str) and text.strip()
        ]
    chunks, unknown = chunks_of(raw)
    if chunks and not unknown:
        return [chunk.text for chunk in chunks]
    text = getattr(output, "content", None)
    return [text] if isinstance(text, str) and text.strip() else []


def _outermost(nodes: Iterable[Node]) -> Iterator[RetrieverEnded | Given | EngineAnswered]:
    """What was seen, without what lies inside of it."""
    for node in nodes:
        if isinstance(node.payload, RetrieverEnded) and any(
            isinstance(each.payload, EngineAnswered) for each in node.walk()
        ):
            # A retriever that asks engines gives their answers; what these rest on lies inside.
            yield node.payload
            yield from (each for each in _outermost(node.children) if isinstance(each, EngineAnswered))
        elif isinstance(node.payload, RetrieverEnded | Given | EngineAnswered):
            yield node.payload
        else:
            yield from _outermost(node.children)


def _is_outer(node: Node) -> bool:
    return not any(isinstance(above.payload, RetrieverEnded) for above in _above(node))


def _above(node: Node) -> Iterator[Node]:
    above = node.parent
    while above is not None:
        yield above
        above = above.parent


def _once(nodes: Iterable[Any]) -> list[Any]:
    """Each node at its first place; two branches may have found the same."""
    found: dict[object, Any] = {}
    for node in nodes:
        found.setdefault(id_of(node) or id(node), node)
    return list(found.values())
