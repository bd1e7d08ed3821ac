"""`instrument`: live scores for an application that runs on LlamaIndex."""

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

from ragmetrics_core import Metric
from ragmetrics_core.errors import ConfigError
from ragmetrics_core.keywords import refuse_unknown, unfolded
from ragmetrics_core.live import LIVE_DEFAULTS, LiveArgs, LiveFace, LiveScorer, LiveSettings, check_alone
from ragmetrics_core.metrics import resolve
from ragmetrics_core.protocol import Scorer
from ragmetrics_core.runs import with_prompts
from ragmetrics_core.shapes import is_sequence
from ragmetrics_llama_index._captured import Extract
from ragmetrics_llama_index._models import AnyEmbedder, AnyLLM, embedder_of, judge_of, needed
from ragmetrics_llama_index._spans import ENGINES, SpanHandler, Spans

__all__ = ["Instrumentation", "instrument"]

log = logging.getLogger("ragmetrics.llama_index")

_WATCHED = (*ENGINES, Workflow)
_INSTALLED: dict[object, "Instrumentation"] = {}
_INSTALLING = threading.Lock()


class Instrumentation(LiveFace):
    """Live scores, until `uninstrument` or `close`; made by `instrument`."""

    def __init__(self, spans: Spans, key: object) -> None:
        self._spans = spans
        self._handler = SpanHandler(spans)
        self._key = key

    @property
    def live(self) -> LiveScorer:
        """The live scorer."""
        return self._spans.live

    @property
    def is_installed(self) -> bool:
        """Whether LlamaIndex's dispatcher knows of it."""
        return any(handler is self._handler for handler in get_dispatcher().span_handlers)

    @property
    def open_spans(self) -> int:
        """How many spans have begun and are remembered: 0 when nothing is being answered."""
        return len(self._spans)

    def uninstrument(self) -> None:
        """Take the hook out of LlamaIndex's dispatcher; what was captured is still scored. Again: nothing."""
        with _INSTALLING:
            handlers = get_dispatcher().span_handlers
            handlers[:] = [handler for handler in handlers if handler is not self._handler]
            if _INSTALLED.get(self._key) is self:
                del _INSTALLED[self._key]
            self._spans.clear()

    def close(self, timeout: float | None = None) -> bool:
        """`uninstrument`, finish what was captured and end the threads; False when time ran out."""
        self.uninstrument()
        return self.live.close(timeout)

    async def aclose(self, timeout: float | None = None) -> bool:
        """`close` that does not block the running loop."""
        self.uninstrument()
        return await self.live.aclose(timeout)

    def _install(self) -> None:
        with _INSTALLING:
            get_dispatcher().add_span_handler(self._handler)
            _INSTALLED[self._key] = self


@unfolded(LiveArgs, LIVE_DEFAULTS)
def instrument(
    metrics: str | Metric[Any] | Iterable[str | Metric[Any]] = (),
    llm: AnyLLM | None = None,
    embed_model: AnyEmbedder | None = None,
    *,
    watch: Sequence[object] | None = None,
    scorer: Scorer | str | None = None,
    live: LiveScorer | None = None,
    settings: LiveSettings | None = None,
    needs_contexts: bool = False,
    context_tools: Iterable[str] = (),
    extract: Extract | None = None,
    max_open: int = 10_000,
    ttl: float = 900.0,
    **keywords: Unpack[LiveArgs],
) -> Instrumentation:
    """Score what query engines, chat engines and workflows answer, while they answer.

    One answer is one sample: the outermost engine's question, its answer and its source nodes. Streams are
    scored when they have been read to the end. What LlamaIndex's evaluators ask through query engines of
    their own is not scored, nor is what our judge does. A second call for the same `watch` and the same
    metrics replaces the first, so that a notebook's cell can be run again: it finishes what the first one
    captured, closes it and goes on in its folder. A call with other metrics runs beside it.

    Args:
        metrics: names or metric objects.
        llm: the judge: a LlamaIndex model, or what `ragmetrics_core.as_judge` takes, such as "embedded"; by
            default `Settings.llm`, looked up when the first answer is scored. A LlamaIndex model is asked
            through its synchronous interface, in threads of the scorer's.
        embed_model: the embedder, likewise; by default `Settings.embed_model`.
        watch: the engines, chat engines and workflows (agents too) to score, as objects or classes; by
            default all query and chat engines, and no workflows.
        scorer: the model that rates pairs, for metrics that need one.
        live: a live scorer that others use too, in place of metrics, models and live settings. `close`
            closes it, for all of them; `uninstrument` does not.
        settings: the live settings as one object.
        needs_contexts: leave out answers for which nothing was retrieved, counted as "no_contexts".
        context_tools: names of tools of watched agents whose text is a context, for tools that give no nodes.
            What an engine or a model has written inside of a tool is none.
        extract: takes a `RootSpan` and returns fields of a sample by name, or None; what is not among them is
            left to the rules. It runs in the background and may raise `Skip`.
        max_open: answers that may be open at a time; the one that was quiet longest is given up.
        ttl: seconds without a new span after which an open answer is given up.
        keywords: live settings one by one, as `LiveScorer` takes them: `mode`, `out`, `sample_rate`,
            `concurrency` and the others that `LiveArgs` describes.

    Raises:
        ConfigError: a mistake in the arguments.
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
    settings = (settings or LiveSettings()).but(**keywords)
    if settings.prompts is not None:
        with_prompts(chosen, settings.prompts)  # which says what is wrong with them
    watched = None if watch is None else frozenset(map(id, watch))
    key = watched, frozenset(metric.signature for metric in chosen)
    _end_earlier(key, live)  # after all mistakes are found, before its folder is opened again
    spans = Spans(
        live or LiveScorer(chosen, **models, settings=settings),
        ENGINES if watch is None else tuple(watch),
        max_open=max_open,
        ttl=ttl,
        needs_contexts=needs_contexts,
        context_tools=tools,
        extract=extract,
    )
    made = Instrumentation(spans, key)
    _end_earlier(key, made.live)  # another thread may have been quicker
    made._install()  # pyright: ignore[reportPrivateUsage]  the one place that makes it
    return made


def _end_earlier(key: object, live: LiveScorer | None) -> None:
    earlier = _INSTALLED.get(key)
    if earlier is None:
        return
    log.info("the same was instrumented before: the earlier instrumentation is ended")
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


def _known_tools(names: Iterable[str], watch: Sequence[object] | None) -> frozenset[str]:
    """The names of tools, as far as the watched agents say which tools they have.

    Raises:
        ConfigError: an agent is needed, or no watched one has such a tool.
    """
    wanted = frozenset([names] if isinstance(names, str) else names)
    if not wanted:
        return wanted
    workflows = [watched for watched in watch or () if not isinstance(watched, ENGINES)]
    if not workflows:
        raise ConfigError("context_tools names tools of agents: pass the agents as watch=[...]")
    agents = [names for workflow in workflows for names in _agents(workflow)]
    if any(names is None for names in agents):
        return wanted  # a class, a workflow of another kind, or tools that are looked up for each question
    there = {name for agent in agents for name in agent or ()}
    if unknown := sorted(wanted - there):
        have = ", ".join(sorted(there)) or "none"
        raise ConfigError(
            f"context_tools names {unknown[0]!r}, and the watched agents have no such tool: {have}"
        )
    return wanted


def _agents(workflow: object) -> list[frozenset[str] | None]:
    """The names of the tools of each agent in a workflow; None where that is not known before it runs."""
    if isinstance(workflow, AgentWorkflow):
        return [names for agent in workflow.agents.values() for names in _agents(agent)]
    if not isinstance(workflow, BaseWorkflowAgent) or workflow.tool_retriever is not None:
        return [None]
    return [frozenset(_name_of(tool) for tool in workflow.tools or ())]


def _name_of(tool: Any) -> str:
    metadata = getattr(tool, "metadata", None)
    return str(getattr(metadata, "name", None) or getattr(tool, "__name__", tool))
