"""What handing over a capture may not do: read the host's objects, wait, or be seen by the host's tracers."""

import asyncio
import threading
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from ragmetrics_core import Sample
from ragmetrics_core.live import Capture, is_judging
from tests.live.captures import ANSWER, NOTHING, capture_of, python, sample_of
from tests.live.conftest import MakeScorer
from tests.live.fake_app import FakeApp

SPAN: ContextVar[str] = ContextVar("span", default="none")


class Shy:
    """An object of the host's: whoever reads it in the thread in which it was made breaks the test."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.home = threading.get_ident()

    def _read(self) -> str:
        assert threading.get_ident() != self.home, "the hook read an object of the host's"
        return self.text

    def __str__(self) -> str:
        return self._read()

    def __iter__(self) -> Iterator[str]:
        return iter([self._read()])

    def __len__(self) -> int:
        return len(self._read())

    def __bool__(self) -> bool:
        return bool(self._read())

    def __eq__(self, other: object) -> bool:
        return self._read() == other

    def __hash__(self) -> int:
        return hash(self._read())

    def __reduce__(self) -> Any:
        return str, (self._read(),)

    def __deepcopy__(self, memo: Any) -> Any:
        return self._read()

    __repr__ = __str__
    __copy__ = __deepcopy__


def read_out(capture: Capture) -> Sample:
    return Sample(
        question=str(capture.question), contexts=tuple(capture.contexts), answer=str(capture.answer)
    )


def test_handing_over_reads_no_object_of_the_host(live: MakeScorer):
    scorer = live()
    capture = capture_of(
        translate=read_out,
        question=Shy("Who selects the UPF?"),
        contexts=Shy(ANSWER),
        answer=Shy(ANSWER),
        history=Shy("nothing"),
        data={"more": Shy("more")},
        parent=Shy("span"),
        labels={"rule": Shy("a label")},
    )

    assert scorer.submit(capture)
    assert scorer.flush()

    assert scorer.results[0].scores == {"faithfulness": 1.0}
    assert scorer.results[0].sample.labels == {"rule": "a label"}


def test_a_whole_application_runs_without_its_objects_being_read_in_its_thread(live: MakeScorer):
    app = FakeApp(live())
    run = 1
    app.hooks.begin(run, None, Shy("Who selects the UPF?"))
    app.hooks.begin(2, run, Shy("Who selects the UPF?"))
    app.hooks.retrieved(2, [Shy(ANSWER)])
    app.hooks.end(run, Shy(ANSWER))

    assert app.live.flush()
    assert app.live.results[0].scores == {"faithfulness": 1.0}


UNDER_AUDIT = """
import os, sys, threading
from ragmetrics_core.live import LiveScorer
from tests.live.captures import capture_of

main = threading.get_ident()
seen = []
watching = False

def watch(event, args):
    if watching and threading.get_ident() == main:
        seen.append(event)

sys.addaudithook(watch)
with LiveScorer("faithfulness", judge="embedded", out=sys.argv[1]) as scorer:
    scorer.submit(capture_of())
    scorer.flush()
    captures = [capture_of() for _ in range(20)]
    watching = True
    for capture in captures:
        scorer.submit(capture)
    watching = False
    scorer.flush()
    assert scorer.stats.scored == 21
print(sorted(set(seen) - {"socket.send"}), seen.count("socket.send") <= 20)
"""


def test_handing_over_opens_writes_and_starts_nothing(tmp_path: Path):
    # what audit hooks report: files, sockets, processes, threads, databases
    done = python(UNDER_AUDIT, tmp_path / "run")

    assert done.stdout.strip() == "[] True"


def test_the_background_sees_no_context_variable_of_the_host(live: MakeScorer):
    seen: list[tuple[str, bool]] = []

    def look(*_: object) -> None:
        seen.append((SPAN.get(), is_judging()))

    async def judge(text: str) -> str:
        look()
        return NOTHING

    def sync_judge(text: str) -> str:
        look()
        return NOTHING

    def translate(capture: Capture) -> Sample:
        look()
        return sample_of(capture)

    SPAN.set("the host's span")
    for each in (judge, sync_judge):
        scorer = live(judge=each, references=look, on_result=look)
        scorer.submit(capture_of(translate=translate))
        scorer.flush()
        scorer.score(capture_of(translate=translate))
        asyncio.run(scorer.ascore(capture_of(translate=translate)))

    assert len(seen) == 2 * 3 * 4
    assert set(seen) == {("none", True)}
    assert SPAN.get() == "the host's span"
    assert not is_judging()


def test_hooks_under_a_judgement_hand_over_nothing(live: MakeScorer):
    taken: list[bool] = []
    scorer = live(on_result=lambda result: taken.append(scorer.submit(capture_of())))

    scorer.score(capture_of())

    assert taken == [False]
    assert scorer.stats.captured == 1
    assert scorer.stats.skipped == {}


def test_nothing_is_created_on_the_hosts_loop(live: MakeScorer):
    scorer = live()

    async def main() -> int:
        scorer.submit(capture_of())
        return len(asyncio.all_tasks())

    assert asyncio.run(main()) == 1
    assert scorer.flush()
    assert scorer.stats.scored == 1
