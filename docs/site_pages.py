"""What the site has beyond docs/*.md: the README, files that a page links to, metrics by family, formulas.

MkDocs calls the functions named `on_...` (mkdocs.yml, `hooks`). Links are written so that they work on a code
host; those that lead out of docs/ are turned here to pages of the site.
"""

import posixpath
import re
import tomllib
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
# Files of the repository that are pages of their own.
PAGES = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "README.md": "index.md",
    "benchmarks/README.md": "benchmarks.md",
    "examples/data/README.md": "example_data.md",
}
ORIGINS = {place: origin for origin, place in PAGES.items()}
LANGUAGES = {".json": "json", ".md": "markdown", ".py": "python", ".toml": "toml", ".yml": "yaml"}
# What the front page takes from the README, in its order: its first words, the picture, the first section.
TAKEN = ("<!-- README.md: beginning -->", "<!-- README.md: picture -->", "<!-- README.md: first section -->")
# Code, which is passed over, or what a link leads to.
LINK = re.compile(
    r"""^(`{3,}).*?^\1$|`[^`\n]+`|(?:(?<=\]\()|(?<=\ssrc=")|(?<=\shref="))(?P<to>[^)"#\s:]+)(?=[)"#\s])""",
    re.MULTILINE | re.DOTALL,
)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """List the metrics by family, and set formulas as MathML, which needs no script and no font."""
    told = tomllib.loads((ROOT / "docs" / "metrics.toml").read_text(encoding="utf-8"))
    families = [
        {family["title"]: [{name: f"metrics/{name}.md"} for name in family["metrics"]]}
        for family in told["families"]
    ]
    metrics = {"Metrics": ["metrics/index.md", *families]}
    config.nav = [metrics if entry == {"Metrics": "metrics/"} else entry for entry in config.nav or ()]
    fence = {"name": "math", "class": "math", "format": formula}
    config.mdx_configs.setdefault("pymdownx.superfences", {})["custom_fences"] = [fence]
    return config


def formula(source: str, *_: Any, **__: Any) -> str:
    """A fence of TeX as MathML."""
    return f'<div class="formula">{convert(source.strip(), display="block")}</div>'


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files of the repository that are pages, and a page for each further one that is linked to."""
    for origin, place in PAGES.items():
        if place != "index.md":
            files.append(File.generated(config, place, content=read(origin)))
    waiting = [file.src_uri for file in files if file.src_uri.endswith(".md")]
    seen: set[str] = set()
    while waiting:
        place = waiting.pop()
        page = files.src_uris[place]
        for path in sorted(linked(text_of(page), origin_of(place)) - seen):
            seen.add(path)
            if path not in PAGES and not path.startswith("docs/"):
                page = File.generated(config, place_of(path), content=shown(path))
                page.inclusion = InclusionLevel.NOT_IN_NAV
                files.append(page)
                waiting.append(place_of(path))
    return files


def on_page_markdown(markdown: str, *, page: Page, **_: Any) -> str:
    """Put in what is taken from the README, and turn links out of docs/ to the pages of the site."""
    place = page.file.src_uri
    return turned(text_of(page.file, markdown), origin_of(place), place)


def text_of(file: File, markdown: str | None = None) -> str:
    """The Markdown of a page, with what it takes from the README."""
    markdown = file.content_string if markdown is None else markdown
    sections = re.split(r"^(?=## |<img )", read("README.md"), flags=re.MULTILINE)
    for place, section in zip(TAKEN, sections, strict=False):
        markdown = markdown.replace(place, section.strip())
    return markdown


def linked(markdown: str, origin: str) -> set[str]:
    """The files and folders of the repository that a page links to, by their paths."""
    return {path for found in LINK.finditer(markdown) if (path := resolved(found["to"], origin))}


def turned(markdown: str, origin: str, place: str) -> str:
    """The page with its links as they are on the site."""

    def link(found: re.Match[str]) -> str:
        path = resolved(found["to"], origin)
        return posixpath.relpath(place_of(path), posixpath.dirname(place) or ".") if path else found[0]

    return LINK.sub(link, markdown)


def resolved(target: str | None, origin: str) -> str | None:
    """The path that a link leads to; None when it is none, so that MkDocs says what is wrong with it."""
    if not target or target.startswith("/"):
        return None
    path = posixpath.normpath(posixpath.join(posixpath.dirname(origin), target))
    return path if not path.startswith("..") and (ROOT / path).exists() else None


def origin_of(place: str) -> str:
    """Where a page of the site stands in the repository."""
    return ORIGINS.get(place, f"docs/{place}")


def place_of(path: str) -> str:
    """Where a file of the repository stands on the site."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return PAGES.get(path) or f"files/{path}{'/index' if (ROOT / path).is_dir() else ''}.md"


def shown(path: str) -> str:
    """A page that shows a file, or lists a folder."""
    source = ROOT / path
    if source.is_dir():
        names = sorted(each.name for each in source.iterdir() if each.is_file())
        return "\n".join([f"# {path}\n", *(f"- {name}" for name in names)]) + "\n"
    language = LANGUAGES.get(source.suffix, "text")
    # Prose has long lines.
    kind = f"{{ .{language} .wrapped }}" if language in {"markdown", "text"} else language
    return f"# {source.name}\n\n`{path}`\n\n````` {kind}\n{read(path).rstrip()}\n`````\n"


def read(path: str) -> str:
    """A text of the repository."""
    return (ROOT / path).read_text(encoding="utf-8")
