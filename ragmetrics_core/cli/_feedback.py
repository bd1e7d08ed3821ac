"""`ragmetrics send`: scores sent to the tools that hold the traces."""

from math import isfinite
from typing import Annotated, Literal

import typer

from ragmetrics_core.cli._arguments import OwnMetrics, RunFolder
from ragmetrics_core.cli._own import open_run, redact_of
from ragmetrics_core.cli._screen import remarks
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.feedback import receiver_named
from ragmetrics_core.feedback import send as send_scores
from ragmetrics_core.texts.wording import number_of

__all__ = ["send"]


def send(
    run: RunFolder,
    *,
    to: Literal["phoenix", "mlflow", "langfuse", "langsmith", "otlp"],
    url: str | None = None,
    project: str | None = None,
    threshold: Annotated[list[str] | None, typer.Option(metavar="METRIC=NUMBER")] = None,
    corrections: bool = False,
    redact: Annotated[list[str] | None, typer.Option(metavar="PATTERN")] = None,
    metrics: OwnMetrics = None,
) -> None:
    """Send the scores of a run to the tool that holds its traces.

    Each score has the digest of its record: ragmetrics show RUN --digest DIGEST opens the proof. The labels
    trace and span of the samples name the scored spans. A score that is sent again replaces itself, so after
    a failure the same command sends the rest. Keys are read from the environment, as the tool's own client
    reads them.

    Args:
        to: The tool that holds the traces, or otlp for any collector of OpenTelemetry.
        url: Address of the tool. Default: that of its client.
        project: For langsmith: name or id of the traces' project.
        threshold: Worst passing value of a metric, such as faithfulness=0.8; its scores are labelled pass or
            fail. Can be repeated.
        corrections: For langfuse: also write people's decisions as corrected output of the span.
        redact: Replace matches of this regular expression by [redacted] before anything is sent; or apply
            MODULE:FUNCTION, which takes and returns a text. Can be repeated.
    """
    thresholds = dict(map(_threshold, threshold or ()))
    opened = open_run(run, metrics)
    receiver = receiver_named(to, url=url, project=project, corrections=corrections)
    sent, left_out, stopped = send_scores(opened, receiver, thresholds=thresholds, redact=redact_of(redact))
    remarks().print(f"{number_of(sent, 'score')} sent to {to}", markup=False)
    for reason, count in left_out.items():
        remarks().print(f"{number_of(count, 'score')} not sent: {reason}", markup=False)
    if stopped is not None:
        remarks().print(
            f"stopped: {to} does not take scores ({stopped}); the same command sends the rest",
            markup=False,
            soft_wrap=True,
        )
    if stopped is not None or not sent:
        raise typer.Exit(1)


def _threshold(text: str) -> tuple[str, float]:
    name, equals, number = text.rpartition("=")
    try:
        value = float(number)
    except ValueError:
        value = float("nan")
    if not equals or not name.strip() or not isfinite(value):
        raise ConfigError(f"--threshold takes METRIC=0.8, not {text!r}")
    return name.strip(), value
