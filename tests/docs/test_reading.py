"""The blocks of a page are held to what the page says."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sybil")

from tests.docs.blocks import Page
from tests.docs.commands import Command, carry_out, commands

NO_NETWORK = Path(__file__).parent / "no_network"


@pytest.fixture
def read(tmp_path):
    def outcomes(*lines):
        path = tmp_path / "page.md"
        path.write_text("\n".join(lines), encoding="utf-8")
        page = Page(path, "page.md")
        page.run(page.document())
        return [(block.outcome, block.reason) for block in page.blocks]

    return outcomes


def test_blocks_of_a_page_share_their_names_and_the_text_below_one_is_its_output(read):
    done = read("```python", "x = 1", "```", "and", "```python", "print(x + 1)", "```", "```text", "2", "```")
    assert [outcome for outcome, _ in done] == ["run", "run", "checked"]


@pytest.mark.parametrize(
    "lines",
    [
        ["```python", "print(1)", "```", "", "```", "2", "```"],
        ["```console", "$ ragmetrics --version", "ragmetrics 99", "```"],
        ["```console", "$ ragmetrics no-such-command", "```"],
        ["```console", "$ ragmetrics show RUN --no-such-option", "```"],
        ["```", "$ make no-such-verb", "```"],
        ["```", "pip install 'ragmetrics-core[no-such-extra]'", "```"],
        ["```", "$ python examples/no_such_file.py", "```"],
        ["```console", "$ echo ok | grep -q no", "```"],
        ["```console", "$ git clone https://example.com/repository", "```"],
        ["```esperanto", "saluton", "```"],
    ],
)
def test_what_is_not_as_the_page_says_fails(read, lines):
    with pytest.raises(AssertionError):
        read(*lines)


@pytest.mark.parametrize(
    "lines", [["```json", "{", "```"], ["```toml", "a = ", "```"], ["```jsonl", "{}", "[", "```"]]
)
def test_data_that_cannot_be_read_fails(read, lines):
    with pytest.raises(ValueError):  # noqa: PT011 - each parser has its own words
        read(*lines)


@pytest.mark.parametrize(
    "code",
    [
        "print(0.5, '1 / 2 = 0.5')  # 0.5  1 / 2 = 0.5",
        "4 / 7  # 0.571",
        "[4 / 7, 0.25]  # [0.5714, 0.25]",
        "x = None  # None",
        "(\n    1,\n    2,\n)  # (1, 2)",
        "for _ in range(2):\n    print(1)  # 1",
        "print({'a': 1, 'b': object()})  # {'a': 1, ...}",
        "print(1)  # the number of samples",
        "x = [\n    1,  # 2 is not its value\n]",
        "s = 'a # 0.5'",
    ],
)
def test_a_value_in_a_comment_is_what_the_line_shows(read, code):
    assert read("```python", *code.splitlines(), "```") == [("run", "")]


@pytest.mark.parametrize(
    "code",
    [
        "print(0.5)  # 0.4",
        "print(0.54)  # 0.5",  # rounding takes three decimals, so that 0.5 is not any number near it
        "print(10.57)  # 0.57",
        "4 / 7  # 0.572",
        "x = 4 / 7  # 0.572",
        "print('a')  # 'b'",
        "print([1, 2])  # [1]",
        "3 > 2  # False",
        "if True:\n    print(2)  # 1",
        "for n in range(2):\n    print(n)  # 0",
        "print(2)  # 2 samples of 3",
        "print(2)  # None",
    ],
)
def test_a_value_in_a_comment_that_is_not_what_the_line_shows_fails(read, code):
    with pytest.raises(AssertionError, match=r"line \d says"):
        read("```python", *code.splitlines(), "```")


def test_a_value_below_its_line_fails_because_nothing_is_compared_with_it(read):
    with pytest.raises(AssertionError, match="line 3 is a value"):
        read("```python", "print(1)", "# 1", "```")


def test_a_block_that_cannot_run_is_noted_with_its_reason(read):
    done = read(
        '<!-- skip: next "it needs a cluster" -->', "", "```python", "1 / 0", "```", "```", "a table", "```"
    )
    assert done == [("not run", "it needs a cluster"), ("shown", "")]


def test_output_may_be_shortened_with_dots_and_a_command_may_end_with_a_stated_code():
    assert carry_out(Command("ragmetrics --help", "Usage: ragmetrics ... audit ..."))[0] == "run"
    assert carry_out(Command("ragmetrics show no-such-run   # exit code 2", ""))[0] == "run"


def test_commands_are_the_lines_behind_the_prompt_with_the_output_below_them():
    found = list(commands("$ ragmetrics runs \\\n  there\n\none\n# a remark\n$ make test\n"))
    assert found == [Command("ragmetrics runs there", "one"), Command("make test", "")]


def test_code_of_the_documentation_reaches_no_other_host():
    # 192.0.2.1 is reserved for documentation; nothing answers there
    code = "import socket; socket.create_connection(('192.0.2.1', 80), timeout=1)"
    environment = {**os.environ, "PYTHONPATH": str(NO_NETWORK)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert "PermissionError: the documentation's code wants to reach 192.0.2.1" in done.stderr
