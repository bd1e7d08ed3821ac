"""Write docs/metrics/*.md from the catalogue and from docs/metrics.toml; every example is measured.

python docs/metrics.py            write the pages
python docs/metrics.py --check    exit with 1 when the pages are not what would be written
"""

import inspect
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

from ragmetrics_core.drivers import audit
from ragmetrics_core.metrics import ALIASES, METRICS, Metric, get
from ragmetrics_core.prompts import Prompt
from ragmetrics_core.protocol import Part
from ragmetrics_core.testing import ScriptedJudge

FOLDER = Path(__file__).parent
PAGES = FOLDER / "metrics"
LIBRARY = "../../ragmetrics_core/prompts/library"
NOTE = "<!-- python docs/metrics.py writes this page: change the metric's docstring, or docs/metrics.toml -->"
# How the papers are named first, and how after that.
PAPERS = {
    "{telecom}": ("[Roychowdhury et al. (2024)](https://arxiv.org/abs/2407.12873)", "Roychowdhury et al."),
    "{oro}": ("Oro et al. (2024)", "Oro et al."),
}
# A metric, perhaps with a variant, in backquotes.
NAME = re.compile(r"`(\w+)(?:/[\w.-]+)?`")
# Paragraphs of a docstring that name where a definition is from.
SOURCE = re.compile(r"https?://|\(\d{4}\)|\(slides, \d{4}\)")


def pages() -> dict[str, str]:
    """Every page as it should be, by file name."""
    told = tomllib.loads((FOLDER / "metrics.toml").read_text(encoding="utf-8"))
    listed = [name for family in told["families"] for name in family["metrics"]]
    for known in (listed, told["pages"], told["examples"]):
        if sorted(known) != sorted(METRICS):
            raise SystemExit(
                f"docs/metrics.toml: each metric once, these differ: {set(known) ^ set(METRICS)}"
            )
    found = {f"{name}.md": page(METRICS[name], told) for name in listed}
    return {"index.md": index(told), **found}


def index(told: Mapping[str, Any]) -> str:
    """The overview: all metrics by family, and where sources differ."""
    title, _, head = told["head"].strip().partition("\n\n")
    parts = [title, NOTE, re.sub(NAME, linked, head)]
    for family in told["families"]:
        rows = [
            f"| [{name}]({name}.md) | {docstring(METRICS[name]).first} | {models(METRICS[name])} |"
            for name in family["metrics"]
        ]
        parts += [
            f"## {family['title']}",
            "\n".join(["| metric | what it is | needs |", "| --- | --- | --- |", *rows]),
        ]
    parts.append(re.sub(NAME, linked, told["differ"].strip()))
    return "\n\n".join(parts) + "\n"


def linked(found: re.Match[str]) -> str:
    """A metric's name as a link to its page."""
    return f"[{found[0]}]({found[1]}.md)" if found[1] in METRICS else found[0]


def page(metric: type[Metric[Any]], told: Mapping[str, Any]) -> str:
    """What there is to know of one metric."""
    own, text = told["pages"][metric.name], docstring(metric)
    example = Example.of(metric.name, told)
    named = set(re.findall(r"`(\w+)`", " ".join(own["steps"])))
    if untold := set(example.asked) - named - prompts_of_parts(metric):
        raise SystemExit(f"docs/metrics.toml: the steps of {metric.name} do not name {untold}")
    related = ", ".join(f"[{name}]({name}.md)" for name in own["related"])
    blocks = [f"# {metric.name}", NOTE, text.first, own["plain"], facts(metric), *text.range]
    blocks += ["## Formula", f"```math\n{own['formula']}\n```"]
    blocks += ["## Steps", "\n".join(f"{n}. {steps(each)}" for n, each in enumerate(own["steps"], start=1))]
    blocks += ["## Example", *example.shown()]
    blocks += list(settings(metric, text)) + list(variants(metric))
    blocks += ["## Known weaknesses", "\n".join(f"- {each}" for each in own["weaknesses"])]
    blocks += ["## When to use it", f"{own['use']}", f"Not {own['avoid'][0].lower()}{own['avoid'][1:]}"]
    blocks += [f"See also {related}."]
    blocks += ["## Sources", *text.sources] if text.sources else []
    page = "\n\n".join(blocks) + "\n"
    for short, (paper, again) in PAPERS.items():
        page = page.replace(short, paper, 1).replace(short, again)
    return page


class Docstring(NamedTuple):
    """A metric's docstring: its first sentence, what is said of the range, settings, sources."""

    first: str
    range: list[str]
    settings: dict[str, str]
    sources: list[str]


def docstring(metric: type[Metric[Any]]) -> Docstring:
    """A metric's docstring by what its paragraphs are about."""
    first, *rest = inspect.cleandoc(metric.__doc__ or "").split("\n\n")
    found = Docstring(" ".join(first.split()), [], {}, [])
    for block in rest:
        title, _, listed = block.partition("\n")
        if title == "Attributes:":
            found.settings.update(documented(listed))
        else:
            (found.sources if SOURCE.search(block) else found.range).append(" ".join(block.split()))
    return found


def documented(listed: str) -> Iterator[tuple[str, str]]:
    """The settings that a docstring explains, with their meaning."""
    for entry in re.split(r"\n(?=\S)", dedent(listed).strip()):
        names, _, meaning = entry.partition(":")
        yield from ((name.strip(), " ".join(meaning.split())) for name in names.split(","))


def models(metric: type[Metric[Any]]) -> str:
    """The models that it needs."""
    return " and ".join(sorted(metric.needs)) or "no model"


def facts(metric: type[Metric[Any]]) -> str:
    """What it needs and how it is called, as a table."""
    aliases = [f"`{alias}`" for alias, name in ALIASES.items() if name == metric.name]
    extras = dict.fromkeys(extra for _, extra in metric.packages)
    rows = {
        "fields": ", ".join(f"`{name}`" for name in metric.inputs.required()),
        "models": models(metric),
        "extra": ", ".join(f"`{extra}`" for extra in extras),
        "also called": ", ".join(aliases),
    }
    return "\n".join(
        ["| | |", "| --- | --- |", *(f"| {name} | {row} |" for name, row in rows.items() if row)]
    )


def steps(text: str) -> str:
    """A step, with the names of prompts as links to their texts."""

    def link(found: re.Match[str]) -> str:
        return prompt_link(PROMPTS[found[1]]) if found[1] in PROMPTS else found[0]

    return re.sub(r"`(\w+)`", link, text)


def prompt_link(prompt: Prompt[Any]) -> str:
    """A prompt, as a link to its text."""
    return f"[`{prompt.id}`]({LIBRARY}/{prompt.id}.md)"


def prompts_of(metric: type[Metric[Any]]) -> Iterator[Prompt[Any]]:
    """The prompts of a metric, in all its variants."""
    for variant in metric.variants:
        values = (getattr(metric(variant=variant), each.name) for each in fields(metric))
        yield from (value for value in values if isinstance(value, Prompt))


PROMPTS = {prompt.name: prompt for metric in METRICS.values() for prompt in prompts_of(metric)}


def prompts_of_parts(metric: type[Metric[Any]]) -> set[str]:
    """The prompts that the metrics ask which this one combines."""
    return {prompt.name for part in metric().parts_used for prompt in prompts_of(METRICS[part.metric])}


def settings(metric: type[Metric[Any]], text: Docstring) -> Iterator[str]:
    """The table of settings."""
    rows = [
        f"| `{each.name}` | {shown(each.default)} | {text.settings[each.name]} |"
        for each in fields(metric)
        if each.name in text.settings
    ]
    if rows:
        yield "## Settings"
        yield "\n".join(["| setting | default | meaning |", "| --- | --- | --- |", *rows])


def variants(metric: type[Metric[Any]]) -> Iterator[str]:
    """The variants, and how they differ from the first."""
    first, *others = metric.variants
    if not others:
        return
    yield "## Variants"
    yield f"`{metric.name}/NAME` chooses one; `{first}` is meant when none is named."
    rows = []
    for name in others:
        changed = [f"`{key}` = {shown(value)}" for key, value in metric.variants[name].items()]
        rows.append(f"| `{name}` | {'; '.join(changed) or 'nothing: the formula is the same there'} |")
    yield "\n".join([f"| variant | differs from `{first}` in |", "| --- | --- |", *rows])


class Example(NamedTuple):
    """The worked example of a metric: measured, and proved from its record."""

    told: str
    code: str
    output: str
    asked: tuple[str, ...]

    @classmethod
    def of(cls, name: str, told: Mapping[str, Any]) -> "Example":
        """Measure it.

        Raises:
            SystemExit: it has no score, or its record does not give the score again.
        """
        given, needed = told["examples"][name], METRICS[name].inputs.required()
        base = given.get("sample", "")
        shared = {key: each for key, each in told["samples"].get(base, {}).items() if key in needed}
        sample = {"id": "example", **shared, **given.get("fields", {})}
        replies = {**told["replies"].get(base, {}), **given.get("replies", {})}
        script = {prompt: reply(each) for prompt, each in replies.items()}
        vectors = given.get("vectors", {})
        # The first time with every reply that there is, to show only those that are asked for.
        for _ in range(2):
            code = source(given.get("metric", name), sample, script, vectors)
            names: dict[str, Any] = {}
            exec(compile(code, f"example of {name}", "exec"), names)
            judge = names.get("judge", ScriptedJudge({}))
            script = {prompt: each for prompt, each in script.items() if judge.count(prompt)}
        score = names["score"]
        if score.status != "ok" or audit(score):
            raise SystemExit(f"the example of {name} is {score.headline}")
        asked = tuple(request.prompt.name for request in judge.asked)
        return cls(given["told"], code, score.explain(), asked)

    def shown(self) -> Iterator[str]:
        """The example on the page."""
        calls = len(self.asked)
        times = {0: "", 1: " The judge is asked once."}.get(calls, f" The judge is asked {calls} times.")
        yield self.told + times
        yield f"```python\n{self.code}\nprint(score.explain())\n```"
        yield f"```text\n{self.output}\n```"


def source(
    metric: str, sample: Mapping[str, Any], script: Mapping[str, Any], vectors: Mapping[str, Any]
) -> str:
    """The example as code, formatted."""
    measured = get(metric)
    made = {
        "judge": f"ScriptedJudge({dict(script)!r})",
        "embedder": f"HashEmbedder(vectors={dict(vectors)!r})" if vectors else "HashEmbedder()",
        "scorer": "OverlapScorer()",
    }
    used = {name: build for name, build in made.items() if name in measured.needs}
    classes = ", ".join(sorted(build.partition("(")[0] for build in used.values()))
    lines = ["from ragmetrics_core import evaluate"]
    lines += [f"from ragmetrics_core.testing import {classes}"] if used else []
    lines += ["", f"sample = {dict(sample)!r}"]
    lines += [f"# in place of your {' and '.join(used)}"] if used else []
    lines += [f"{name} = {build}" for name, build in used.items()]
    passed = "".join(f", {name}={name}" for name in used)
    lines += [f"run = evaluate([sample], metrics={metric!r}{passed})"]
    lines += [f"score = run.score('example', {measured.name!r})"]
    code = "\n".join(lines)
    # As narrow as the page, then once more as `make lint` wants it.
    for width in (88, 110):
        command = [sys.executable, "-m", "ruff", "format", "--isolated", f"--line-length={width}", "-"]
        code = subprocess.run(command, input=code, capture_output=True, text=True, check=True).stdout
    return code.strip()


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
            return f"prompt {prompt_link(value)}"
        case Part():
            changed = ", ".join(f"{name}={each}" for name, each in value.settings.items())
            return f"`{value.metric}/{value.variant}`" + (f" with {changed}" if changed else "")
        case tuple():
            return ", ".join(shown(each) for each in value)
        case None:
            return "none"
        case str():
            return f'"{value}"'
        case _:
            return f"{value}"


def main() -> None:
    """Write the pages, or compare them."""
    wanted = pages()
    there = {path.name: path.read_text(encoding="utf-8") for path in PAGES.glob("*.md")}
    if "--check" in sys.argv[1:]:
        if wrong := sorted(name for name in wanted | there if wanted.get(name) != there.get(name)):
            raise SystemExit(
                f"docs/metrics/{', '.join(wrong)}: not what the catalogue says, run `python docs/metrics.py`"
            )
        return
    for name in there.keys() - wanted.keys():
        (PAGES / name).unlink()
    for name, text in wanted.items():
        (PAGES / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
