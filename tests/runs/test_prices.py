"""Prices are the user's own: read from a table by model name, and every mistake in it is named."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("aiohttp", reason="needs the extra openai: pip install 'ragmetrics-core[openai]'")

from ragmetrics_core.drivers import MetricEstimate
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.models import Line, OpenAIJudge, Price
from ragmetrics_core.runs import Plan, read_prices
from ragmetrics_core.runs.prices import price_of

SMALL = OpenAIJudge("small", api_key="none")
LARGE = OpenAIJudge("large", api_key="none")
amounts = st.floats(min_value=0, max_value=1e6)


@pytest.fixture
def table(tmp_path: Path) -> Any:
    """Write a table and give its path."""

    def write(content: Any) -> Path:
        file = tmp_path / "prices.json"
        file.write_text(content if isinstance(content, str) else json.dumps(content))
        return file

    return write


def priced(price: Price | None) -> Plan:
    return Plan(samples=1, kept=0, rejected=0, metrics={}, price=price)


def test_a_table_is_read_as_it_is_written(table):
    found = read_prices(
        table({"small": {"prompt": 0.4, "completion": 1.6}, "own": {"prompt": 0, "completion": 0}})
    )
    assert found == {"small": Price(0.4, 1.6), "own": Price(0, 0)}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "prices.json is not JSON: "),
        ("[]", "prices.json, all of it: "),
        ("3", "prices.json, all of it: "),
        ({"small": 3}, "'small': "),
        ({"small": {"prompt": 0.4}}, "'completion' of 'small': "),
        ({"small": {"prompt": "0.4", "completion": 1.6}}, "'prompt' of 'small': "),
        ({"small": {"prompt": -1, "completion": 1.6}}, "'prompt' of 'small': "),
        ('{"small": {"prompt": NaN, "completion": 1.6}}', "'prompt' of 'small': "),
        ('{"small": {"prompt": Infinity, "completion": 1.6}}', "'prompt' of 'small': "),
        ({"small": {"prompt": None, "completion": 1.6}}, "'prompt' of 'small': "),
        ({"small": {"prompt": 0.4, "completion": 1.6, "cached": 0.1}}, "'cached' of 'small': "),
    ],
)
def test_a_mistake_in_the_table_is_named_with_its_entry(table, content, told):
    with pytest.raises(ConfigError) as error:
        read_prices(table(content))
    assert told in str(error.value)


def test_a_table_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"no-prices\.json cannot be read: No such file"):
        read_prices(tmp_path / "no-prices.json")


def test_a_model_is_found_by_its_name():
    assert price_of([SMALL], {"small": Price(1, 2), "large": Price(3, 4)}) == Price(1, 2)


def test_the_identity_wins_over_the_models_name():
    # the same model may cost something else at another server
    prices = {"small": Price(1, 2), SMALL.identity: Price(3, 4)}
    assert price_of([SMALL], prices) == Price(3, 4)


def test_a_line_to_a_judge_hides_no_price():
    assert price_of([Line(SMALL)], {"small": Price(1, 2)}) == Price(1, 2)


def test_a_panel_costs_what_its_dearest_judge_does_for_each_kind_of_token():
    # the dearest prompt is one judge's, the dearest reply the other's
    assert price_of([SMALL, LARGE], {"small": Price(1, 9), "large": Price(3, 4)}) == Price(3, 9)


def test_a_model_without_a_price_is_named_with_those_that_have_one():
    with pytest.raises(ConfigError, match="there is no price for 'large', only for medium, small"):
        price_of([SMALL, LARGE], {"small": Price(1, 2), "medium": Price(1, 2)})


@pytest.mark.parametrize(("judges", "prices"), [([SMALL], None), ([], {"small": Price(1, 2)})])
def test_without_prices_or_without_a_judge_nothing_has_a_price(judges, prices):
    assert price_of(judges, prices) is None


@given(prompt=amounts, completion=amounts, one=st.integers(0, 10**9), other=st.integers(0, 10**9))
def test_what_two_estimates_cost_is_what_they_cost_together(prompt, completion, one, other):
    plan = priced(Price(prompt, completion))
    parts = [MetricEstimate(prompt_tokens=one), MetricEstimate(prompt_tokens=3, completion_tokens=other)]
    assert plan.cost(parts[0] + parts[1]) == pytest.approx(sum(map(plan.cost, parts)))
