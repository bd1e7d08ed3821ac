"""The file itself: a fixed skeleton, one style, one script, and the data as compressed chunks.

Nothing of the data is markup: it is in the file as base64 only, and the script puts it on the page as text.
The content security policy names style and script by their digests and forbids everything else.
"""

import base64
import zlib
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from ragmetrics_core.report._html.text import as_json

__all__ = ["chunk", "page"]

SKELETON = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>ragmetrics report</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#page">Skip to the content</a>
<header id="top"></header>
<main id="page" tabindex="-1"><p>Opening the report&hellip;</p>
<noscript><p>This report needs JavaScript, which runs inside this file only. The same is on the terminal: \
ragmetrics show RUN.</p></noscript></main>
<footer id="foot"></footer>
{first}
<script>{script}</script>
{rest}
</body>
</html>
"""
# In this order. The scripts share their names: each may use what any other defines.
STYLES = ("colours", "page", "overview", "samples", "proof", "annotate", "media")
SCRIPTS = ("elements", "places", "overview", "samples", "sample", "proof", "annotate", "start")
POLICY = (
    "default-src 'none'; script-src '{script}'; style-src '{style}'; img-src data:; "
    "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)


def chunk(value: Any) -> str:
    """Plain data as a piece of the file: JSON, compressed, in base64."""
    return base64.b64encode(zlib.compress(as_json(value), 9)).decode("ascii")


def page(first: Mapping[str, str], rest: Mapping[str, str]) -> str:
    """The file.

    Args:
        first: the chunks that the first view needs, by name; they stand before the script.
        rest: those that are read when a sample is opened.
    """
    style, script = _style(), _script()
    return SKELETON.format(
        policy=POLICY.format(script=_digest(script), style=_digest(style)),
        style=style,
        script=script,
        first="\n".join(_element(*each) for each in first.items()),
        rest="\n".join(_element(*each) for each in rest.items()),
    )


def _element(name: str, data: str) -> str:
    # a type that no browser runs
    return f'<script type="application/octet-stream" id="d-{name}">{data}</script>'


@cache
def _style() -> str:
    return "".join(_asset("style", f"{name}.css") for name in STYLES)


@cache
def _script() -> str:
    """The parts as one script whose names nothing outside sees."""
    return f'"use strict";\n(() => {{\n{"".join(_asset("script", f"{name}.js") for name in SCRIPTS)}}})();\n'


def _asset(folder: str, name: str) -> str:
    return files("ragmetrics_core.report._html").joinpath(folder, name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(sha256(text.encode()).digest()).decode('ascii')}"
