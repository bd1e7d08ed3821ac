"""`instrument`: live scores for a LlamaIndex application."""

# LlamaIndex's dispatcher leaves the spans of its handlers open.
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

import logging
import threading
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, Unpack

from llama_index.core.agent.workflow import AgentWorkflow, BaseWorkflowAgent
from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]
from llama_index.core.workflow import Workflow

from ragmetrics_core.adapting import Rules, names_of
from ragmetrics_core.boundary import is_sequence, listing_settings, refuse_unknown
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.live import LIVE_DEFAULTS, LiveArgs, LiveFace, LiveScorer, LiveSettings, check_alone
from ragmetrics_core.metrics import resolve
from ragmetrics_core.protocol import Scorer
from ragmetrics_core.runs import Metrics, with_prompts
from ragmetrics_llama_index._captured import Extract
from ragmetrics_llama_index._models import AnyEmbedder, AnyLLM, embedder_of, judge_of, needed
from ragmetrics_llama_index._spans import ENGINES, SpanHandler, Spans

__all__ = ["Instrumentation", "instrument"]

log = logging.getLogger("ragmetrics.llama_index")

_WATCHED = (*ENGINES, Workflow)
_INSTALLED: dict[object, "Instrumentation"] = {}
_INSTALLING = threading.Lock()


class Instrumentation(LiveFace):
    """Live scores until `uninstrument` or `close`; made by `instrument`."""

    def __init__(self, spans: Spans, key: object) -> None:
        self._spans = spans
        self._handler = SpanHandler(spans)
        self._key = key
        with _INSTALLING:
            get_dispatcher().add_span_handler(self._handler)
            _INSTALLED[key] = self

    @property
    def live(self) -> LiveScorer:
        """The live scorer."""
        return self._spans.live

    @property
    def is_installed(self) -> bool:
        """Whether LlamaIndex's dispatcher has the hook."""
        return any(handler is self._handler for handler in get_dispatcher().span_handlers)

    @property
    def open_spans(self) -> int:
        """Number of open spans: 0 when nothing is being answered."""
        return len(self._spans.open)

    def uninstrument(self) -> None:
        """Remove the hook from LlamaIndex's dispatcher; captures so far are still scored. Can be repeated."""
        with _INSTALLING:
            handlers = get_dispatcher().span_handlers
            handlers[:] = [handler for handler in handlers if handler is not self._handler]
            if _INSTALLED.get(self._key) is self:
                del _INSTALLED[self._key]
            self._spans.open.clear()

    def close(self, timeout: float | None = None) -> bool:
        """Uninstrument, finish pending captures and end the threads; False on timeout."""
        self.uninstrument()
        return self.live.close(timeout)


@listing_settings(LiveArgs, LIVE_DEFAULTS)
def instrument(
    metrics: Metrics = (),
    llm: AnyLLM | None = None,
    embed_model: AnyEmbedder | None = None,
    *,
    watch: Sequence[object] | None = None,
    scorer: Scorer | str | None = None,
    live: LiveScorer | None = None,
    settings: LiveSettings | None = None,
    needs_contexts: bool = False,
    context_tools: str | Iterable[str] = (),
    evidence: str | Iterable[str] = (),
    not_evidence: str | Iterable[str] = (),
    extract: Extract | None = None,
    max_open: int = 10_000,
    ttl: float = 900.0,
    **keywords: Unpack[LiveArgs],
) -> Instrumentation:
    """Score the answers of query engines, chat engines and workflows in the background.

    One answer is one sample: the outermost engine's question, its answer and its source nodes. Streams are
    scored after they have been read to the end. Calls of LlamaIndex's evaluators through their own query
    engines, and calls of our judge, are not scored. A second call with the same `watch` and metrics replaces
    the first, so that a notebook's cell can be run again: it finishes and closes the first one and continues
    in its folder. A call with different metrics runs in parallel.

    Args:
        metrics: names or metric objects.
        llm: the judge: a LlamaIndex model, or an argument of `ragmetrics_core.as_judge` such as "embedded".
            Default: `Settings.llm`, read when the first answer is scored. A LlamaIndex model is called
            through its synchronous interface, in the scorer's threads.
        embed_model: the embedder, likewise. Default: `Settings.embed_model`.
        watch: the engines, chat engines and workflows (including agents) to score, as objects or classes.
            Default: all query and chat engines, but no workflows.
        scorer: a model that rates pairs, for metrics that need one.
        live: a shared live scorer, instead of metrics, models and live settings. `close` closes it for all
            users; `uninstrument` does not.
        settings: the live settings as one object.
        needs_contexts: skip answers for which nothing was retrieved, counted as "no_contexts".
        context_tools: names of the only tools of watched agents whose text is evidence. Default: all tools.
            Text written by an engine or a model inside a tool is not evidence.
        evidence: names of steps whose text is evidence as well, such as a web search.
        not_evidence: names of steps, retrievers and tools whose text is not evidence.
        extract: takes a `RootSpan` and returns a sample's fields by name, or None; rules find the other
            fields. It runs in the background and may raise `Skip`.
        max_open: maximum number of open answers; beyond that the longest inactive one is dropped.
        ttl: seconds without a new span after which an open answer is dropped.
        keywords: single live settings, as for `LiveScorer`: `mode`, `out`, `sample_rate`, `concurrency` and
            the others of `LiveArgs`.

    Raises:
        ConfigError: an argument is invalid.
    """
    refuse_unknown(keywords, *LIVE_DEFAULTS)
    if watch is not None:
        _check(watch)
    tools = _known_tools(context_tools, watch)
    if live is not None:
        check_alone(metrics, llm, embed_model, scorer, settings, **keywords)
    chosen = live.metrics if live is not None else resolve(metrics)
    models: dict[str, Any] = {"scorer": scorer}
    if llm is not None:
        models["judge"] = judge_of(llm)
    elif needed(chosen, "judge"):
        models["judge_factory"] = partial(judge_of, None, "a live score")
    if embed_model is not None:
        models["embedder"] = embedder_of(embed_model)
    elif needed(chosen, "embedder"):
        models["embedder_factory"] = partial(embedder_of, None)
    settings = (settings or LiveSettings()).replacing(**keywords)
    if settings.prompts is not None:
        with_prompts(chosen, settings.prompts)  # which says what is wrong with them
    watched = None if watch is None else frozenset(map(id, watch))
    key = watched, frozenset(metric.signature for metric in chosen)
    _end_earlier(key, live)  # after all mistakes are found, before its folder is opened again
    live = live or LiveScorer(chosen, **models, settings=settings)
    _end_earlier(key, live)  # another thread may have been quicker
    spans = Spans(
        live,
        ENGINES if watch is None else tuple(watch),
        max_open=max_open,
        ttl=ttl,
        needs_contexts=needs_contexts,
        rules=Rules(
            context_tools=sorted(tools), evidence=names_of(evidence), not_evidence=names_of(not_evidence)
        ),
        extract=extract,
    )
    return Instrumentation(spans, key)


def _end_earlier(key: object, live: LiveScorer | None) -> None:
    earlier = _INSTALLED.get(key)
    if earlier is None:
        return
    log.info("the same objects and metrics are already instrumented: the earlier instrumentation was closed")
    if earlier.live is live:
        earlier.uninstrument()
    else:
        earlier.close()


def _check(watch: object) -> None:
    if not is_sequence(watch) or isinstance(watch, str) or not watch:
        raise ConfigError("watch takes a list of query engines, chat engines and workflows, or of classes")
    for watched in watch:
        if not issubclass(watched if isinstance(watched, type) else type(watched), _WATCHED):
            raise ConfigError(f"watch takes query engines, chat engines and workflows, not {watched!r}")


def _known_tools(names: str | Iterable[str], watch: Sequence[object] | None) -> frozenset[str]:
    """The names of tools, checked against the watched agents that list their tools.

    Raises:
        ConfigError: no agent is watched, or none of them has the tool.
    """
    wanted = frozenset(names_of(names))
    workflows = [watched for watched in watch or () if not isinstance(watched, ENGINES)]
    if wanted and not workflows:
        raise ConfigError("context_tools names tools of agents: pass the agents as watch=[...]")
    agents = [names for workflow in workflows for names in _agents(workflow)]
    if any(names is None for names in agents):
        return wanted  # a class, a workflow of another kind, or tools that are looked up for each question
    there = {name for agent in agents for name in agent or ()}
    if unknown := sorted(wanted - there):
        have = ", ".join(sorted(there)) or "none"
        raise ConfigError(
            f"context_tools names {unknown[0]!r}, but the watched agents only have the tools {have}"
        )
    return wanted


def _agents(workflow: object) -> list[frozenset[str] | None]:
    """Tool names of each agent in a workflow; None if unknown before it runs."""
    if isinstance(workflow, AgentWorkflow):
        return [names for agent in workflow.agents.values() for names in _agents(agent)]
    if not isinstance(workflow, BaseWorkflowAgent) or workflow.tool_retriever is not None:
        return [None]
    return [frozenset(_name_of(tool) for tool in workflow.tools or ())]


def _name_of(tool: Any) -> str:
    metadata = getattr(tool, "metadata", None)
    return str(getattr(metadata, "name", None) or getattr(tool, "__name__", tool))
