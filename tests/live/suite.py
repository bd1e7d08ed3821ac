"""What every adapter promises about live scoring; an adapter's test module makes a subclass of `LiveSuite`.

    class TestLive(LiveSuite):
        app_module = "tests.integrations.<name>.live_app"

The module has a function `make_app(**options) -> App`: an application of the framework with the adapter's
hooks, which answers by `answer_to` out of `contexts_for`, and raises `Broken` for questions that begin with
"broken". `options` are those of `LiveScorer` but for the metrics, which are "faithfulness".
"""

import asyncio
import gc
import importlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol

import pytest

from ragmetrics_core import Run
from ragmetrics_core.live import Capture, LiveResult, LiveScorer, MemorySink, Statistics

ROOT = Path(__file__).resolve().parents[2]
ROOTS = 200
SOAK = 10_000

Ending = Literal["answered", "failed", "abandoned"]


class App(Protocol):
    """An application with an adapter's hooks.

    Attributes:
        live: the scorer behind the hooks.
        most_held: how much `held` may be, however many roots were abandoned: `make_app` should let the hooks
            hold a few hundred roots (200 are open at the same time here), not thousands.
    """

    live: LiveScorer
    most_held: int

    def ask(self, question: str) -> str:
        """Retrieve and answer."""
        ...

    async def aask(self, question: str) -> str:
        """Likewise, asynchronously."""
        ...

    def stream(self, question: str) -> Iterator[str]:
        """Likewise, piece by piece."""
        ...

    def root(self, number: int, ending: Ending) -> None:
        """A root as the hooks see it, by the cheapest way; an abandoned one begins and does not end."""
        ...

    def held(self) -> int:
        """How many entries all tables of the hooks have together."""
        ...

    def close(self) -> None:
        """Take the hooks out of the framework and close the scorer."""
        ...


class Broken(Exception):
    """What the application raises by itself."""


def contexts_for(question: str) -> list[str]:
    """What the application retrieves."""
    return [f"The answer to «{question}» is {_number_of(question)}.", f"A second text about «{question}»."]


def answer_to(question: str) -> str:
    """What the application answers; raises for a question that begins with "broken"."""
    if question.startswith("broken"):
        raise Broken(question)
    return f"The answer to «{question}» is {_number_of(question)}."


def pieces_of(answer: str) -> Iterator[str]:
    """An answer as a stream: words with what follows them."""
    words = answer.split(" ")
    yield from (f"{word} " for word in words[:-1])
    yield words[-1]


def _number_of(question: str) -> int:
    return sum(map(ord, question))


def question_of(number: int) -> str:
    return f"What is number {number}?"


class LiveSuite:
    """The promises; a subclass names its module."""

    app_module: ClassVar[str]
    # Code that scripts begin with, say to silence a warning of the framework.
    script_setup: ClassVar[str] = ""

    @pytest.fixture
    def make_app(self) -> Iterator[Callable[..., App]]:
        module = importlib.import_module(self.app_module)
        apps: list[App] = []

        def make(**options: Any) -> App:
            app: App = module.make_app(**options)
            apps.append(app)
            return app

        yield make
        for app in apps:
            app.close()

    # Roots stay apart

    def test_200_questions_from_as_many_threads_stay_apart(self, make_app: Callable[..., App]):
        app = make_app(judge="embedded")
        start = threading.Barrier(32)

        def ask(number: int) -> str:
            if number < 32:
                start.wait()
            return app.ask(question_of(number))

        with ThreadPoolExecutor(32) as threads:
            answers = list(threads.map(ask, range(ROOTS)))

        assert answers == [answer_to(question_of(number)) for number in range(ROOTS)]
        expect_each_once(app, ROOTS)

    def test_200_questions_from_as_many_tasks_stay_apart(self, make_app: Callable[..., App]):
        app = make_app(judge="embedded")

        async def ask_all() -> list[str]:
            return await asyncio.gather(*(app.aask(question_of(number)) for number in range(ROOTS)))

        answers = asyncio.run(ask_all())

        assert answers == [answer_to(question_of(number)) for number in range(ROOTS)]
        expect_each_once(app, ROOTS)

    def test_200_streams_that_are_read_in_turn_stay_apart(self, make_app: Callable[..., App]):
        app = make_app(judge="embedded")
        read = [""] * ROOTS
        streams = {number: app.stream(question_of(number)) for number in range(ROOTS)}

        while streams:
            for number in list(streams):
                piece = next(streams[number], None)
                if piece is None:
                    del streams[number]
                else:
                    read[number] += piece

        assert read == [answer_to(question_of(number)) for number in range(ROOTS)]
        expect_each_once(app, ROOTS)

    # Nothing stays

    def test_nothing_is_held_after_answers_failures_and_streams_that_were_broken_off(
        self, make_app: Callable[..., App]
    ):
        app = make_app(judge="embedded")

        app.ask("answered")
        with pytest.raises(Broken):
            app.ask("broken")
        stream = app.stream("a stream that nobody reads to its end")
        next(stream)
        stream.close()  # type: ignore[attr-defined]  # of a generator, which is how frameworks stream
        del stream
        gc.collect()

        assert app.live.flush()
        # by the same word in every framework
        assert app.live.stats.skipped["run_failed"] == 1
        assert settles(lambda: app.held() == 0)

    def test_containers_are_flat_after_10_000_roots_with_failed_and_abandoned_ones(
        self, make_app: Callable[..., App]
    ):
        of_other_tests = captures()
        app = make_app(judge=says_nothing, sinks=[MemorySink(10)], max_pending=50, overflow="drop_newest")
        endings: list[Ending] = ["answered", "failed", "answered", "abandoned", "answered"]

        for number in range(SOAK):
            app.root(number, endings[number % len(endings)])

        assert app.live.flush()
        stats = app.live.stats
        assert stats.captured >= SOAK * 3 // 5
        assert_adds_up(stats)
        assert settles(lambda: app.held() <= app.most_held)
        assert len(captures() - of_other_tests) <= 20
        assert len(app.live.results) == 10

    # The host is left alone

    @pytest.mark.parametrize(
        ("misbehaviour", "status"),
        [
            ("raises", "model_error"),
            ("exits", "model_error"),
            ("garbage", "parse_error"),
            ("no text", "model_error"),
            ("hangs", "timeout"),
            ("hangs in a thread", "timeout"),
        ],
    )
    def test_a_judge_that_misbehaves_changes_no_answer_and_no_exception(
        self, make_app: Callable[..., App], misbehaviour: str, status: str
    ):
        release = threading.Event()
        # only who never answers is to run out of time, however busy the machine is
        timeout = 0.05 if status == "timeout" else 60.0
        app = make_app(judge=misbehaving(misbehaviour, release), timeout=timeout, attempts=1)

        try:
            assert app.ask("first") == answer_to("first")
            assert asyncio.run(app.aask("second")) == answer_to("second")
            assert "".join(app.stream("third")) == answer_to("third")
            with pytest.raises(Broken):
                app.ask("broken")
            assert app.live.flush()
        finally:
            release.set()

        results = app.live.results
        assert sorted(result.sample.question or "" for result in results) == ["first", "second", "third"]
        assert {record.status for result in results for record in result.records} == {status}

    def test_a_sink_that_raises_and_a_reference_that_cannot_be_found_change_nothing(
        self, make_app: Callable[..., App]
    ):
        def fails(*_: object) -> Any:
            raise RuntimeError("this is no good")

        app = make_app(judge="embedded", on_result=fails, references=fails)

        assert app.ask("first") == answer_to("first")
        assert app.live.flush()
        stats = app.live.stats
        assert (stats.captured, stats.failed) == (1, 1)
        assert "this is no good" in stats.errors[-1]

    # Our own calls

    @pytest.mark.parametrize("kind", ["synchronous", "asynchronous", "streaming"])
    def test_what_a_judge_asks_the_application_itself_is_no_sample(
        self, make_app: Callable[..., App], kind: str
    ):
        made: list[App] = []

        def ask(text: str) -> str:
            return made[0].ask("a question of the judge")

        async def aask(text: str) -> str:
            return await made[0].aask("a question of the judge")

        def stream(text: str) -> str:
            return "".join(made[0].stream("a question of the judge"))

        judge = {"synchronous": ask, "asynchronous": aask, "streaming": stream}[kind]
        app = make_app(judge=judge)
        made.append(app)

        app.ask("a question of the user")
        asyncio.run(app.aask("another one"))

        assert app.live.flush()
        asked = sorted(result.sample.question or "" for result in app.live.results)
        assert asked == ["a question of the user", "another one"]
        assert app.live.stats.captured == 2
        assert settles(lambda: app.held() == 0)

    def test_an_application_that_is_its_own_judge_mixes_no_replies_in_200_calls_from_both_sides(
        self, make_app: Callable[..., App]
    ):
        judge = Echo()
        app = make_app(judge=judge)

        async def both() -> list[list[str]]:
            asked = (app.aask(question_of(number)) for number in range(100))
            own = (judge(f"own {number}") for number in range(100))
            return await asyncio.gather(asyncio.gather(*asked), asyncio.gather(*own))

        answers, own = asyncio.run(both())

        assert app.live.flush()
        assert answers == [answer_to(question_of(number)) for number in range(100)]
        assert own == [judge.reply_to(f"own {number}") for number in range(100)]
        for result in app.live.results:
            replies = [step.reply for record in result.records for step in record.generate_steps]
            assert replies
            assert all(str(result.sample.question) in reply for reply in replies)

    # Waiting and ending

    def test_flush_keeps_its_timeout_and_goes_on_later(self, make_app: Callable[..., App]):
        release = threading.Event()

        def waits(text: str) -> str:
            release.wait()
            return "{}"

        app = make_app(judge=waits, timeout=None)
        try:
            app.ask("first")
            assert not app.live.flush(timeout=0.01)
            assert not asyncio.run(app.live.aflush(timeout=0.01))
            assert app.live.stats.pending == 1
        finally:
            release.set()

        assert app.live.flush()
        assert app.live.stats.scored == 1

    def test_a_script_that_ends_right_after_its_last_call_still_gets_every_score(self, tmp_path: Path):
        self._script(
            """
            app = make_app(judge="embedded", out=sys.argv[1])
            for number in range(5):
                app.ask(question_of(number))
            asyncio.run(app.aask(question_of(5)))
            """,
            str(tmp_path / "run"),
        )

        run = Run.load(tmp_path / "run")
        assert scored_in(run) == {question_of(number) for number in range(6)}
        assert run.finished
        assert not list(run.audit())

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
    def test_a_process_that_forks_goes_on_scoring_on_both_sides(self, tmp_path: Path):
        self._script(
            """
            app = make_app(judge="embedded", out=sys.argv[1])
            app.ask("before")
            assert app.live.flush()
            child = os.fork()
            if child == 0:
                app.ask("in the child")
                done = app.live.close()
                os._exit(0 if done and app.live.stats.scored == 1 else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
            app.ask("in the parent")
            """,
            str(tmp_path / "run"),
        )

        assert scored_in(Run.load(tmp_path / "run")) == {"before", "in the parent"}
        assert scored_in(Run.load(tmp_path / "run-worker-2")) == {"in the child"}

    def _script(self, code: str, *arguments: str) -> str:
        lines = [line.removeprefix(" " * 12) for line in code.strip("\n").splitlines()]
        head = [
            self.script_setup,
            "import asyncio, os, sys",
            f"from {self.app_module} import make_app",
            "from tests.live.suite import question_of",
        ]
        done = subprocess.run(
            [sys.executable, "-c", "\n".join([*head, *lines]), *arguments],
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "integrations")])},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr, done.stderr
        return done.stdout


def captures() -> set[Capture]:
    """All that live."""
    gc.collect()
    return {each for each in gc.get_objects() if type(each) is Capture}


class Echo:
    """A model that both sides use: each call gets its own text back, after the others had their turn."""

    async def __call__(self, text: str) -> str:
        for _ in range(3):
            await asyncio.sleep(0)
        return self.reply_to(text)

    def reply_to(self, text: str) -> str:
        return f"You said: {text}"


async def says_nothing(text: str) -> str:
    return '{"statements": [], "declined": false}'


def misbehaving(kind: str, release: threading.Event) -> Callable[[str], Any]:
    """A judge that does what a judge should not do."""

    def raises(text: str) -> str:
        raise RuntimeError("the judge is down")

    def exits(text: str) -> str:
        raise SystemExit(3)

    def waits(text: str) -> str:
        release.wait()
        return "{}"

    async def hangs(text: str) -> str:
        await asyncio.get_running_loop().create_future()
        return "{}"

    return {
        "raises": raises,
        "exits": exits,
        "garbage": lambda text: "\x00{{{[1,,]]] ¿?",
        "no text": lambda text: 42,
        "hangs": hangs,
        "hangs in a thread": waits,
    }[kind]


def expect_each_once(app: App, count: int) -> None:
    """Every question was scored once, with its own answer and contexts, and well."""
    assert app.live.flush()
    results = app.live.results
    found = {result.sample.question: result for result in results}
    assert sorted(map(str, found)) == sorted(question_of(number) for number in range(count))
    assert len(results) == count
    assert len({result.sample.id for result in results}) == count
    for question, result in found.items():
        assert_unmixed(str(question), result)
    assert_adds_up(app.live.stats)
    assert settles(lambda: app.held() == 0)


def assert_unmixed(question: str, result: LiveResult) -> None:
    assert result.sample.answer == answer_to(question)
    assert list(result.sample.contexts or ()) == contexts_for(question)
    assert result.scores == {"faithfulness": 1.0}
    assert {record.sample_id for record in result.records} == {result.sample.id}


def assert_adds_up(stats: Statistics) -> None:
    """Nothing that was captured is lost without being counted."""
    assert stats.captured == stats.scored + stats.failed + stats.pending + stats.skipped.get("overflow", 0)


def scored_in(run: Run) -> set[str]:
    """The questions of a run's samples that have a score."""
    found = {run.sample(record.sample_id).question: record.status for record in run.records()}
    return {str(question) for question, status in found.items() if status == "ok"}


def settles(holds: Callable[[], bool]) -> bool:
    """Whether it holds after a while: the scorer's thread lets go of its last capture when it gets a turn."""
    for _ in range(100):
        if holds():
            return True
        time.sleep(0.1)
    return holds()
