"""From a capture to its records."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ragmetrics_core.adapting._judging import within_judging
from ragmetrics_core.drivers import Calls, measure_sample
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live._background import Threads
from ragmetrics_core.live._capture import Capture, LiveResult, translated, without_texts
from ragmetrics_core.live._models import JudgeAtHome, MadeEmbedder, MadeJudge, at_home, calls_to
from ragmetrics_core.live._settings import Expected, LiveSettings, References, check_expected
from ragmetrics_core.metrics import Metric, names_of, resolve
from ragmetrics_core.prompts import Prompt, PromptText
from ragmetrics_core.protocol import Embedder, Judge, Scorer, TextFunction
from ragmetrics_core.runs import Manifest
from ragmetrics_core.runs._own_loop import on_own_loop
from ragmetrics_core.runs._preparation import prepare, with_prompts
from ragmetrics_core.samples import Sample

__all__ = ["Measuring"]


class _Ready(NamedTuple):
    """What is measured, checked, and the calls to the models."""

    metrics: tuple[Metric[Any], ...]
    calls: Calls
    manifest: Manifest


class Measuring:
    """Makes samples of captures and measures them; the arguments are those of `LiveScorer`.

    Raises:
        ConfigError: a mistake in the arguments. With a factory, what it makes is checked when it is first
            needed.
    """

    def __init__(
        self,
        metrics: str | Metric[Any] | Iterable[str | Metric[Any]],
        *,
        judge: Judge | TextFunction | str | None,
        judge_factory: Callable[[], Judge | TextFunction | str] | None,
        embedder: Embedder | str | None,
        embedder_factory: Callable[[], Embedder | str] | None,
        scorer: Scorer | str | None,
        settings: LiveSettings,
    ) -> None:
        for name, model, factory in (
            ("judge", judge, judge_factory),
            ("embedder", embedder, embedder_factory),
        ):
            if model is not None and factory is not None:
                raise ConfigError(f"pass {name}=... or {name}_factory=..., not both")
        self.metrics = resolve(metrics)
        if settings.prompts is not None:
            self.metrics = with_prompts(self.metrics, settings.prompts)
        self._judge = at_home(judge) if judge_factory is None else MadeJudge(judge_factory)
        self._embedder = embedder if embedder_factory is None else MadeEmbedder(embedder_factory)
        self._scorer = scorer
        self._traffic = settings.traffic
        self._references = settings.references
        self.redact = settings.redact
        self._strict = settings.strict_shown
        self._is_made = judge_factory is not None or embedder_factory is not None
        self._ready: _Ready | None = None
        if not self._is_made:
            self._ready = on_own_loop(self._prepared())

    @property
    def names(self) -> dict[str, str]:
        """The metrics' names by signature; the signature itself where two have the name."""
        return names_of(self.metrics)

    @property
    def manifest(self) -> Manifest | None:
        """What is measured with which models; None as long as a factory was not called."""
        return self._ready.manifest if self._ready else None

    @property
    def tally(self) -> dict[str, int]:
        """What the models were asked so far."""
        return dict(vars(self._ready.calls.tally)) if self._ready else {}

    @property
    def needs_this_loop(self) -> bool:
        """Whether the judge is asked on the loop that runs here, so that nobody may wait in its way."""
        return isinstance(self._judge, JudgeAtHome) and self._judge.is_here

    def renew(self) -> None:
        """Make the layers around the models anew: in a forked child they may hold a lock for ever."""
        if self._ready is not None:
            models = self._models
            self._ready = self._ready._replace(calls=calls_to(models, self._traffic, self.redact))

    async def sample(
        self, capture: Capture, threads: Threads, keep: Callable[[Sample], None] | None = None
    ) -> Sample:
        """The capture's sample, redacted if it was asked for.

        Args:
            capture: what a hook handed over.
            threads: where host's objects are read.
            keep: called with the sample, in the same thread.

        Raises:
            Skip: the capture is no sample.
            Exception: whatever `translate`, `references` or `redact` raise.
        """

        def made() -> Sample:
            sample = self._sample(capture)
            if keep is not None:
                keep(sample)
            return sample

        return await asyncio.get_running_loop().run_in_executor(threads, lambda: within_judging(made))

    async def measured(
        self, sample: Sample, capture: Capture, scored: frozenset[str] = frozenset()
    ) -> LiveResult:
        """A sample with its records, but for those metrics whose signatures are `scored`.

        Raises:
            ConfigError: a factory made something that is no model, or one that cannot judge these metrics.
            Exception: whatever a factory raises.
        """
        if self._ready is None:
            ready = await self._prepared()
            self._ready = self._ready or ready
        metrics = tuple(metric for metric in self._ready.metrics if metric.signature not in scored)
        asked: dict[str, Prompt[Any]] = {}
        records = await measure_sample(sample, metrics, self._ready.calls, prompts=asked)
        texts = {digest: PromptText.of(prompt) for digest, prompt in asked.items()}
        told = capture if self.redact is None else without_texts(capture, self.redact)
        return LiveResult(sample, tuple(record.hydrated(sample, texts) for record in records), told)

    async def _prepared(self) -> _Ready:
        prepared = await prepare(
            [],
            metrics=self.metrics,
            judge=self._judge,
            embedder=self._embedder,
            scorer=self._scorer,
            redact=self.redact,
        )
        self._models = prepared.models
        calls = calls_to(prepared.models, self._traffic, self.redact)
        return _Ready(prepared.metrics, calls, prepared.manifest)

    def _sample(self, capture: Capture) -> Sample:
        sample = translated(capture)
        if self._references is not None and sample.reference is None:
            expected = self._expected(sample, self._references)
            if isinstance(expected, str):
                sample = sample.model_copy(update={"reference": expected})
            elif expected:
                sample = sample.model_copy(update={"references": tuple(expected)})
        if self.redact is not None:
            # the capture's id is the framework's or ours, and finds the record again
            sample = sample.redacted(self.redact).model_copy(update={"id": sample.id})
        return sample.strict() if self._strict else sample

    def _expected(self, sample: Sample, references: References) -> Expected | None:
        if callable(references):
            expected = references(sample)
            check_expected(expected, f"what references gave for {sample.id}")
            return expected
        question = sample.question or ""
        keys = (sample.id, question, question.strip())
        return next((references[key] for key in keys if key in references), None)
