"""Conversion between metrics' prompts and LlamaIndex templates.

`<name>_template` is a `ChatPromptTemplate` of a prompt's system and user text. Variables are written `{name}`
in templates and `{{ name }}` in prompts, and `{answer_sentences}` for `{{ answer.sentences }}`.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.prompts import BasePromptTemplate, ChatPromptTemplate

from ragmetrics_core import Metric
from ragmetrics_core.errors import PromptError
from ragmetrics_core.metrics import of_part
from ragmetrics_core.prompts import Prompt, PromptText
from ragmetrics_core.runs import with_prompts

__all__ = ["fitting", "prompts_of", "templates_of", "text_of", "updated"]

_OURS = re.compile(r"\{\{ *([a-z_]+)(\.sentences)? *\}\}")
_SENTENCES = re.compile(r"\{\{ ([a-z_]+)_sentences \}\}")
_THEIRS = re.compile(r"\{([a-zA-Z_][a-zA-Z0-9_]*)\}")
_SUFFIX = "_template"


def prompts_of(metrics: Iterable[Metric[Any]]) -> dict[str, Prompt[Any]]:
    """All prompts of metrics and their parts by name."""
    prompts: dict[str, Prompt[Any]] = {}
    for metric in metrics:
        prompts |= {prompt.name: prompt for prompt in metric.prompts_asked.values()}
        prompts |= prompts_of(map(of_part, metric.parts_used))
    return prompts


def templates_of(metrics: Iterable[Metric[Any]]) -> dict[str, BasePromptTemplate]:
    """All prompts as LlamaIndex templates, by the names that `updated` takes."""
    return {
        name + _SUFFIX: ChatPromptTemplate(
            message_templates=[
                ChatMessage(role=MessageRole.SYSTEM, content=_as_theirs(prompt.system)),
                ChatMessage(role=MessageRole.USER, content=_as_theirs(prompt.user)),
            ]
        )
        for name, prompt in sorted(prompts_of(metrics).items())
    }


def updated(
    metrics: tuple[Metric[Any], ...], templates: Mapping[str, BasePromptTemplate | str]
) -> tuple[Metric[Any], ...]:
    """The metrics with prompts replaced by templates.

    Raises:
        PromptError: no metric has a prompt of this name, or a text has different variables.
    """
    for key, template in templates.items():
        prompts = prompts_of(metrics)
        name = key.removesuffix(_SUFFIX)
        if name not in prompts or not key.endswith(_SUFFIX):
            names = ", ".join(sorted(templates_of(metrics)))
            raise PromptError(f"there is no prompt {key!r} to update; there are {names}")
        metrics = with_prompts(metrics, {name: text_of(prompts[name], template)})
    return metrics


def text_of(prompt: Prompt[Any], template: BasePromptTemplate | str) -> PromptText:
    """A prompt with the text of a template.

    Args:
        prompt: the prompt.
        template: a chat template with a system and a user message, or a text for the user message.

    Raises:
        PromptError: the template has roles or variables that differ from the prompt's.
    """
    system = prompt.system
    if isinstance(template, ChatPromptTemplate):
        by_role = {message.role.value: message.content or "" for message in template.message_templates}
        if set(by_role) - {"system", "user"} or "user" not in by_role:
            raise PromptError(
                f"prompt {prompt.id}: a chat template needs one user message and may have one system message"
            )
        system = _as_ours(by_role.get("system", ""))
        user = _as_ours(by_role["user"])
    else:
        user = _as_ours(_template_text(template))
    # the text for asking once more shows the form, which another text may have changed
    again = prompt.again if user == prompt.user else ""
    prompt.with_text(system=system, user=user, again=again)
    return PromptText(prompt.name, prompt.version, None, system, user, again)


def fitting(metrics: tuple[Metric[Any], ...], template: BasePromptTemplate | str) -> Prompt[Any] | None:
    """The prompt with the template's variables, or None."""
    if isinstance(template, ChatPromptTemplate):
        variables = set(template.template_vars)
    else:
        variables = set(_THEIRS.findall(_template_text(template)))
    alike = (prompt for prompt in prompts_of(metrics).values() if set(prompt.variables) == variables)
    return next(alike, None)


def _template_text(template: BasePromptTemplate | str) -> str:
    return template if isinstance(template, str) else template.get_template()


def _as_theirs(text: str) -> str:
    return _OURS.sub(lambda found: f"{{{found[1]}{'_sentences' * bool(found[2])}}}", text)


def _as_ours(text: str) -> str:
    """Mark every `{name}` as a variable, so that unknown ones are reported."""
    ours = text if _OURS.search(text) else _THEIRS.sub(r"{{ \1 }}", text)
    return _SENTENCES.sub(r"{{ \1.sentences }}", ours)
