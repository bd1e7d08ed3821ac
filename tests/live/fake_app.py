"""A small application with a small adapter: what the shared suite is tried on, and how an adapter looks."""

import asyncio
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

from ragmetrics_core import Sample
from ragmetrics_core.live import Capture, Collector, LiveScorer, Node, Skip, is_judging, reason_of
from tests.live.suite import App, Ending, answer_to, contexts_for, pieces_of

# More than the 200 of the suite that are open at the same time.
MAX_OPEN = 250


def guarded(hook: Callable[..., None]) -> Callable[..., None]:
    """A hook that does nothing for what a judge asks, and harms nobody."""

    def call(hooks: "Hooks", *args: Any) -> None:
        try:
            if not is_judging():
                hook(hooks, *args)
        except Exception as error:  # the boundary to the host
            hooks.live.hook_failed(error)

    return call


class Hooks:
    """What the application calls as it runs: begin, retrieved, end and failed, by the ids of its runs."""

    def __init__(self, live: LiveScorer) -> None:
        self.live = live
        self.open = Collector(max_open=MAX_OPEN)

    @guarded
    def begin(self, run: int, parent: int | None, given: Any) -> None:
        self.open.start(run, parent, {"given": given})

    @guarded
    def retrieved(self, run: int, documents: list[Any]) -> None:
        node = self.open.get(run)
        if node is not None:
            node.payload["documents"] = documents
        self.open.end(run)

    @guarded
    def end(self, run: int, answer: Any) -> None:
        root = self.open.end(run)
        if root is not None:
            given, data = root.payload["given"], {"root": root}
            self.live.submit(
                Capture(translate=sample_of, name="fake", question=given, answer=answer, data=data)
            )

    @guarded
    def failed(self, run: int, error: BaseException | None = None) -> None:
        if self.open.end(run) is not None:
            self.live.skip(reason_of(error))


def sample_of(capture: Capture) -> Sample:
    """The sample of a root: its retrievals, in order."""
    root: Node = capture.data["root"]
    found = [node.payload["documents"] for node in root.walk() if "documents" in node.payload]
    if not found:
        raise Skip("no_contexts")
    contexts = tuple(str(document) for documents in found for document in documents)
    return Sample(question=str(capture.question), contexts=contexts, answer="".join(capture.answer))


class FakeApp:
    """Retrieves and answers; tells its hooks."""

    most_held = MAX_OPEN * 2

    def __init__(self, live: LiveScorer) -> None:
        self.live = live
        self.hooks = Hooks(live)
        self._ids = count()

    @contextmanager
    def answering(self, question: str) -> Generator[list[str]]:
        """A run of the application; what it answers is added piece by piece."""
        run, told = self._begin(question), list[str]()
        try:
            self._retrieve(run, question)
            yield told
        except BaseException as error:
            self.hooks.failed(run, error)
            raise
        self.hooks.end(run, told)

    def ask(self, question: str) -> str:
        with self.answering(question) as told:
            told.append(answer_to(question))
        return told[0]

    async def aask(self, question: str) -> str:
        with self.answering(question) as told:
            await asyncio.sleep(0)
            told.append(answer_to(question))
        return told[0]

    def stream(self, question: str) -> Iterator[str]:
        with self.answering(question) as told:
            for piece in pieces_of(answer_to(question)):
                told.append(piece)
                yield piece

    def root(self, number: int, ending: Ending) -> None:
        question = f"question {number}"
        run = self._begin(question)
        self._retrieve(run, question)
        if ending == "answered":
            self.hooks.end(run, "answer")
        elif ending == "failed":
            self.hooks.failed(run)

    def held(self) -> int:
        return len(self.hooks.open)

    def close(self) -> None:
        self.live.close()

    def _begin(self, question: str) -> int:
        run = next(self._ids)
        self.hooks.begin(run, None, question)
        return run

    def _retrieve(self, run: int, question: str) -> None:
        step = next(self._ids)
        self.hooks.begin(step, run, question)
        self.hooks.retrieved(step, contexts_for(question))


def make_app(**options: Any) -> App:
    return FakeApp(LiveScorer("faithfulness", **options))
