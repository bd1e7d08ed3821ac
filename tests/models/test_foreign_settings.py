"""Which models of a framework have the same name, and which must not."""

import re
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field, SecretStr

from ragmetrics_core.models import settings_digest, settings_for_names


class Model(BaseModel):
    """As the frameworks' model classes are."""

    # pydantic 2.9 keeps every name that begins with `model_` for itself
    model_config = ConfigDict(protected_namespaces=())

    temperature: float = 0.7
    model_kwargs: dict[str, Any] = Field(default_factory=dict)
    stop: set[str] = set()
    timeout: float | None = None
    api_key: SecretStr | str | None = None
    client: Any = None
    callbacks: Any = Field(default=None, exclude=True)
    hook: Any = None


def test_usual_settings_have_no_digest():
    assert settings_digest(Model()) == ("", True)
    assert settings_digest(Model(temperature=0.7, model_kwargs={}, stop=set())) == ("", True)


@pytest.mark.parametrize(
    "changed",
    [{"temperature": 0.1}, {"model_kwargs": {"frequency_penalty": 1}}, {"stop": {"a", "b"}}],
    ids=["temperature", "model_kwargs", "stop"],  # a set's own text has another order in each process
)
def test_another_setting_is_another_digest(changed: dict[str, Any]):
    digest = settings_digest(Model(**changed))

    assert digest.text
    assert digest.is_complete
    assert digest == settings_digest(Model(**changed))
    others = [Model(temperature=0.2), Model(model_kwargs={"top_k": 3}), Model(stop={"a"})]
    assert digest.text not in [settings_digest(each).text for each in others]


def test_an_order_that_does_not_matter_changes_nothing():
    one = Model(model_kwargs={"a": 1, "b": 2}, stop={"x", "y", "z"})
    other = Model(model_kwargs={"b": 2, "a": 1}, stop={"z", "y", "x"})

    assert settings_digest(one) == settings_digest(other)


@pytest.mark.parametrize(
    "given",
    [
        {"api_key": "sk-0123456789abcdef"},
        {"api_key": SecretStr("sk-0123456789abcdef")},
        {"model_kwargs": {"headers": {"Authorization": "Bearer sk-0123456789abcdef"}}},
    ],
    ids=str,
)
def test_another_key_is_the_same_model(given: dict[str, Any]):
    empty: dict[str, Any] = {"model_kwargs": {"headers": {}}} if "model_kwargs" in given else {}

    assert settings_digest(Model(**given)) == settings_digest(Model(**empty))


def test_how_calls_are_made_is_no_setting():
    assert settings_digest(Model(timeout=5, client=object(), callbacks=[object()])) == ("", True)


def test_what_cannot_be_read_makes_the_digest_incomplete():
    assert settings_digest(Model(hook=object())) == ("", False)


def test_a_plain_object_is_told_by_its_public_attributes():
    class Plain:
        def __init__(self, dimensions: int) -> None:
            self.dimensions = dimensions
            self._calls = object()

    assert settings_digest(Plain(4)) != settings_digest(Plain(8))
    assert settings_digest(Plain(4)).is_complete
    # the identity shows them already
    assert settings_digest(Plain(4), shown=["dimensions"]) == ("", True)


def test_a_setting_that_a_model_takes_beside_its_fields_is_one():
    class Open(Model, extra="allow"):
        pass

    assert settings_digest(Open(style="long")) != settings_digest(Open(style="short"))
    assert settings_digest(Open(style="long")) == settings_digest(Open(style="long"))
    assert settings_digest(Open(hook_of_mine=object())) == ("", False)


@pytest.mark.parametrize(
    "value",
    [
        {"extra_headers": {"X-Team": "fern-and-moss"}},
        [{"options": {"cookies": {"session": "fern-and-moss"}}}],
        {"proxy": "https://host/v1?tenant=fern-and-moss"},
        "first see http://host/, then http://me:fern-and-moss@other/",
    ],
    ids=["header", "cookie", "parameter", "in a text"],
)
def test_what_may_be_a_key_is_in_no_name_however_deep_it_stands(value: Any):
    (shown,) = settings_for_names({"model_kwargs": value}).values()

    assert re.fullmatch("[0-9a-f]{12}", shown)
    assert settings_for_names({"model_kwargs": [value, 2]}) != settings_for_names(
        {"model_kwargs": [value, 3]}
    )


def test_a_text_that_speaks_of_an_address_stays_whole():
    # cut at the question mark, two instructions would be one
    told = settings_for_names({"system": "Is it as in http://host/? Be strict.", "url": "http://host/v1?k=1"})

    assert told["url"] == "http://host/v1"
    assert told["system"] != settings_for_names({"system": "Is it as in http://host/? Be mild."})["system"]
    assert settings_for_names({"system": "See http://host/ first."}) == {"system": "See http://host/ first."}
