"""Measurement of captures."""

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from functools import partial
from typing import Any

from ragmetrics_core.adapting import on_own_loop
from ragmetrics_core.drivers import Calls, measure_sample, wired
from ragmetrics_core.journal import Journal
from ragmetrics_core.live._breaker import Breaker
from ragmetrics_core.live._capture import Capture, LiveResult, translated, without_texts
from ragmetrics_core.live._conversations import Conversations
from ragmetrics_core.live._models import Guard, Made
from ragmetrics_core.live._settings import Expected, LiveSettings, check_expected
from ragmetrics_core.metrics import names_of, resolve
from ragmetrics_core.models import Price
from ragmetrics_core.prompts import Prompt, PromptText
from ragmetrics_core.runs import Manifest
from ragmetrics_core.runs.preparation import Metrics, Preparation, prepare, with_prompts
from ragmetrics_core.runs.prices import price_of
from ragmetrics_core.samples import Sample

__all__ = ["LiveEvaluation"]


class LiveEvaluation:
    """Translate and measure captures, one at a time, while the application runs.

    Args:
        metrics, settings: as for `LiveScorer`.
        models: judge, embedder and scorer by name; models from factories are checked on first use.

    Attributes:
        breaker: hears of the judge's answers and failures; set before the first measurement.
        price: the judge's price, if there are prices.
        conversations: what was shown for earlier answers.
        today: returns the day of the budget, UTC's.
        journal: keeps answered calls, so that those of a killed process are not made again; None keeps none.

    Raises:
        ConfigError: an argument is invalid.
    """

    def __init__(self, metrics: Metrics, settings: LiveSettings, models: Mapping[str, Any]) -> None:
        self.metrics = resolve(metrics)
        if settings.prompts is not None:
            self.metrics = with_prompts(self.metrics, settings.prompts)
        self._settings = settings
        self.models = models
        self.breaker: Breaker | None = None
        self.today: Callable[[], date] = lambda: datetime.now(UTC).date()
        self.journal: Journal | None = None
        self._day = self.today()
        self._earlier: Counter[str] = Counter()
        self.price: Price | None = None
        self.conversations = Conversations()
        self._calls: Calls | None = None
        self._preparation: Preparation | None = None
        if not any(isinstance(model, Made) for model in models.values()):
            self._preparation = on_own_loop(self._prepared())
            self.price = price_of(self._preparation.models.judges, settings.budget.prices)

    @property
    def names(self) -> dict[str, str]:
        """The metrics' names by signature; the signature itself if two share the name."""
        return names_of(self.metrics)

    @property
    def manifest(self) -> Manifest | None:
        """The metrics and models; None before a factory has been called."""
        return None if self._preparation is None else self._preparation.manifest

    @property
    def tally(self) -> dict[str, int]:
        """Counts of model calls so far."""
        return dict(self._earlier) | (
            {name: count + self._earlier[name] for name, count in vars(self._calls.tally).items()}
            if self._calls
            else {}
        )

    @property
    def is_spent(self) -> bool:
        """Whether the budget allows no further call for now."""
        return self._calls is not None and not self._is_next_day and self._calls.meter.spent >= 1

    @property
    def _is_next_day(self) -> bool:
        return self._settings.budget_period == "day" and self.today() > self._day

    def renew(self) -> None:
        """Rebuild the wrappers around the models: in a forked child they may hold a lock forever."""
        self._calls = None
        self.conversations = Conversations()
        self._earlier.clear()

    def sample(self, capture: Capture) -> Sample:
        """The capture's sample with its reference; redacted if `redact` is set.

        Raises:
            Skip: the capture is not a sample.
            Exception: any error of `translate`, `references` or `redact`.
        """
        sample = self.conversations.completed(translated(capture))
        expected = None if sample.reference is not None else self._expected(sample)
        if isinstance(expected, str):
            sample = sample.model_copy(update={"reference": expected})
        elif expected:
            sample = sample.model_copy(update={"references": tuple(expected)})
        if (redact := self._settings.redact) is not None:
            # the capture's id is the framework's or ours, and finds the record again
            sample = sample.redacted(redact).model_copy(update={"id": sample.id})
        return sample.strict() if self._settings.strict_shown else sample

    async def measured(self, sample: Sample, capture: Capture, scored: frozenset[str]) -> LiveResult:
        """A sample with its records, without the metrics with signatures in `scored`.

        Raises:
            ConfigError: a factory did not return a model, or the model cannot judge these metrics.
            Exception: any error of a factory.
        """
        redact = self._settings.redact
        calls = await self._wired()
        metrics = [metric for metric in self.metrics if metric.signature not in scored]
        asked: dict[str, Prompt[Any]] = {}
        records = await measure_sample(sample, metrics, calls, prompts=asked)
        texts = {digest: PromptText.of(prompt) for digest, prompt in asked.items()}
        shown = capture if redact is None else without_texts(capture, redact)
        return LiveResult(sample, tuple(record.hydrated(sample, texts) for record in records), shown)

    async def room(self) -> None:
        """Wait until the budget, if there is one, allows another whole sample."""
        if self._settings.budget.has_limit:
            await (await self._wired()).room()

    async def _wired(self) -> Calls:
        """The calls of this day's budget."""
        preparation = self._preparation = self._preparation or await self._prepared()
        if self._calls is not None and self._is_next_day:
            self._earlier.update(vars(self._calls.tally))
            self._calls = None
        if self._calls is None:
            self._day = self.today()
            self.price = price_of(preparation.models.judges, self._settings.budget.prices)
            # By default without a journal, which keeps every reply of an application that runs for months.
            self._calls = wired(
                preparation.models,
                self._settings.traffic,
                self.journal,
                self._settings.budget,
                price=self.price,
                redact=self._settings.redact,
                redactor=partial(Guard, breaker=self.breaker),
                ends_when_refused=False,
            )
        return self._calls

    async def _prepared(self) -> Preparation:
        return await prepare([], metrics=self.metrics, redact=self._settings.redact, **self.models)

    def _expected(self, sample: Sample) -> Expected | None:
        references = self._settings.references
        if callable(references):
            expected = references(sample)
            check_expected(expected, f"the value of references for {sample.id}")
            return expected
        question = sample.question or ""
        keys = (sample.id, question, question.strip())
        return next((references[key] for key in keys if key in references), None) if references else None
