"""A live scorer with `redact`: no sink, no log and no count has what is private, nor a key."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core import Sample
from ragmetrics_core.errors import ModelError
from ragmetrics_core.live import Capture, LiveResult, LiveScorer, LoggingSink, OpenTelemetrySink
from ragmetrics_core.testing import ScriptedJudge
from tests.secrets.planted import KEY, NAME, Log, found, held, shown, without_name

pytest.importorskip("opentelemetry.sdk", reason="opentelemetry-sdk is not installed")
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor


def capture(**more: Any) -> Capture:
    return Capture(
        translate=lambda held: Sample(question=held.question, contexts=held.contexts, answer=held.answer),
        name=f"app of {NAME}",
        question=f"Where is {NAME}?",
        contexts=(f"{NAME} is in Ulm.",),
        answer=f"{NAME} is in Ulm.",
        data={"host": NAME},
        labels={"who": NAME, "response_id": f"for {NAME}", "object": {NAME: NAME}},
        session=NAME,
        **more,
    )


def raising(error: BaseException) -> Callable[..., Any]:
    def function(*_: object) -> Any:
        raise error

    return function


@pytest.mark.parametrize(
    "judge",
    [
        lambda request: (
            '{"statements": ["Zo\\u00eb \\"\\u00d6l/Quark\\" M\\u00fcller is in Ulm."], "declined": false}'
        ),
        lambda request: f"{NAME} says no.",
        lambda request: ModelError(f"no {NAME}, key {KEY}\n2024 ERROR forged \x1b[31m"),
        lambda request: ValueError(f"no {NAME}, key {KEY}"),
    ],
    ids=["escaped", "unreadable", "an error", "a foreign error"],
)
def test_what_is_private_reaches_no_sink(
    judge: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SOME_API_KEY", KEY)
    emitted = InMemoryLogRecordExporter()
    provider = LoggerProvider()
    provider.add_log_record_processor(SimpleLogRecordProcessor(emitted))
    results: list[LiveResult] = []
    with Log() as log:
        with LiveScorer(
            ["faithfulness", "context_relevance"],
            judge=ScriptedJudge(judge),
            out=tmp_path / "run",
            sinks=[LoggingSink(), OpenTelemetrySink(provider)],
            on_result=results.append,
            references={f"Where is {NAME}?": f"In Ulm, {NAME} is."},
            redact=without_name,
            attempts=1,
        ) as live:
            for _ in range(2):
                live.submit(capture())
        events = [each.log_record for each in emitted.get_finished_logs()]

    assert len(results) == 2
    assert results[0].sample.reference == "In Ulm, [name] is."
    assert (
        found(shown(results) + shown(results[0].capture) + repr(vars_of(results[0].capture)), NAME, KEY) == []
    )
    assert found(shown(live.results) + shown(live.stats) + shown(live.means), NAME, KEY) == []
    assert events
    assert found("".join(f"{each.attributes} {each.body}" for each in events), NAME, KEY) == []
    assert found(log.text, NAME, KEY) == []
    assert held(tmp_path, NAME, KEY) == {}
    assert not [line for line in log.lines if "\n2024 ERROR" in line or "\x1b" in line]


def vars_of(given: Capture) -> dict[str, Any]:
    return {name: getattr(given, name) for name in Capture.__slots__}


@pytest.mark.parametrize(
    "options",
    [
        {"on_result": raising(RuntimeError(f"the sink knows {NAME} and {KEY}"))},
        {"references": raising(RuntimeError(f"no reference of {NAME}, {KEY}"))},
    ],
    ids=["sink", "references"],
)
def test_the_errors_of_the_applications_own_code_are_logged_without_what_is_private(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SOME_API_KEY", KEY)
    with Log() as log, LiveScorer("faithfulness", judge="embedded", redact=without_name, **options) as live:
        live.submit(capture())
        live.submit(capture(id="second"))
        live.hook_failed(KeyError(NAME))
        live.flush()

    assert found(log.text + shown(live.stats), NAME, KEY) == []
    # where it happened is still told
    assert "RuntimeError" in log.text
    assert "Traceback" in log.text


class Feedback:
    """A sink with a key of its own, which its server repeats."""

    def __init__(self, api_key: str):
        self.api_key = api_key

    def write(self, result: LiveResult) -> None:
        raise RuntimeError(f"403 for the key {self.api_key}")

    def flush(self) -> None: ...

    def close(self) -> None: ...


def judge_with(api_key: str) -> Callable[[], Any]:
    def made() -> Any:
        raise RuntimeError(f"401 for the key {api_key}")

    return made


@pytest.mark.parametrize(
    "options",
    [{"judge": "embedded", "sinks": [Feedback(KEY)]}, {"judge_factory": judge_with(KEY)}],
    ids=["sink", "factory"],
)
def test_a_key_that_a_sink_or_a_factory_holds_is_in_no_log(options: dict[str, Any]):
    with Log() as log, LiveScorer("faithfulness", **options) as live:
        live.submit(capture())
        live.flush()

    assert live.stats.errors[0].endswith(" for the key ***")
    assert found(log.text + shown(live.stats), KEY) == []
    assert "Traceback" in log.text


def test_a_translation_that_fails_says_where_and_not_what():
    failing = capture()
    failing.translate = raising(ValueError(f"cannot read {NAME}"))
    with Log() as log, LiveScorer("faithfulness", judge="embedded", redact=without_name) as live:
        live.submit(failing)

    assert live.stats.failed == 1
    assert found(log.text + shown(live.stats), NAME) == []
    assert "ValueError: cannot read [name]" in log.text


def test_without_redact_the_log_has_the_traceback_as_it_always_had(caplog: pytest.LogCaptureFixture):
    failing = capture()
    failing.translate = raising(ValueError("cannot read it"))
    with caplog.at_level(logging.ERROR), LiveScorer("faithfulness", judge="embedded") as live:
        live.submit(failing)

    (record,) = [each for each in caplog.records if each.name == "ragmetrics.live"]
    assert record.exc_info is not None
