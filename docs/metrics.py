"""Write docs/metrics.md from the catalogue and from docs/metrics.toml; every example is measured.

python docs/metrics.py            write the page
python docs/metrics.py --check    exit with 1 when the page is not what would be written
"""

import inspect
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from textwrap import dedent
from typing import Any

from ragmetrics_core import evaluate
from ragmetrics_core.drivers import audit
from ragmetrics_core.metrics import ALIASES, METRICS, Metric, get
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Part
from ragmetrics_core.testing import HashEmbedder, ScriptedJudge

FOLDER = Path(__file__).parent
PAGE = FOLDER / "metrics.md"


@dataclass(frozen=True)
class Told:
    """A scorer that says the numbers of an example."""

    ratings: Sequence[float]
    identity: str = "told"

    async def arate(self, pairs: Sequence[tuple[str, str]]) -> Sequence[float]:
        """The numbers, one for each pair."""
        assert len(pairs) == len(self.ratings), "an example has a number for each pair"
        return self.ratings


def page() -> str:
    """The page as it should be."""
    told = tomllib.loads((FOLDER / "metrics.toml").read_text(encoding="utf-8"))
    listed = [name for family in told["families"] for name in family["metrics"]]
    if sorted(listed) != sorted(METRICS):
        raise SystemExit(f"docs/metrics.toml: each metric once, these differ: {set(listed) ^ set(METRICS)}")
    parts = [told["head"].strip()]
    for family in told["families"]:
        parts.append(f"## {family['title']}")
        for name in family["metrics"]:
            parts += section(METRICS[name], told)
    return "\n\n".join(parts) + "\n"


def section(metric: type[Metric[Any]], told: Mapping[str, Any]) -> Iterator[str]:
    """What the page says of one metric."""
    yield f"### {metric.name}"
    aliases = [alias for alias, name in ALIASES.items() if name == metric.name]
    described = inspect.cleandoc(metric.__doc__ or "").split("\n\n")
    settings: dict[str, str] = {}
    for block in described:
        title, _, listed = block.partition("\n")
        if title == "Attributes:":
            settings = dict(documented(listed))
        else:
            yield " ".join(block.split())
    models = " and ".join(sorted(metric.needs)) or "no model"
    needs = ", ".join(f"`{name}`" for name in metric.inputs.required())
    facts = [f"Needs {models}; {needs}."]
    facts += [f"Extra `{extra}`." for extra in dict.fromkeys(extra for _, extra in metric.packages)]
    facts += [f"Also called {', '.join(f'`{alias}`' for alias in aliases)}."] if aliases else []
    facts.append(f"Variants: {', '.join(f'`{name}`' for name in metric.variants)}.")
    yield " ".join(facts)
    rows = [
        f"| `{each.name}` | {shown(each.default)} | {settings[each.name]} |"
        for each in fields(metric)
        if each.name in settings
    ]
    if rows:
        yield "\n".join(["| setting | default | meaning |", "| --- | --- | --- |", *rows])
    yield example(metric.name, told)


def documented(listed: str) -> Iterator[tuple[str, str]]:
    """The settings that a docstring explains, with their meaning."""
    for entry in re.split(r"\n(?=\S)", dedent(listed).strip()):
        names, _, meaning = entry.partition(":")
        yield from ((name.strip(), " ".join(meaning.split())) for name in names.split(","))


def example(name: str, told: Mapping[str, Any]) -> str:
    """The worked example of a metric: measured, and proved from its record."""
    given = told["examples"].get(name)
    if given is None:
        raise SystemExit(f"docs/metrics.toml has no example for {name}")
    base = given.get("sample", "")
    sample = {**told["samples"].get(base, {}), **given.get("fields", {})}
    replies = {**told["replies"].get(base, {}), **given.get("replies", {})}
    metric = get(given.get("metric", name))
    run = evaluate(
        [{"id": "example", **sample}],
        metrics=[metric],
        judge=ScriptedJudge({prompt: reply(each) for prompt, each in replies.items()}),
        embedder=HashEmbedder(vectors=given.get("vectors", {})),
        scorer=Told(given.get("ratings", ())),
    )
    score = run.score("example", metric)
    if score.status != "ok" or audit(score.record):
        raise SystemExit(f"the example of {name} is {score.headline}")
    called = f" (`{given['metric']}`)" if "metric" in given and "text=" not in given["metric"] else ""
    return f"Example{called}: {given['told']} `{score.formula}`"


def reply(given: Any) -> Any:
    """A reply of the judge from its short form."""
    match given:
        case str():
            verdicts = enumerate(given.split(), start=1)
            return {"verdicts": [{"number": number, "verdict": word} for number, word in verdicts]}
        case int():
            return {"reason": "as told", "rating": given}
        case list():
            return [reply(each) for each in given]
        case _:
            return given


def shown(value: object) -> str:
    """A default as the page writes it."""
    match value:
        case Prompt():
            return f"prompt `{value.id}`"
        case Part():
            return f"`{value.metric}/{value.variant}`"
        case tuple():
            return ", ".join(shown(each) for each in value)
        case None:
            return "none"
        case str():
            return f'"{value}"'
        case _:
            return f"{value}"


def main() -> None:
    """Write the page, or compare it."""
    wanted = page()
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(wanted, encoding="utf-8")
    elif not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != wanted:
        raise SystemExit("docs/metrics.md is not what the catalogue says: run `python docs/metrics.py`")


if __name__ == "__main__":
    main()
