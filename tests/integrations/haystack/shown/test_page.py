"""docs/capture.md: its section on Haystack has the tests and the applications of this folder, by their names."""

import re
from pathlib import Path

from tests.integrations.haystack.shown.applications import OUTCOMES
from tests.integrations.haystack.shown.test_pipelines import APPLICATIONS
from tests.integrations.haystack.shown.test_several_generators import WITH_SEVERAL


def test_the_page_has_each_application():
    files = [file for file in Path(__file__).parent.glob("test_*.py") if file.name != Path(__file__).name]
    names = [name for file in files for name in re.findall(r"^def test_(\w+)", file.read_text("utf-8"), re.MULTILINE)]
    tables = {"an_application_is_recorded_as_its_model_saw_it", "which_of_several_models_answered_is_known"}

    told = {name.replace("_", " ") for name in names if name not in tables}
    assert told | set(APPLICATIONS) | set(WITH_SEVERAL) == set(OUTCOMES)
