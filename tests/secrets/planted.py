"""Secrets that are easy to find again, and where to look for them."""

import base64
import io
import json
import logging
import pickle
import re
import sqlite3
import traceback
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote

__all__ = [
    "KEY",
    "NAME",
    "PASSWORD",
    "SAMPLE",
    "Log",
    "found",
    "held",
    "shown",
    "told",
    "without_name",
    "written",
]

KEY = "sk-planted-0123456789abcdefXYZ"
PASSWORD = "planted/pass-9876543210"
# Half of it is written in another way in JSON, and half of that in two ways.
NAME = 'Zoë "Öl/Quark" Müller'
SAMPLE = {"id": "s1", "question": "Who?", "answer": "Ann did it.", "contexts": ["Ann did it."]}
TESTS = str(Path(__file__).resolve().parents[1])


def found(text: str | bytes, *secrets: str) -> list[str]:
    """Which secrets a text holds, in any form in which they may have been written."""
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    return [secret for secret in secrets or (KEY, PASSWORD) if any(form in data for form in _forms(secret))]


def _forms(secret: str) -> set[bytes]:
    plain = secret.encode()
    texts = {secret, quote(secret, safe=""), repr(secret)[1:-1], plain.hex()}
    texts |= {json.dumps(secret, ensure_ascii=each)[1:-1] for each in (True, False)}
    texts |= {each.replace("/", "\\/") for each in texts}
    # base64 writes three bytes as four signs, so that what stands in it depends on where it begins
    coded = {base64.b64encode(b" " * start + plain + b"  ")[4:-4] for start in range(3)}
    return {each.encode() for each in texts} | {each for each in coded if len(each) >= 8}


def without_name(text: str) -> str:
    """What `redact` is in these tests."""
    return text.replace(NAME, "[name]")


def held(folder: Path, *secrets: str) -> dict[str, list[str]]:
    """The files below a folder that hold a secret, and which."""
    return {name: ones for name, data in written(folder).items() if (ones := found(data, *secrets))}


def written(folder: Path) -> dict[str, bytes]:
    """Every byte below a folder, by file; reports and databases unpacked, too."""
    files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for name, data in list(files.items()):
        if data.startswith(b"SQLite format 3\0"):
            with sqlite3.connect(f"{(folder / name).as_uri()}?mode=ro", uri=True) as database:
                files[f"{name} unpacked"] = "\n".join(map(repr, _rows(database))).encode()
            database.close()
        elif name.endswith(".html"):
            files[f"{name} unpacked"] = b"\n".join(_unpacked(data))
    return files


def _rows(database: sqlite3.Connection) -> Iterator[Any]:
    for (table,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
        yield from database.execute(f'SELECT * FROM "{table}"')


def _unpacked(page: bytes) -> Iterator[bytes]:
    for chunk in re.findall(
        rb'<script type="application/octet-stream"[^>]*>([A-Za-z0-9+/=]*)</script>', page
    ):
        data = base64.b64decode(chunk)
        try:
            yield zlib.decompressobj(wbits=zlib.MAX_WBITS | 32).decompress(data)
        except zlib.error:
            yield zlib.decompressobj(wbits=-zlib.MAX_WBITS).decompress(data)


def told(error: BaseException, *, variables: bool = True) -> str:
    """Everything that can be read off an error: its words, its pickle, and tracebacks with all variables.

    The frames of tests are left out: what a caller holds in variables of its own is the caller's. So is what
    a model of somebody else shows of itself: without `variables` tracebacks come without theirs.
    """
    chain = [error]
    while (last := chain[-1].__cause__ or chain[-1].__context__) is not None:
        chain.append(last)
    parts = [str(error), repr(error), pickle.dumps(error).decode("latin-1")]
    for each in chain:
        trace = each.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename.startswith(TESTS):
            trace = trace.tb_next
        parts += traceback.TracebackException(type(each), each, trace, capture_locals=variables).format(
            chain=False
        )
        parts.append(_traceback_by_rich(each, trace, variables=variables))
    return "\n".join(parts)


def shown(value: object) -> str:
    """How an object shows itself: to `print`, to a debugger, to rich."""
    return f"{value!s}\n{value!r}\n{_by_rich(value)}"


def _traceback_by_rich(error: BaseException, trace: TracebackType | None, *, variables: bool) -> str:
    try:
        from rich.traceback import Traceback
    except ModuleNotFoundError:
        return ""
    page = Traceback.from_exception(
        type(error),
        error.with_traceback(trace),
        trace,
        show_locals=variables,
        locals_max_length=None,
        locals_max_string=None,
    )
    return _by_rich(page)


def _by_rich(value: object) -> str:
    """What rich prints; nothing where it is not installed, as it comes with the extra `cli`."""
    try:
        from rich.console import Console
    except ModuleNotFoundError:
        return ""
    file = io.StringIO()
    Console(file=file, width=1000).print(value)
    return file.getvalue()


class Log(logging.Handler):
    """Everything that any logger says, from DEBUG on, as a file would have it; use it with `with`."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.setFormatter(logging.Formatter("%(name)s %(levelname)s %(message)s"))
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the line, with its traceback."""
        self.lines.append(self.format(record))

    def __enter__(self) -> "Log":
        root = logging.getLogger()
        self._before = root.level
        root.setLevel(logging.DEBUG)
        root.addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        root = logging.getLogger()
        root.removeHandler(self)
        root.setLevel(self._before)

    @property
    def text(self) -> str:
        """All lines."""
        return "\n".join(self.lines)
