"""The page brings all that it needs, and leaves its scorers open."""

from pathlib import Path


def given():
    return {}


def then(names, page):
    names["live"].close()
    means, caught_up = page.printed.splitlines()
    assert means == "{'faithfulness': LiveMean(mean=1.0, n=1)}"
    assert caught_up == "0 captures were left in runs/live; 0 scored now"
    assert Path("runs/live/records.jsonl").is_file()
