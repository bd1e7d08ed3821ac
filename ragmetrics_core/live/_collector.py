"""Trees of a host's runs: a bounded table."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from typing import Any

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live._processes import renew_in_child

__all__ = ["Collector", "Node"]


class Node:
    """One run, span or step of the host.

    Attributes:
        id: the host's id.
        parent: the enclosing node; None for a root.
        root: the outermost observed node; a root's own root is itself.
        payload: the adapter's data; may be set at any time.
        children: the nodes inside, in starting order.
    """

    __slots__ = ("__weakref__", "children", "id", "parent", "payload", "root", "touched")

    def __init__(self, id: Hashable, parent: "Node | None", payload: Any) -> None:
        self.id = id
        self.parent = parent
        self.root: Node = self if parent is None else parent.root
        self.payload = payload
        self.children: list[Node] = []
        self.touched = 0.0

    @property
    def is_root(self) -> bool:
        """Whether no observed node encloses it."""
        return self.parent is None

    def walk(self) -> Iterator["Node"]:
        """The node and all below it, parents first."""
        waiting: list[Node] = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += reversed(node.children)


class Collector:
    """Trees of open nodes by the host's ids; thread-safe.

    A tree is removed when its root ends: an adapter calls `end` on success, on errors and on cancellation.
    When a node starts, roots without a new node for `ttl` seconds are evicted, and the longest inactive root
    if there are too many.

    Args:
        max_open: maximum number of open roots.
        ttl: seconds of inactivity before eviction.
        on_evicted: called with each evicted root, in the hook that starts the new node.
        clock: a clock in seconds.

    Raises:
        ConfigError: `max_open` is less than 1.
    """

    def __init__(
        self,
        *,
        max_open: int = 10_000,
        ttl: float = 900.0,
        on_evicted: Callable[[Node], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if max_open < 1:
            raise ConfigError(f"max_open must be at least 1, not {max_open}")
        self._max_open = max_open
        self._ttl = ttl
        self._on_evicted = on_evicted
        self._clock = clock
        self.after_fork()
        renew_in_child(self)

    def start(self, id: Hashable, parent_id: Hashable | None, payload: Any = None) -> Node:
        """Start a node; a known id returns the existing node with its payload.

        With an unknown parent the node becomes a root, because the parent may have started before our hooks.
        """
        evicted: list[Node] = []
        with self._lock:
            node = self._nodes.get(id)
            if node is None:
                parent = None if parent_id is None else self._nodes.get(parent_id)
                node = self._nodes[id] = Node(id, parent, payload)
                if parent is not None:
                    parent.children.append(node)
            root = node.root
            root.touched = self._clock()
            self._roots[root.id] = root
            self._roots.move_to_end(root.id)
            while len(self._roots) > self._max_open or self._is_over(next(iter(self._roots.values())), root):
                evicted.append(self._remove(next(iter(self._roots.values()))))
        for root in evicted:
            if self._on_evicted is not None:
                self._on_evicted(root)
        return node

    def get(self, id: Hashable) -> Node | None:
        """A node that is open or whose root is open, or None."""
        return self._nodes.get(id)

    def end(self, id: Hashable) -> Node | None:
        """End a node. A root is removed with its tree and returned; otherwise None."""
        with self._lock:
            node = self._nodes.get(id)
            if node is None or not node.is_root:
                return None
            return self._remove(node)

    def __len__(self) -> int:
        """Number of nodes."""
        return len(self._nodes)

    def clear(self) -> None:
        """Remove all nodes without counting them as evicted."""
        with self._lock:
            self._nodes.clear()
            self._roots.clear()

    def after_fork(self) -> None:
        """Reset in a forked child; open nodes belong to the parent."""
        # A collected generator may end its run in the midst of this, in the same thread: it must come in.
        self._lock = threading.RLock()
        self._nodes: dict[Hashable, Node] = {}
        self._roots: OrderedDict[Hashable, Node] = OrderedDict()

    def _is_over(self, oldest: Node, newest: Node) -> bool:
        return oldest is not newest and newest.touched - oldest.touched > self._ttl

    def _remove(self, root: Node) -> Node:
        del self._roots[root.id]
        for node in root.walk():
            self._nodes.pop(node.id, None)
        return root
