"""Gives a release its addresses: `RAGMETRICS_REPOSITORY=https://HOST/OWNER/NAME` when it is built.

A package index shows the README, where relative links and pictures lead nowhere. With the variable, they
become absolute and `[project.urls]` is filled. Without it, the README stays as it is.
"""

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

TARGET = re.compile(r'((?<=\]\()|(?<=\ssrc="))(?!https?:|#)([^)"\s]+)')
PAGES = {"Documentation": "docs/start.md", "Changelog": "CHANGELOG.md"}


class Addresses(MetadataHookInterface):
    """Fills `readme` and `urls`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill both for this build."""
        repository = os.environ.get("RAGMETRICS_REPOSITORY", "").rstrip("/")
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        tag = f"v{metadata['version']}"
        metadata["urls"] = {}
        if repository:
            metadata["urls"]["Source"] = repository
            metadata["urls"]["Issues"] = f"{repository}/issues"
            for name, path in PAGES.items():
                metadata["urls"][name] = f"{repository}/blob/{tag}/{path}"
            text = absolute(text, repository, tag)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def absolute(text: str, repository: str, tag: str) -> str:
    """The README with absolute links, and pictures as files instead of pages."""

    def address(found: re.Match[str]) -> str:
        path = found[2]
        kind = "raw" if path.endswith((".png", ".svg")) else "blob"
        return f"{repository}/{kind}/{tag}/{path}"

    return TARGET.sub(address, text).replace("git clone REPOSITORY", f"git clone {repository}")
