"""Which runs of a host belong together: a bounded table of trees."""

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
        id: the host's name for it.
        parent: what it is a part of; None for a root.
        root: the outermost one that was seen; itself for a root.
        payload: what the adapter keeps with it; may be set at any time.
        children: its parts, in the order in which they began.
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
        """Whether nothing that was seen is around it."""
        return self.parent is None

    def walk(self) -> Iterator["Node"]:
        """The node and all below it, each before its children."""
        waiting: list[Node] = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += reversed(node.children)


class Collector:
    """Trees of what has begun and not ended, by the host's ids; safe to use from many threads.

    A tree leaves at once when its root ends, in whatever way: an adapter calls `end` on success, on errors
    and on cancellation. What never ends is evicted: the root that was longest without a new part, when there
    are too many roots, or any root that had no new part for `ttl` seconds, when the next one begins.

    Args:
        max_open: open roots at most.
        ttl: seconds without a new part.
        on_evicted: called with each root that was evicted; it runs in the hook that made room.
        clock: gives the seconds.

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
        """Note that something begins; the same id again gives the same node, whose payload stays.

        A parent that is not known makes it a root: the application may have begun above our hooks.
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
        """A node that is open or whose root is; None when there is none."""
        return self._nodes.get(id)

    def end(self, id: Hashable) -> Node | None:
        """Note that something has ended: a root leaves with its whole tree and is returned; else None."""
        with self._lock:
            node = self._nodes.get(id)
            if node is None or not node.is_root:
                return None
            return self._remove(node)

    def __len__(self) -> int:
        """How many nodes are held."""
        return len(self._nodes)

    def clear(self) -> None:
        """Forget everything; nothing counts as evicted."""
        with self._lock:
            self._nodes.clear()
            self._roots.clear()

    def after_fork(self) -> None:
        """Begin anew: what was open is the parent's to end."""
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
