"""A framework's model whose server fails on a schema is asked without it, and learns only what is named."""

import asyncio
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import pytest

from ragmetrics_core import prompts
from ragmetrics_core.adapting import ForeignJudge, Way
from ragmetrics_core.errors import AccessRefused, ModelError, ModelRefused
from ragmetrics_core.models import foreign_answer, model_error
from ragmetrics_core.parsers import Expected
from ragmetrics_core.protocol import Completion, Generate

REQUEST: Generate[Any] = Generate(prompts.STATEMENTS, {}, Expected(form=prompts.STATEMENTS.user))


LADDER = ["json_schema", "plain_schema", "json_object", "text"]


class StatusError(Exception):
    """As clients tell a status: on the error."""

    def __init__(self, status_code: int, message: str) -> None:
        super().__init__(message)
        self.status_code = status_code


class Model(ForeignJudge):
    """A model whose server answers a schema with an error, and notes whether there was one."""

    def __init__(self, error: Exception) -> None:
        self.error = error
        self.otherwise: Exception | None = None
        self.asked: list[str] = []

    without_form = "send none"
    name = "m"

    @property
    def settings(self) -> frozenset[str]:
        return frozenset()

    @cached_property
    def takes_schema(self) -> bool:
        return True

    async def agenerate(self, request: Generate[Any]) -> Sequence[Completion]:
        async def ask(way: Way) -> list[Completion]:
            self.asked.append(way.form)
            if way.form != "text":
                raise self.error
            if self.otherwise:
                raise self.otherwise
            return [Completion("{}")]

        return await self.held(request, lambda way: foreign_answer(ask(way), model_error))


@pytest.mark.parametrize(
    ("status", "message", "asked"),
    [
        (400, "response_format is not supported", [*LADDER, "text"]),
        (400, "bad request", LADDER * 2),
        (404, "no endpoint", ["json_schema", "text"] * 2),
        (500, "failed to parse grammar", ["json_schema", "text", "text"]),
        (501, "not implemented", ["json_schema", "text"] * 2),
    ],
)
def test_a_schema_is_left_out_and_that_is_learned_if_the_message_names_it(
    status: int, message: str, asked: list[str]
):
    model = Model(StatusError(status, message))

    replies = [asyncio.run(model.agenerate(REQUEST)) for _ in range(2)]

    assert replies == [[Completion("{}")]] * 2
    assert model.asked == asked


@pytest.mark.parametrize("status", [401, 429, 503])
def test_a_failure_that_is_not_about_the_schema_is_raised_at_once(status: int):
    model = Model(StatusError(status, "no"))

    with pytest.raises(ModelError):
        asyncio.run(model.agenerate(REQUEST))
    assert model.asked == ["json_schema"]


def test_a_refusal_by_the_client_does_not_hide_what_the_server_says():
    refusal = ModelRefused("takes no schema")
    refusal.names = frozenset({"response_format"})
    model = Model(refusal)
    model.otherwise = StatusError(401, "no such key")

    with pytest.raises(AccessRefused, match="no such key"):
        asyncio.run(model.agenerate(REQUEST))
    assert model.asked == LADDER
