"""A run's lines to its models."""

from collections.abc import Callable
from dataclasses import replace

from ragmetrics_core.boundary.redaction import Redact
from ragmetrics_core.drivers._asynchronous import Calls, Models
from ragmetrics_core.journal import Journal
from ragmetrics_core.models import Batched, Budget, Line, Meter, Price, Traffic
from ragmetrics_core.models.redactor import Redactor
from ragmetrics_core.protocol import Embedder, Judge, Scorer

__all__ = ["wired"]


def wired(
    models: Models,
    traffic: Traffic,
    journal: Journal | None,
    budget: Budget | None = None,
    *,
    price: Price | None = None,
    meter: Meter | None = None,
    redact: Redact | None = None,
    redactor: Callable[[object, Redact | None], Redactor] = Redactor,
    ends_when_refused: bool = True,
) -> Calls:
    """Connect the models through one line each.

    Args:
        models: the models.
        traffic: limits on calls.
        journal: stores answers; None stores none.
        budget: limits on spending; None for no limit.
        price: the judge's price, needed for a budget with a cost.
        meter: replaces the meter with these limits.
        redact: removes private parts of replies and errors.
        redactor: removes these and the models' keys.
        ends_when_refused: stop the run if a model refuses every call.
    """
    meter = meter or Meter(budget=budget, price=price)

    def line(model: Judge | Embedder | Scorer) -> Line:
        return Line.to(model, traffic, journal=journal, meter=meter, redactor=redactor(model, redact))

    judges = tuple(map(line, models.judges))
    embedder = models.embedder and Batched(line(models.embedder))
    scorer = models.scorer and line(models.scorer)
    models = replace(models, judges=judges, embedder=embedder, scorer=scorer)
    return Calls(models, traffic.form_attempts, meter, ends_when_refused=ends_when_refused, lines=judges)
