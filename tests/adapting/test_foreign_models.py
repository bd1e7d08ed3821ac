"""What the models of all frameworks have in common, once they are judges and embedders."""

from functools import cached_property
from types import SimpleNamespace

import pytest

from ragmetrics_core.adapting import ForeignModel, ForeignName, usage_of
from ragmetrics_core.protocol import Usage


class Model(ForeignModel):
    def __init__(self, name: str | None = None, *, is_sure: bool = True) -> None:
        self.name = name
        self._is_sure = is_sure

    @cached_property
    def foreign_name(self) -> ForeignName:
        return ForeignName("framework:Model/small", self._is_sure)


def test_a_model_is_called_as_its_user_says_or_as_it_says_itself():
    assert Model("mine").identity == "mine"
    assert Model().identity == "framework:Model/small"
    assert repr(Model("mine")) == "Model('mine')"


@pytest.mark.parametrize(
    ("name", "is_sure", "cacheable"),
    [(None, True, True), (None, False, False), ("mine", False, True)],
)
def test_answers_are_kept_where_no_other_model_is_called_so(name, is_sure, cacheable):
    assert Model(name, is_sure=is_sure).cacheable == cacheable


@pytest.mark.parametrize(
    "source",
    [
        {"prompt_tokens": 12, "completion_tokens": 3},
        {"input_tokens": 12, "output_tokens": 3},
        SimpleNamespace(input_tokens=12, output_tokens=3),
    ],
)
def test_tokens_are_found_under_either_name_in_mappings_and_objects(source):
    assert usage_of(None, source) == Usage(12, 3)


def test_the_first_that_counts_both_is_taken():
    half, whole, later = {"prompt_tokens": 1}, {"input_tokens": 2, "output_tokens": 2}, {}
    assert usage_of(half, whole, later) == Usage(2, 2)


@pytest.mark.parametrize(
    "source", [None, {}, {"prompt_tokens": 12}, {"input_tokens": "12", "output_tokens": "3"}, 7, "usage"]
)
def test_what_is_no_count_is_none(source):
    assert usage_of(source) is None
