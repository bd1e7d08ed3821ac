"""Settings that limit a run's spending on its judge."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Self, TypedDict, Unpack

from pydantic import Field

from ragmetrics_core.boundary.keywords import checked
from ragmetrics_core.errors import ConfigError

__all__ = ["Budget", "BudgetArgs", "Price", "Prices"]

Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Price(NamedTuple):
    """A model's price per million tokens, in any currency."""

    prompt: Amount
    completion: Amount


Prices = str | Path | Mapping[str, Price]
"""Prices by model name: a mapping, or the path of a JSON file with one."""


class BudgetArgs(TypedDict, total=False):
    """The settings of `Budget` as keywords: `evaluate(..., max_calls=1000)`."""

    max_calls: int | None
    """Maximum number of judge calls, retries included; never exceeded.

    The remaining scores become `cancelled`. Run again with a higher limit to resume.
    """

    max_tokens: int | None
    """Maximum number of judge tokens, prompt and completion together.

    If the judge does not report tokens, they are estimated from characters. Tokens and cost are known only
    after a reply, so each call in flight counts as the average of the calls so far.
    """

    max_cost: float | None
    """Maximum cost of the judge, in the currency of `prices`. Requires `prices`."""

    prices: Prices | None
    """Prices per million tokens: a JSON file or a mapping, {"MODEL": {"prompt": 0.4, "completion": 1.6}}."""


@checked
@dataclass(frozen=True, kw_only=True)
class Budget:
    """Limits on a run's spending on its judge: `evaluate(..., budget=Budget(calls=1000))`; None: no limit.

    Attributes:
        calls, tokens, cost: `max_calls`, `max_tokens` and `max_cost` as keywords; see `BudgetArgs`.
        prices: see `BudgetArgs`; required with `cost`.

    Raises:
        ConfigError: a limit is invalid.
    """

    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None
    prices: Prices | None = None

    def __post_init__(self) -> None:
        for name in ("calls", "tokens", "cost"):
            limit = getattr(self, name)
            if limit is not None and not limit >= 0:
                raise ConfigError(f"max_{name} must be 0 or more, or None, not {limit}")
        if self.cost is not None and self.prices is None:
            raise ConfigError("max_cost needs the judge's price: pass prices=... with an entry for its model")

    @property
    def has_limit(self) -> bool:
        """Whether the budget has any limit."""
        return self.calls is not None or self.tokens is not None or self.cost is not None

    def replacing(self, **settings: Unpack[BudgetArgs]) -> Self:
        """A copy with these settings replaced."""
        given: dict[str, Any] = {name.removeprefix("max_"): value for name, value in settings.items()}
        return replace(self, **given)

    @property
    def keywords(self) -> BudgetArgs:
        """The settings as keywords."""
        return {
            "max_calls": self.calls,
            "max_tokens": self.tokens,
            "max_cost": self.cost,
            "prices": self.prices,
        }
