"""The page brings all that it needs."""


def given():
    return {}


def then(names, page):
    assert "'score': [0.5, " in page.printed
    assert "found_contexts" in page.printed
    assert "scored=1" in page.printed
