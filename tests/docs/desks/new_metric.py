"""The reader stands in a folder with the metric of the page and its prompt."""

import shutil


def given():
    shutil.copy("examples/custom_metric.py", "custom_metric.py")
    shutil.copytree("examples/prompts", "prompts")
    import custom_metric

    return {name: value for name, value in vars(custom_metric).items() if not name.startswith("__")}


def then(names, page):
    assert "6 records checked" in page.printed
