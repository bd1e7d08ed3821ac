"""Judges of other packages, found through the entry points that they declare."""

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.metadata import EntryPoint, entry_points
from inspect import Parameter, signature
from typing import Any, Final, cast

from ragmetrics_core.errors import ConfigError, RagMetricsError
from ragmetrics_core.models._secrets import without_secrets
from ragmetrics_core.protocol import Judge

__all__ = ["judge_note", "judge_training", "plugin_forms", "plugin_judge", "plugin_options", "rule_judge"]

_GROUP: Final = "ragmetrics.judges"
_RULES: Final = "embedded"
# A checkout that was never installed declares no entry points.
_BUNDLED: Final = EntryPoint(_RULES, "ragmetrics_embedded:LexicalJudge", _GROUP)
_POSITIONAL: Final = {Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD}


@dataclass(frozen=True)
class _Plugin:
    """A judge that packages declare.

    Attributes:
        name: the word before the colon of a judge's name.
        points: the entry points with this name; more than one if packages disagree.
    """

    name: str
    points: tuple[EntryPoint, ...]

    @property
    def owner(self) -> str:
        """The packages that declare the judge, with their versions."""
        owners = {
            f"{point.dist.name} {point.dist.version}" if point.dist else "ragmetrics-core"
            for point in self.points
        }
        return " and ".join(sorted(owners))

    @cached_property
    def factory(self) -> Callable[..., object]:
        """The function or class that makes the judge.

        Raises:
            ConfigError: several packages declare the name, or it cannot be loaded.
        """
        point, *others = self.points
        if others:
            raise ConfigError(f"the judge {self.name!r} is declared by {self.owner}: uninstall all but one")
        try:
            factory: object = point.load()
        except Exception as error:  # the boundary to foreign code
            raise self._failure("cannot be loaded", error) from error
        if not callable(factory):
            raise ConfigError(f"{self} cannot be loaded: {point.value} is not callable")
        return factory

    @cached_property
    def model(self) -> Parameter | None:
        """The parameter for the model, which is the first one; None for a judge without models."""
        first = next(iter(self._parameters), None)
        return first if first is not None and first.kind in _POSITIONAL else None

    def accepted(self, options: Iterable[str]) -> frozenset[str]:
        """The options that the factory's signature names; all of them with `**settings`."""
        settings = [parameter for parameter in self._parameters if parameter is not self.model]
        if any(parameter.kind is Parameter.VAR_KEYWORD for parameter in settings):
            return frozenset(options)
        return frozenset(options) & {parameter.name for parameter in settings}

    def judge(self, model: str, settings: Mapping[str, Any], *, asked: bool) -> Judge:
        """Make the judge; see `plugin_judge`."""
        if without_secrets(model) != model:
            raise ConfigError(f"the name of the judge {self.name!r} holds a key, and records store names")
        if not model and self.model is not None and self.model.default is Parameter.empty:
            raise ConfigError(f"{self} needs a model: write {self.name}:MODEL")
        given = {name: settings[name] for name in self.accepted(settings)}
        if any(parameter.name == "asked" for parameter in self._parameters):
            given["asked"] = asked
        try:
            judge = self.factory(model, **given) if model else self.factory(**given)
        except RagMetricsError:
            raise
        except Exception as error:  # the boundary to foreign code
            raise self._failure("cannot be made", error) from error
        if isinstance(judge, type) or not isinstance(judge, Judge):
            made = f"the class {judge.__name__}" if isinstance(judge, type) else type(judge).__name__
            raise ConfigError(f"{self} is {made}, not an object with `identity` and `agenerate`")
        return judge

    def __str__(self) -> str:
        return f"the judge {self.name!r} of {self.owner}"

    def _failure(self, what: str, error: Exception) -> ConfigError:
        cause = without_secrets(f"{type(error).__name__}: {error}")
        return ConfigError(f"{self} {what} ({cause}): update or reinstall {self.owner}")

    @cached_property
    def _parameters(self) -> tuple[Parameter, ...]:
        try:
            return tuple(signature(self.factory).parameters.values())
        except (TypeError, ValueError):  # a callable without a signature takes the model
            return (Parameter("model", Parameter.POSITIONAL_ONLY),)


def rule_judge() -> Judge:
    """The judge that splits texts for models that only give verdicts, and stands in for others in a plan.

    Raises:
        ConfigError: its package is missing.
    """
    return cast("Judge", plugin_judge(_RULES, "", {}))


def judge_training() -> Callable[..., Any]:
    """The function that trains the judge of `rule_judge` on labelled claims.

    Raises:
        ConfigError: its package is missing, or too old to train.
    """
    plugin = _plugins()[_RULES]
    train = getattr(plugin.factory, "train", None)
    if not callable(train):
        raise ConfigError(f"{plugin} cannot be trained: update or reinstall {plugin.owner}")
    return cast("Callable[..., Any]", train)


def plugin_judge(name: str, model: str, settings: Mapping[str, Any], *, asked: bool = True) -> Judge | None:
    """The judge that a plug-in makes; None if no package declares the name, or it has no models.

    Args:
        name: the word before the colon.
        model: the text after it; "" if there is none.
        settings: the judge's settings by name; those that the factory does not take are left out.
        asked: False if the judge is never called; the factory gets it if its signature names it.

    Raises:
        ConfigError: the plug-in cannot be loaded, or does not make a judge.
    """
    plugin = _plugins().get(name)
    if plugin is None or (model and plugin.model is None):
        return None
    return plugin.judge(model, settings, asked=asked)


def plugin_options(name: str, options: Iterable[str]) -> frozenset[str]:
    """The options that a plug-in takes; none if no package declares the name."""
    plugin = _plugins().get(name)
    return frozenset() if plugin is None else plugin.accepted(options)


def plugin_forms() -> list[str]:
    """The judges that other packages declare, for messages."""
    plugins = _plugins().values()
    return [f'"{plugin.name}[:MODEL]" of {plugin.owner}' for plugin in plugins if plugin.name != _RULES]


def judge_note(identity: str) -> str | None:
    """The limits of the judge with this identity, as its plug-in states them; None if there are none.

    The part of the identity before the colon is the plug-in's name. Reading scores does not need the plug-in.
    """
    plugin = _plugins().get(identity.partition(":")[0])
    try:
        note = None if plugin is None else getattr(plugin.factory, "note", None)
    except ConfigError:
        return None
    return note if isinstance(note, str) else None


def _plugins() -> Mapping[str, _Plugin]:
    return _in_folders(tuple(sys.path))


@lru_cache(maxsize=1)
def _in_folders(folders: tuple[str, ...]) -> Mapping[str, _Plugin]:
    """The plug-ins by name, for the folders of `sys.path`."""
    points: dict[str, dict[str, EntryPoint]] = {}
    for point in (_BUNDLED, *entry_points(group=_GROUP)):
        points.setdefault(point.name, {})[point.value] = point
    return {name: _Plugin(name, tuple(points[name].values())) for name in sorted(points)}
