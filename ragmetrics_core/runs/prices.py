"""Prices of judges, by model name. Users give them; none are shipped, because they go stale."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from ragmetrics_core.errors import ConfigError
from ragmetrics_core.models import Price, Prices
from ragmetrics_core.protocol import Judge

__all__ = ["price_of", "read_prices"]


def read_prices(path: str | Path) -> Mapping[str, Price]:
    """Read a price table: `{"MODEL": {"prompt": 0.4, "completion": 1.6}}`, per million tokens.

    Raises:
        ConfigError: the file cannot be read or is not a price table; the message names the entry.
    """
    try:
        fields: Any = json.loads(Path(path).read_bytes())
    except OSError as error:
        raise ConfigError(f"the price table {path} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"the price table {path} is not JSON: {error}") from None
    return _checked(fields, f"the price table {path}")


def price_of(judges: Sequence[Judge], prices: Prices | None) -> Price | None:
    """Price of a million tokens with these judges; None if there are no prices.

    For a panel, the price of the most expensive judge, so that a limit holds.

    Raises:
        ConfigError: it is not a price table, or has no entry for a judge's model.
    """
    if prices is None or not judges:
        return None
    table = read_prices(prices) if isinstance(prices, str | Path) else _checked(prices, "prices")
    found: list[Price] = []
    for judge in judges:
        names = [judge.identity, str(getattr(judge, "model", ""))]
        entry = next((table[name] for name in names if name in table), None)
        if entry is None:
            wanted = names[1] or names[0]
            raise ConfigError(
                f"there is no price for {wanted!r}, only for {', '.join(sorted(table)) or 'none'}"
            )
        found.append(entry)
    return Price(max(each.prompt for each in found), max(each.completion for each in found))


def _checked(table: Any, name: str) -> Mapping[str, Price]:
    try:
        return TypeAdapter(dict[str, Price]).validate_python(table, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        place = " of ".join(map(repr, reversed(first["loc"]))) or "all of it"
        raise ConfigError(
            f"{name}, {place}: {first['msg']}. An entry is a model's name with its prices for a million "
            'tokens: {"MODEL": {"prompt": 0.4, "completion": 1.6}}'
        ) from None
