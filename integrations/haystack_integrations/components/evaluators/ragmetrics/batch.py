"""Common parts of all batch evaluators: inputs and outputs as for Haystack's own evaluators."""

import asyncio
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, ClassVar, get_args

from haystack import Document, component
from ragmetrics_core import Record, Run, Sample, aevaluate, evaluate
from ragmetrics_core.adapting import Fields
from ragmetrics_core.boundary import Redact, is_series, names_in
from ragmetrics_core.errors import ConfigError, RunStopped
from ragmetrics_core.metrics import names_of
from ragmetrics_core.models import Traffic, TrafficArgs
from ragmetrics_core.runs import OnError, Progress
from tqdm import tqdm  # type: ignore[import-untyped]

from haystack_integrations.components.evaluators.ragmetrics.configured import Configured
from haystack_integrations.components.evaluators.ragmetrics.failures import EvaluationFailed, InputError
from haystack_integrations.components.evaluators.ragmetrics.metric_settings import FIELDS, inputs_needed
from haystack_integrations.components.evaluators.ragmetrics.results import entry_of, meta_of, outputs_of

__all__ = ["BatchEvaluator"]

_INPUT_TYPES: Mapping[str, Any] = {
    "questions": list[str],
    "contexts": list[list[str]],
    "predicted_answers": list[str],
    "ground_truth_answers": list[str],
}


class BatchEvaluator(Configured):
    """
    Evaluate lists of questions, contexts and answers with one or several metrics.

    Inputs that the metrics need are mandatory, the others optional.
    """

    progress_bar: bool
    on_error: OnError
    concurrency: int
    repeats: int
    include_records: bool
    out: str | None
    _more_outputs: ClassVar[Mapping[str, Any]] = {}

    def _prepare(self) -> None:
        """Declare inputs and outputs; called at the end of a constructor."""
        if self.on_error not in get_args(OnError):
            msg = f"on_error must be 'record' or 'raise', not {self.on_error!r}"
            raise ConfigError(msg)
        self._traffic = Traffic(**{name: getattr(self, name) for name in names_in(TrafficArgs)})
        self._needed = inputs_needed(self._metrics)
        component.set_input_types(self, **{name: type_ for name, type_ in _INPUT_TYPES.items() if name in self._needed})
        for name, type_ in _INPUT_TYPES.items():
            if name not in self._needed:
                component.set_input_type(self, name, type_ | None, None)
        outputs: dict[str, Any] = {
            "score": float,
            "individual_scores": list[float],
            "results": list[dict[str, Any]],
            "meta": list[dict[str, Any]] | None,
        }
        component.set_output_types(self, **outputs, **self._more_outputs)

    def close(self) -> None:
        """Close the chat generator and the text embedder."""
        self._release()

    async def close_async(self) -> None:
        """Close the chat generator and the text embedder on the event loop."""
        await self._release_async()

    def run(self, **inputs: Any) -> dict[str, Any]:
        """
        Evaluate the inputs, several at a time.

        :param inputs: `questions`, `contexts` (a list of texts for each question), `predicted_answers` and
            `ground_truth_answers`: lists of the same length, if the metrics need them.
        :returns: The outputs of Haystack's evaluators, for the first metric:

            - `score`: The mean of the scores; NaN if there are none.
            - `individual_scores`: The score of each sample; NaN if it has none.
            - `results`: A dictionary for each sample: `score`, `status` ("evaluated" or "error"),
              `ragmetrics_status` and `reason` (for a missing score), `formula`, `counts`, `verdicts`, and
              the whole `record`.
            - `meta`: Model, tokens and finish reason of each reply of the judge.

            `RagMetricsEvaluator` adds `by_metric`: the first three by metric name, for `EvaluationRunResult`.
        :raises InputError: The inputs are inconsistent; a `ValueError`.
        :raises EvaluationFailed: A score failed and `on_error` is "raise"; a `ValueError`.
        """
        samples = _samples(inputs, self._needed, self.redact)
        self.warm_up()
        with self._running(len(samples), asynchronous=False) as options:
            return self._outputs(evaluate(samples, **options), samples)

    async def run_async(self, **inputs: Any) -> dict[str, Any]:
        """
        Evaluate the inputs on the running event loop; otherwise like `run`.

        :param inputs: See `run`.
        :returns: See `run`.
        :raises InputError: The inputs are inconsistent; a `ValueError`.
        :raises EvaluationFailed: A score failed and `on_error` is "raise"; a `ValueError`.
        """
        samples = _samples(inputs, self._needed, self.redact)
        await self.warm_up_async()
        with self._running(len(samples), asynchronous=True) as options:
            run = await aevaluate(samples, **options)
            return await asyncio.to_thread(self._outputs, run, samples)

    @contextmanager
    def _running(self, samples: int, *, asynchronous: bool) -> Generator[dict[str, Any]]:
        """Run the block; translate a failure into the error that Haystack's evaluators raise."""
        # as many threads as calls may be in flight, whatever the machine has
        executor = ThreadPoolExecutor(self.concurrency, thread_name_prefix="ragmetrics-haystack")
        try:
            with tqdm(total=samples, disable=not self.progress_bar) as bar:

                def advance(progress: Progress) -> None:
                    bar.update(progress.samples - bar.n)

                yield {
                    "metrics": self._metrics,
                    "judge": self._judge(asynchronous=asynchronous, executor=executor),
                    "embedder": self._embedder(parallel=self.concurrency, asynchronous=asynchronous, executor=executor),
                    "traffic": self._traffic,
                    "progress": advance,
                    **{name: getattr(self, name) for name in ("scorer", "out", "redact", "repeats", "on_error")},
                }
        except RunStopped as error:
            raise EvaluationFailed(str(error)) from error
        finally:
            # a call that ran out of time may hang in its thread, and is not waited for
            executor.shutdown(wait=False, cancel_futures=True)

    def _outputs(self, run: Run, samples: Sequence[Sample]) -> dict[str, Any]:
        ids = [sample.id for sample in samples]
        by_metric = {
            key: outputs_of([self._entry(run.score(each, signature)) for each in ids])
            for signature, key in names_of(self._metrics).items()
        }
        meta = meta_of(run, ids)
        # the first metric's are what they would be without the others
        outputs = next(iter(by_metric.values())) | {"meta": meta}
        return outputs | ({"by_metric": by_metric} if self._more_outputs else {})

    def _entry(self, record: Record) -> dict[str, Any]:
        """The result of one sample; drop-in evaluators add fields of Haystack's own evaluator."""
        return entry_of(record, with_record=self.include_records)


def _samples(inputs: Fields, needed: frozenset[str], redact: Redact | None) -> list[Sample]:
    given = {name: value for name, value in inputs.items() if value is not None}
    for name, value in given.items():
        if name not in FIELDS:
            msg = f"there is no input {name!r}, only {', '.join(FIELDS)}"
            raise InputError(msg)
        if not isinstance(value, list | tuple):
            msg = f"{name} must be a list, one item for each sample, not {type(value).__name__}"
            raise InputError(msg)
    missing = [name for name in FIELDS if name in needed and name not in given]
    if missing:
        msg = f"the metrics need {', '.join(missing)}, got only {', '.join(given) or 'nothing'}"
        raise InputError(msg)
    lengths = {name: len(value) for name, value in given.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{length} {name}" for name, length in lengths.items())
        msg = f"the inputs must have the same length, got {told}"
        raise InputError(msg)
    rows = zip(*given.values(), strict=True)
    samples = [_sample(dict(zip(given, row, strict=True)), n) for n, row in enumerate(rows)]
    # here and not only by the run: ids come from the content, and are to be found again in its records
    return _with_own_ids([each.redacted(redact) for each in samples] if redact is not None else samples)


def _sample(row: Fields, number: int) -> Sample:
    fields: dict[str, Any] = {
        FIELDS[name]: _field(name, value, f"{name}[{number}]") for name, value in row.items() if value is not None
    }
    try:
        return Sample(**fields)
    except ValueError as error:  # pydantic's: half a character
        msg = f"sample {number}: {error}"
        raise InputError(msg) from error


def _field(name: str, value: object, where: str) -> str | tuple[str, ...]:
    if name != "contexts":
        return _document_text(value, where)
    if not is_series(value):
        msg = f"{where} must be a list of texts, not {type(value).__name__}"
        raise InputError(msg)
    return tuple(_document_text(each, where) for each in value)


def _document_text(value: object, where: str) -> str:
    if isinstance(value, Document):
        return value.content or ""
    if not isinstance(value, str):
        msg = f"{where} must be text, not {type(value).__name__}"
        raise InputError(msg)
    return value


def _with_own_ids(samples: Sequence[Sample]) -> list[Sample]:
    """The samples; repeated ones get unique ids, so that each has its own score."""
    seen: dict[str, int] = {}
    named: list[Sample] = []
    for sample in samples:
        times = seen[sample.id] = seen.get(sample.id, 0) + 1
        named.append(sample.model_copy(update={"id": f"{sample.id}-{times}"}) if times > 1 else sample)
    return named
