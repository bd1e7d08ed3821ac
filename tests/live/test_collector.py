"""The collector: which runs belong together, and that none stays."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live import Collector, Node


class Clock:
    """Time that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_root_that_ends_takes_its_whole_tree_along():
    collector = Collector()
    collector.start("root", None, payload="the chain")
    collector.start("left", "root")
    collector.start("leaf", "left")
    collector.start("right", "root")

    root = collector.end("root")

    assert root is not None
    assert [node.id for node in root.walk()] == ["root", "left", "leaf", "right"]
    assert root.payload == "the chain"
    assert len(collector) == 0


def test_a_part_that_ends_stays_with_its_root():
    collector = Collector()
    collector.start("root", None)
    part = collector.start("part", "root", payload="documents")

    assert collector.end("part") is None
    assert collector.get("part") is part
    assert part.root.id == "root"
    assert not part.is_root


def test_what_begins_under_something_unknown_is_a_root():
    # the application may have begun above the place where our hooks were put
    collector = Collector()

    node = collector.start("inner", "never seen")

    assert node.is_root
    assert collector.end("inner") is node


def test_the_same_id_twice_is_one_node_with_the_first_payload():
    # a hook that is installed twice is told everything twice
    collector = Collector()
    first = collector.start("root", None, payload="first")
    part = collector.start("part", "root")

    assert collector.start("root", None, payload="second") is first
    assert collector.start("part", "root") is part
    assert first.payload == "first"
    assert first.children == [part]


def test_the_root_that_was_longest_without_a_part_goes_when_there_are_too_many():
    evicted: list[Node] = []
    collector = Collector(max_open=2, on_evicted=evicted.append)
    collector.start("busy", None)
    collector.start("quiet", None)
    collector.start("part of busy", "busy")

    collector.start("new", None)

    assert [node.id for node in evicted] == ["quiet"]
    assert collector.get("busy") is not None
    assert len(collector) == 3


def test_roots_that_nothing_was_heard_of_go_when_the_next_one_begins():
    clock = Clock()
    evicted: list[Node] = []
    collector = Collector(ttl=60, on_evicted=evicted.append, clock=clock)
    collector.start("abandoned", None)
    collector.start("its part", "abandoned")
    clock.now = 50
    collector.start("young", None)
    clock.now = 61

    collector.start("new", None)

    assert [node.id for node in evicted] == ["abandoned"]
    assert collector.get("its part") is None
    assert collector.get("young") is not None


def test_threads_that_begin_and_end_roots_at_once_lose_none():
    collector = Collector()
    gate = threading.Barrier(8)

    def work(thread: int) -> int:
        gate.wait()
        ended = 0
        for number in range(500):
            root, part = (thread, number), (thread, number, "part")
            collector.start(root, None)
            collector.start(part, root)
            tree = collector.end(root)
            ended += tree is not None and [node.id for node in tree.walk()] == [root, part]
        return ended

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(work, range(8))) == 8 * 500
    assert len(collector) == 0


class Meddling:
    """An id that ends another run whenever it is looked up, as the garbage collector may at any place."""

    def __init__(self, collector: Collector) -> None:
        self.collector = collector

    def __hash__(self) -> int:
        self.collector.end("abandoned")
        return 1

    def __eq__(self, other: object) -> bool:
        return self is other


def test_a_run_that_ends_while_the_collector_is_at_work_does_not_lock_it_up():
    # an abandoned stream is finished by the garbage collector, in whatever thread allocates just then
    collector = Collector()
    collector.start("abandoned", None)

    def work() -> None:
        collector.start(Meddling(collector), None)

    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    worker.join(timeout=30)

    assert not worker.is_alive()
    assert collector.get("abandoned") is None
    assert len(collector) == 1


def test_a_root_may_be_ended_by_who_is_told_of_its_eviction():
    collector = Collector(max_open=1, on_evicted=lambda node: collector.end("second"))
    collector.start("first", None)

    collector.start("second", None)

    assert len(collector) == 0


def test_a_collector_for_no_roots_is_refused():
    with pytest.raises(ConfigError, match="max_open must be at least 1"):
        Collector(max_open=0)


def test_a_deep_tree_is_walked_without_recursion():
    collector = Collector()
    collector.start(0, None)
    for depth in range(1, 5000):
        collector.start(depth, depth - 1)

    root = collector.end(0)

    assert root is not None
    assert sum(1 for _ in root.walk()) == 5000
    assert len(collector) == 0
