"""All targets, and the inputs that are kept for each of them."""

import json
from collections.abc import Iterable
from pathlib import Path

from tests.fuzz import loader_targets, parser_targets, record_targets, server_targets
from tests.fuzz.target import Target

__all__ = ["TARGETS", "kept", "stored"]

CORPUS = Path(__file__).parent / "corpus"
TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        *parser_targets.TARGETS,
        *loader_targets.TARGETS,
        *record_targets.TARGETS,
        *server_targets.TARGETS,
    )
}


def kept(name: str) -> list[bytes]:
    """The inputs that the repository keeps for a target."""
    path = CORPUS / f"{name}.jsonl"
    if not path.is_file():
        return []
    lines = path.read_text(encoding="ascii").splitlines()
    return [json.loads(line).encode("utf-8", "surrogateescape") for line in lines]


def stored(name: str, inputs: Iterable[bytes]) -> None:
    """Keep these inputs for a target: a JSON text a line; a byte that is no UTF-8 is half a character."""
    CORPUS.mkdir(exist_ok=True)
    lines = (json.dumps(data.decode("utf-8", "surrogateescape")) + "\n" for data in sorted(inputs))
    (CORPUS / f"{name}.jsonl").write_text("".join(lines), encoding="ascii")
