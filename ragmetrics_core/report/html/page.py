"""The HTML file: a fixed skeleton, one style, one script, and the data as compressed chunks.

The data are base64, and the script puts them on the page as text, never as markup. The content security
policy names style and script by their digests and forbids everything else.
"""

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

__all__ = ["as_json", "asset", "chunk", "digest_of", "page", "script_of"]

# In this order. The scripts of a page share their names: each may use what any other defines.
STYLES = ("colours", "page", "overview", "pictures", "samples", "proof", "annotate", "questions", "media")
_COMMON = ("building", "bookkeeping", "annotations", "elements", "frame", "places", "pictures")
_PROOF = ("sample", "proof", "annotate")
SCRIPTS: Mapping[str, Sequence[str]] = {
    "report": (*_COMMON, "overview", "samples", *_PROOF, "sessions", "start"),
    "test set": (*_COMMON, *_PROOF, "questions", "test_set"),
    "review": ("building", "bookkeeping", "elements", "frame", "proof", "questions", "review"),
}
"""Scripts of each kind of page."""
POLICY = (
    "default-src 'none'; script-src '{script}'; style-src '{style}'; "
    "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)


def as_json(value: Any) -> bytes:
    """Plain data as compact JSON."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def chunk(value: Any) -> str:
    """Plain data as compressed JSON in base64."""
    return base64.b64encode(zlib.compress(as_json(value), 9)).decode("ascii")


def page(
    first: Mapping[str, str], rest: Mapping[str, str], *, kind: str = "report", command: str = "show RUN"
) -> str:
    """The file.

    Args:
        first: chunks for the first view, by name; they precede the script.
        rest: chunks that are read when a sample is opened.
        kind: one of `SCRIPTS`.
        command: command that shows the same on the terminal.
    """
    style = _style()
    script = script_of(*(("html", "script", f"{name}.js") for name in SCRIPTS[kind]))
    return asset("html", "report.html").format(
        policy=POLICY.format(script=digest_of(script), style=digest_of(style)),
        style=style,
        script=script,
        kind=kind,
        command=command,
        first="\n".join(_element(*each) for each in first.items()),
        rest="\n".join(_element(*each) for each in rest.items()),
    )


def _element(name: str, data: str) -> str:
    # a type that no browser runs
    return f'<script type="application/octet-stream" id="d-{name}">{data}</script>'


@cache
def _style() -> str:
    return "".join(asset("html", "style", f"{name}.css") for name in STYLES)


@cache
def script_of(*paths: tuple[str, ...]) -> str:
    """Files as one script with private names."""
    return f'"use strict";\n(() => {{\n{"".join(asset(*path) for path in paths)}}})();\n'


def asset(*path: str) -> str:
    """A file that ships with the report."""
    return files("ragmetrics_core.report").joinpath(*path).read_text(encoding="utf-8")


def digest_of(text: str) -> str:
    """Digest of a style or script for the content security policy."""
    return f"sha256-{base64.b64encode(sha256(text.encode()).digest()).decode('ascii')}"
