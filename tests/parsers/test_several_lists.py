"""Several lists in one reply: the last one counts, as docs/judges.md says."""

import pytest

from ragmetrics_core.parsers import EntityList, Hints, StatementList

FIRST, SECOND = '{"statements": ["A is b."]}', '{"statements": ["C is d."]}'


@pytest.mark.parametrize(
    "reply",
    [f"{FIRST}\nNo, better:\n{SECOND}", f"```json\n{FIRST}\n```\nBetter:\n```json\n{SECOND}\n```"],
)
def test_of_several_lists_of_statements_the_last_counts(reply: str):
    value = StatementList.read(reply, Hints()).value
    assert value is not None
    assert value.statements == ("C is d.",)


def test_of_several_lists_of_entities_the_last_counts():
    value = EntityList.read('{"entities": ["Ann"]}\nOr rather:\n{"entities": ["Bob"]}', Hints()).value
    assert value is not None
    assert value.entities == ("Bob",)
