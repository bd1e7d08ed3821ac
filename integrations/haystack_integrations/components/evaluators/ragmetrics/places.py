"""Places that the user names: question, contexts, answer and session as sockets of a pipeline."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, NamedTuple, get_args, get_origin

from haystack.components.agents import Agent
from haystack.core.component.types import InputSocket, OutputSocket
from haystack.core.pipeline.base import PipelineBase
from haystack.dataclasses import ChatMessage, Document, GeneratedAnswer
from haystack.tools import Toolset
from haystack.tools.tool import Tool
from ragmetrics_core.boundary import is_mapping, is_series
from ragmetrics_core.errors import ConfigError

__all__ = ["Extract", "Places", "Socket", "check_places", "places_of"]

# A place is "component.socket"; of several the one that was filled last counts (of a question the first), and
# contexts are taken from all.
Extract = dict[str, str | list[str]]

# The fields for which a place can be named, and what is found there: one of these, or a list of them.
_TEXTS = (str, ChatMessage, GeneratedAnswer)
_HELD: Mapping[str, tuple[type, ...]] = {
    "question": _TEXTS,
    "contexts": (*_TEXTS, Document),
    "answer": _TEXTS,
    "session": (str, int),
}


class Socket(NamedTuple):
    """An input or an output of a component."""

    component: str
    socket: str

    def __str__(self) -> str:
        """
        The place in the user's notation.

        :returns: "component.socket".
        """
        return f"{self.component}.{self.socket}" if self.socket else self.component


Places = Mapping[str, tuple[Socket, ...]]


# What a component takes and puts out: types by name. None when that is not known, as of a function tool.
_Sockets = Mapping[str, Any] | None


def places_of(extract: object, answer_from: object = None) -> Places:
    """
    Parse the user's places.

    :param extract: A mapping of fields to places, or None.
    :param answer_from: The component that outputs the answer, or None.
    :returns: The places by field; a component's place has no socket.
    :raises ConfigError: A field does not exist, or a place is not "component.socket".
    """
    if answer_from is not None:
        if not isinstance(answer_from, str) or not answer_from or (is_mapping(extract) and "answer" in extract):
            msg = f"answer_from must be the name of a component, without an answer in extract, not {answer_from!r}"
            raise ConfigError(msg)
        return {**places_of(extract), "answer": (Socket(answer_from, ""),)}
    if extract is None:
        return {}
    fields = ", ".join(_HELD)
    if not is_mapping(extract):
        msg = f"extract is a mapping of {fields} to 'component.socket', not {extract!r}"
        raise ConfigError(msg)
    places: dict[str, tuple[Socket, ...]] = {}
    for field, written in extract.items():
        listed = [_place(each) for each in (written if is_series(written) else [written])]
        found = [each for each in listed if each is not None]
        if field not in _HELD or not found or len(found) < len(listed):
            msg = f"extract names places of {fields} as 'component.socket', not {field!r}: {written!r}"
            raise ConfigError(msg)
        places[field] = tuple(found)
    return places


def _place(written: object) -> Socket | None:
    name, _, socket = written.strip().partition(".") if isinstance(written, str) else ("", "", "")
    return Socket(name, socket) if name and socket and "." not in socket else None


def check_places(places: Places, pipeline: object) -> None:
    """
    Check that a pipeline, or the pipelines, agents and tools inside, have the places.

    :param places: The places by field.
    :param pipeline: The pipeline; other objects are not checked.
    :raises ConfigError: A component or socket does not exist, or cannot hold the field.
    """
    if not places or not isinstance(pipeline, PipelineBase):
        return
    offered: dict[str, list[_Sockets]] = {}
    for name, sockets in _inside(pipeline, set()):
        offered.setdefault(name, []).append(sockets)
    for field, named in places.items():
        for place in named:
            _check(field, place, offered)


def _check(field: str, place: Socket, offered: Mapping[str, list[_Sockets]]) -> None:
    if place.component not in offered:
        if "" in offered:  # tools that are not known before they are loaded
            return
        msg = (
            f"extract says that the {field} is at {str(place)!r}, but the pipeline has no component "
            f"{place.component!r}, only {', '.join(sorted(offered))}"
        )
        raise ConfigError(msg)
    known = [each for each in offered[place.component] if each is not None]
    if not place.socket or len(known) < len(offered[place.component]):
        return
    types = [sockets[place.socket] for sockets in known if place.socket in sockets]
    if not types:
        names = dict.fromkeys(name for sockets in known for name in sockets)
        msg = (
            f"extract says that the {field} is at {str(place)!r}, but {place.component!r} has no {place.socket!r}, "
            f"only {', '.join(names)}"
        )
        raise ConfigError(msg)
    if not any(_can_hold(each, _HELD[field]) for each in types):
        told = " or ".join(str(each) if get_args(each) else getattr(each, "__name__", str(each)) for each in types)
        msg = f"extract says that the {field} is at {str(place)!r}, but that is of type {told}"
        raise ConfigError(msg)


def _inside(pipeline: PipelineBase, seen: set[int]) -> Iterator[tuple[str, _Sockets]]:
    """The components of a pipeline and of all pipelines inside, and the tools of its agents."""
    if id(pipeline) in seen:
        return
    seen.add(id(pipeline))
    for name, instance in pipeline.walk():
        yield name, _sockets(instance)
        yield from _below(instance, seen)


def _below(instance: object, seen: set[int]) -> Iterator[tuple[str, _Sockets]]:
    for value in getattr(instance, "__dict__", {}).values():
        for held in value if is_series(value) and value and isinstance(value[0], PipelineBase) else [value]:
            if isinstance(held, PipelineBase):
                yield from _inside(held, seen)
    if isinstance(instance, Agent):
        yield from _tools(instance, seen)


def _tools(agent: Agent, seen: set[int]) -> Iterator[tuple[str, _Sockets]]:
    for listed in agent.tools if isinstance(agent.tools, list) else [agent.tools]:
        if isinstance(listed, Toolset) and type(listed) is not Toolset:
            yield "", None  # a server's, known when it was asked
        tools: list[object] = [listed] if isinstance(listed, Tool) else list(listed or ())
        for tool in tools:
            if not isinstance(tool, Tool):
                continue
            inner = next((each for each in vars(tool).values() if hasattr(each, "__haystack_output__")), None)
            yield tool.name, _sockets(inner)
            if inner is not None and id(inner) not in seen:
                seen.add(id(inner))
                yield from _below(inner, seen)


def _sockets(instance: object) -> _Sockets:
    sides = [getattr(instance, side, None) for side in ("__haystack_input__", "__haystack_output__")]
    if None in sides:
        return None
    # the output counts where a component passes on what it takes
    sockets = [(name, socket) for side in sides for name, socket in vars(side).items()]
    is_socket = (InputSocket, OutputSocket)
    return {name: vars(socket)["type"] for name, socket in sockets if isinstance(socket, is_socket)}


def _can_hold(type_: Any, held: tuple[type, ...]) -> bool:
    """Whether a type may hold instances of some classes, or lists of them; True if unknown."""
    if get_origin(type_) is Annotated:
        return _can_hold(get_args(type_)[0], held)
    if get_origin(type_) is dict or type_ is dict:
        return False
    inner = [each for each in get_args(type_) if each not in (type(None), ...)]
    if inner:
        return any(_can_hold(each, held) for each in inner)
    if type_ is Any or not isinstance(type_, type) or type_ in (list, tuple):
        return True
    return any(issubclass(type_, each) or issubclass(each, type_) for each in held)
