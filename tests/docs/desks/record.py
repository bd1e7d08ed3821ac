"""The run of `make demo`."""

from ragmetrics_core import Run


def given():
    return {}


def then(names, page):
    assert Run.load("runs/demo").score("tc-49", "faithfulness").corrections[0].by == "Ada"
