"""Keyword arguments: shared settings, and clear errors for wrong arguments.

Each group of `WORDS` lists the names that libraries use for one thing, including ours. It serves Python's
keywords and the options of the command line.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import wraps
from inspect import Parameter, Signature, iscoroutinefunction, signature
from numbers import Integral, Number
from os import PathLike
from pathlib import PurePath
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, cast, get_args, get_origin

from ragmetrics_core.errors import ArgumentError

__all__ = ["WORDS", "checked", "folded", "listing_settings", "names_in", "refuse_unknown", "unknown"]

F = TypeVar("F", bound=Callable[..., Any])

WORDS = tuple(
    tuple(group.split())
    for group in (
        "samples source data dataset run rows records examples test_cases test_case testset test_set "
        "test_data eval_dataset evaluation_dataset eval_data goldens inputs df dataframe input "
        "input_file data_path file",
        "metrics metric evaluators measures evaluation_metrics metric_names criteria",
        "judge llm model models evaluator_llm evaluation_model eval_model judge_llm judge_model critic "
        "critic_llm client llm_client chat_model chat_generator grader evaluator eval_llm model_name "
        "openai_client",
        "panel judges",
        "embedder embed_model model embeddings embedding embedding_model embedder_model "
        "embeddings_model evaluator_embeddings embedding_function",
        "scorer cross_encoder reranker ranker",
        "out output output_dir output_path output_folder output_file out_dir out_path save_to save_path "
        "results_dir run_dir run_folder run_name run_id experiment experiment_name identifier project "
        "name o",
        "concurrency max_workers workers num_workers n_workers n_jobs max_concurrent max_concurrency "
        "max_parallel parallelism num_threads threads jobs async_config throttle batch_size",
        "traffic run_config",
        "attempts max_retries retries num_retries max_attempts",
        "timeout request_timeout call_timeout max_time time_limit",
        "requests_per_minute rpm rate_limit max_rpm rate_limiter",
        "tokens_per_minute tpm max_tpm",
        "on_error raise_exceptions ignore_errors raise_on_error fail_fast skip_on_missing_params "
        "error_config",
        "progress show_progress progress_bar show_progress_bar show_indicator callbacks callback pbar "
        "tqdm display_config",
        "limit max_samples num_samples n_samples nrows max_rows head first sample_size n",
        "cache cacher cache_dir cache_path use_cache cache_config",
        "columns column_map column_mapping field_map",
        "overwrite force replace overwrite_existing",
        "prompts prompt prompt_dir templates evaluation_template",
        "repeats votes n_repeats strictness",
        "n_questions strictness",
        "max_cost max_spend cost_limit",
        "max_calls call_limit",
        "text criteria definition",
        "levels rubric rubrics",
        "each min_scores",
        "means thresholds threshold minimum min_score limits min",
        "min threshold minimum min_score thresholds fail_under",
        "sample_rate sampling_rate sample sampling",
        "ids keep_ids id_column",
    )
)
"""Groups of names for one thing; a call's own name is the first of the group that it accepts."""

_NOT_NEEDED = frozenset({
    "asyncmode", "isasync", "runasync", "useasync", "allownestasyncio", "returnexecutor", "tokenusageparser",
    "verbose", "verbosemode", "includereason",
})  # fmt: skip
# Only values of these types are held to every annotation, because objects of other libraries may do as well.
# Any object is held to one that takes a function: it can be called or cannot.
_PLAIN = (NoneType, bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset)
_CALLED = {int: "a whole number", float: "a number", bool: "True or False", str: "a text", NoneType: "None"}


def names_in(keywords: type) -> tuple[str, ...]:
    """Names in a typed dictionary of keywords, those of its bases first."""
    return tuple(keywords.__annotations__)


def folded(name: str) -> str:
    """A name without case, spaces, hyphens and underscores.

    >>> folded("Answer Relevancy") == folded("answer_relevancy") == folded("AnswerRelevancy")
    True
    """
    return re.sub(r"[\s_-]+", "", name).casefold()


def unknown(name: str, taken: Iterable[str], *, written: Callable[[str], str] = repr) -> str:
    """Advice on an unknown name: its name here, else the nearest names, else all names.

    Args:
        name: the unknown name.
        taken: the names that the call accepts.
        written: formats a name for the message.
    """
    here = {folded(each): each for each in taken}
    plain = folded(name)
    if plain in here:
        return f"it is called {written(here[plain])} here"
    groups = [group for group in WORDS if plain in map(folded, group)]
    for group in groups:
        own = next((here[folded(each)] for each in group if folded(each) in here), None)
        if own is not None:
            return f"it is called {written(own)} here"
    if plain in _NOT_NEEDED:
        return "it is not needed here: leave it out"
    from difflib import get_close_matches

    near = [here[each] for each in get_close_matches(plain, here, n=2, cutoff=0.7)]
    if near:
        return f"did you mean {' or '.join(map(written, near))}?"
    if not here:
        return "it takes none"
    return f"it takes {', '.join(map(written, here.values()))}"


def refuse_unknown(given: Iterable[str], *known: str, taker: str = "") -> None:
    """Raise `ArgumentError`, with advice, for an unknown keyword."""
    for name in given:
        if name not in known:
            subject = f"{taker} has" if taker else "there is"
            raise ArgumentError(f"{subject} no argument {name!r}: {unknown(name, known)}")


def checked(function: F) -> F:
    """Decorate a function or class so that wrong arguments raise `ArgumentError` first.

    Refused are unknown names, missing arguments, too many positional arguments, plain values (numbers, texts,
    lists) of a type that the annotation excludes, and objects that cannot be called where a function is
    expected. Other objects of other libraries are not checked.
    """
    if isinstance(function, type):
        owner = cast("Any", function)
        owner.__init__ = _checked(owner.__init__, signature(owner.__init__))
        return cast("F", owner)
    return _checked(function, signature(function))


def listing_settings(keywords: type, defaults: Mapping[str, Any]) -> Callable[[F], F]:
    """Decorate a function so that its signature lists its `**settings`.

    Type checkers and editors know them from `Unpack[...]`; `help`, notebooks and Haystack's YAML reader need
    the signature. Calls are `checked`.

    Args:
        keywords: the unpacked typed dictionary.
        defaults: default values by name.
    """

    def unfold(function: F) -> F:
        here = signature(function)
        taken = [each for each in here.parameters.values() if each.kind is not Parameter.VAR_KEYWORD]
        settings = [
            Parameter(name, Parameter.KEYWORD_ONLY, default=defaults[name], annotation=annotation)
            for name, annotation in keywords.__annotations__.items()
        ]
        return _checked(function, here.replace(parameters=[*taken, *settings]))

    return unfold


def _checked(function: F, takes: Signature) -> F:
    check = _Check(function, takes)
    if iscoroutinefunction(function):

        @wraps(function)
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            check(args, kwargs)
            return await function(*args, **kwargs)

        call: Any = awaited
    else:

        @wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            check(args, kwargs)
            return function(*args, **kwargs)

        call = called
    call.__signature__ = takes
    return cast("F", call)


class _Check:
    """The check of a call's arguments.

    Args:
        function: the function.
        takes: its signature.
    """

    def __init__(self, function: Callable[..., Any], takes: Signature) -> None:
        self._signature = takes
        self._name = function.__qualname__.removesuffix(".__init__").rpartition("<locals>.")[2]
        every = [each for each in takes.parameters.values() if each.name not in {"self", "cls"}]
        self._takes_all = any(each.kind is Parameter.VAR_KEYWORD for each in every)
        single = [
            each for each in every if each.kind not in {Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL}
        ]
        self._names = [each.name for each in single if each.kind is not Parameter.POSITIONAL_ONLY]
        self._needed = [each.name for each in single if each.default is Parameter.empty]
        self._by_place = [each.name for each in single if each.kind is not Parameter.KEYWORD_ONLY]
        self._by_name = [each.name for each in single if each.kind is Parameter.KEYWORD_ONLY]

    def __call__(self, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> None:
        """Raise `ArgumentError` if these arguments are wrong."""
        if not self._takes_all:
            refuse_unknown(keywords, *self._names, taker=self._name)
        try:
            values = self._signature.bind(*args, **keywords).arguments
        except TypeError as error:
            raise ArgumentError(self._unbound(args, keywords, error)) from None
        for name, value in values.items():
            parameter = self._signature.parameters[name]
            if parameter.kind in {Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL}:
                continue
            is_decidable = type(value) in _PLAIN or _takes_function(parameter.annotation)
            if is_decidable and not _fits(value, parameter.annotation):
                kinds = " or ".join(dict.fromkeys(_kinds(parameter.annotation)))
                raise ArgumentError(f"{self._name}: {name} must be {kinds}, not {_short(value)}")

    def _unbound(self, args: tuple[Any, ...], keywords: Mapping[str, Any], error: TypeError) -> str:
        count = len(args) - ("self" in self._signature.parameters)
        if count > len(self._by_place):
            places = f"only {', '.join(self._by_place)}" if self._by_place else "no argument"
            first = [group[0] for group in WORDS if group[0] in self._by_name] or self._by_name
            names = ", ".join(f"{name}=..." for name in first[:3])
            return f"{self._name} takes {places} by position; give the others by name: {names}"
        missing = [name for name in self._needed if name not in {*keywords, *self._by_place[:count]}]
        if missing:
            return f"{self._name} needs {' and '.join(missing)}"
        return f"{self._name}: {error}"


def _fits(value: object, hint: Any) -> bool:
    """Whether a plain value may match an annotation; True if undecided.

    Protocols and classes of other libraries are not checked. A text or a collection fits where another
    collection is expected, because the function checks the items.
    """
    if hint is None:
        return value is None
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, each) for each in get_args(hint))
    if origin is Annotated:
        return _fits(value, get_args(hint)[0])
    kind: Any = origin or hint
    if kind is bool:
        return isinstance(value, Integral)
    if kind in (int, float):
        return type(value) is not bool and isinstance(value, Integral if kind is int else Number)
    if not isinstance(kind, type) or kind is Parameter.empty or getattr(kind, "_is_protocol", False):
        return True
    if issubclass(kind, PurePath):
        return isinstance(value, PathLike)
    if kind.__name__ == "Callable":
        return callable(value)
    if kind.__module__ == "collections.abc" or kind in (list, tuple, dict):
        return isinstance(value, Collection)
    return isinstance(value, kind) or kind.__module__.partition(".")[0] not in {"builtins", "ragmetrics_core"}


def _takes_function(hint: Any) -> bool:
    """Whether a function is among the values that an annotation names."""
    return any(
        getattr(get_origin(each) or each, "__name__", "") == "Callable" for each in (hint, *get_args(hint))
    )


def _kinds(hint: Any) -> Iterable[str]:
    """The types of an annotation, in words."""
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        for each in sorted(get_args(hint), key=lambda kind: kind is NoneType):
            yield from _kinds(each)
        return
    kind: Any = NoneType if hint is None else get_args(hint)[0] if origin is Annotated else origin or hint
    name = str(getattr(kind, "__name__", kind))
    if kind in _CALLED:
        yield _CALLED[kind]
    elif isinstance(kind, type) and issubclass(kind, PurePath):
        yield "a path"
    elif name == "Callable":
        yield "a function"
    elif name == "Mapping":
        yield "a mapping"
    elif kind.__module__ == "collections.abc":
        yield "a list"
    else:
        yield _with_article(name)


def _short(value: object) -> str:
    is_short = isinstance(value, NoneType | bool | int | float) or (
        isinstance(value, str) and len(repr(value)) <= 40
    )
    return repr(value) if is_short else _with_article(type(value).__name__)


def _with_article(name: str) -> str:
    return f"{'an' if name[0] in 'AEIOUaeio' else 'a'} {name}"
