"""Generated applications need the packages that their prompts and their server's clients are made with."""

import pytest

pytest.importorskip("jinja2", reason="needs jinja2, which renders the prompts of random applications")
pytest.importorskip("httpx", reason="needs httpx, the client of several extras")
