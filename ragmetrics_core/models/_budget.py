"""What a run may spend on its judge, as settings."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Self, TypedDict, Unpack

from pydantic import Field

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.keywords import checked

__all__ = ["Budget", "BudgetArgs", "Price", "Prices"]

Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Price(NamedTuple):
    """What a model costs, in any currency, for a million tokens."""

    prompt: Amount
    completion: Amount


Prices = str | Path | Mapping[str, Price]
"""What models cost, by name: a mapping, or the path of a JSON file that holds one."""


class BudgetArgs(TypedDict, total=False):
    """The settings of `Budget` as keywords, as every door takes them: `evaluate(..., max_calls=1000)`."""

    max_calls: int | None
    """How often the judge may be asked, further attempts included; never exceeded.

    What is left then is `cancelled`, and the same run goes on with a higher limit.
    """

    max_tokens: int | None
    """How many tokens the judge may use, prompt and completion together.

    They are estimated from the characters where the judge does not count them. Tokens and cost are known only
    after a reply, so each call in flight is taken to become what the calls so far were on average.
    """

    max_cost: float | None
    """What the judge may cost, in the currency of `prices`, which it needs."""

    prices: Prices | None
    """What a million tokens cost: a JSON file or a mapping, {"MODEL": {"prompt": 0.4, "completion": 1.6}}."""


@checked
@dataclass(frozen=True, kw_only=True)
class Budget:
    """What a run may spend on its judge: `evaluate(..., budget=Budget(calls=1000))`; None for no limit.

    Attributes:
        calls, tokens, cost: `max_calls`, `max_tokens` and `max_cost` as keywords; see `BudgetArgs`.
        prices: what the judges cost, likewise; needed with `cost`.

    Raises:
        ConfigError: a limit cannot be used.
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
        """Whether anything ends the run."""
        return self.calls is not None or self.tokens is not None or self.cost is not None

    def but(self, **settings: Unpack[BudgetArgs]) -> Self:
        """The same with these settings in place of its own."""
        given: dict[str, Any] = {name.removeprefix("max_"): value for name, value in settings.items()}
        return replace(self, **given)

    @property
    def keywords(self) -> BudgetArgs:
        """Its settings as keywords."""
        return {
            "max_calls": self.calls,
            "max_tokens": self.tokens,
            "max_cost": self.cost,
            "prices": self.prices,
        }
