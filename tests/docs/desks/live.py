"""The page brings all that it needs, and leaves its scorers open."""

from pathlib import Path


def given():
    return {}


def then(names, page):
    names["live"].close()
    assert page.printed == "{'faithfulness': LiveMean(mean=1.0, n=1)}\n"
    assert Path("runs/live/records.jsonl").is_file()
