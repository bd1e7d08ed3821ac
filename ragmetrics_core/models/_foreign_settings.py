"""Names of framework models in records: class, model, server and settings."""

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import Enum
from typing import Any, NamedTuple, cast
from urllib.parse import urlencode

from pydantic import BaseModel, SecretBytes, SecretStr

from ragmetrics_core.adapting import ForeignName
from ragmetrics_core.boundary.shapes import is_mapping, is_series
from ragmetrics_core.models._secrets import bare_address, passwords_in, secrets_in, settings_for_names
from ragmetrics_core.models.identity import own_digest

__all__ = ["SettingsDigest", "foreign_name", "settings_digest"]

# How calls are made; the replies are the same.
_CALLING = frozenset(
    {
        "batch_size",
        "chunk_size",
        "embed_batch_size",
        "max_retries",
        "name",
        "num_workers",
        "request_timeout",
        "show_progress",
        "timeout",
        "verbose",
    }
)


class SettingsDigest(NamedTuple):
    """A digest of settings.

    Attributes:
        text: eight hexadecimal digits; "" if all settings have default values.
        is_complete: whether every setting could be read; only then do different settings have different
            digests.
    """

    text: str
    is_complete: bool


def foreign_name(
    framework: str,
    model: object,
    *,
    called: str | None,
    server: str | None = None,
    settings: Mapping[str, object] | None = None,
    digest: SettingsDigest,
) -> ForeignName:
    """FRAMEWORK:CLASS/MODEL@SERVER?SETTINGS: the name of a framework's model in records, without keys.

    The class includes its module, because classes with the same name may differ. A user's own class also has
    a digest of its code and of the object's state.

    Args:
        framework: the adapter, such as "haystack".
        model: the framework's object.
        called: the provider's name of the model.
        server: the server's address; shown without password and query.
        settings: settings to show; a value other than text is shown as JSON, and one without a JSON form
            makes the name uncertain.
        digest: digest of the settings that are not shown.
    """
    shown: dict[str, str] = {}
    is_sure = digest.is_complete
    for key, value in sorted(settings_for_names(settings or {}).items()):
        try:
            shown[key] = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
        except (TypeError, ValueError):
            is_sure = False  # two different values could not be told apart
    if digest.text:
        shown["settings"] = digest.text
    if own := own_digest(type(model), _held(model)):
        shown["code"] = own
    is_sure = is_sure and own is not None
    text = f"{framework}:{type(model).__module__}.{type(model).__qualname__}"
    text += f"/{called}" if called else ""
    text += f"@{bare_address(server)}" if server else ""
    return ForeignName(f"{text}?{urlencode(shown)}" if shown else text, is_sure)


def settings_digest(model: object, *, shown: Collection[str] = ()) -> SettingsDigest:
    """Digest of a model's public settings that differ from the defaults.

    Settings are the fields and extra fields of a pydantic model, except those excluded from its serialization
    (clients, callbacks), or the public attributes of any other object. Keys, passwords, clients and settings
    that only affect how calls are made (time limits, batch sizes) are left out.

    Args:
        model: the model.
        shown: names of settings to leave out because the identity shows them.
    """
    settings: dict[str, Any] = {}
    is_complete = True
    for name, value, usual in _settings(model):
        if name in shown or name in _CALLING or "client" in name or _is_secret(name, value):
            continue
        try:
            text = _as_json(value)
            if text != _as_json(usual):
                settings[name] = text
        except (TypeError, ValueError):
            is_complete = False
    if not settings:
        return SettingsDigest("", is_complete)
    return SettingsDigest(hashlib.sha256(_as_json(settings).encode()).hexdigest()[:8], is_complete)


def _settings(model: object) -> Iterator[tuple[str, Any, Any]]:
    """Name, value and default of each setting that has a value."""
    if isinstance(model, BaseModel):
        for name, field in type(model).model_fields.items():
            if field.exclude is not True and (value := getattr(model, name)) is not None:
                # before pydantic 2.10 no factory took the other fields, and none was asked whether it does
                needs_others: bool = getattr(field, "default_factory_takes_validated_data", False)
                yield name, value, None if needs_others else field.get_default(call_default_factory=True)
        yield from (
            (name, each, None) for name, each in (model.model_extra or {}).items() if each is not None
        )
        return
    for name, value in getattr(model, "__dict__", {}).items():
        if not name.startswith("_") and value is not None:
            yield name, value, None


def _held(model: object) -> Mapping[str, Any]:
    """State that may distinguish an object from others of its class, unless the object describes itself."""
    if isinstance(model, BaseModel):
        private = model.__pydantic_private__ or {}
        return {name: value for name, value, _ in _settings(model) if name not in _CALLING} | private
    named = {} if hasattr(model, "to_dict") else getattr(model, "__dict__", {})
    return {name: value for name, value in named.items() if name[:2] != "__"}


def _is_secret(name: object, value: object) -> bool:
    if isinstance(value, SecretStr | SecretBytes):
        return True
    return isinstance(value, str) and "://" not in value and bool(secrets_in({str(name): value}))


def _as_json(value: Any) -> str:
    return json.dumps(_plain(value), sort_keys=True)


def _plain(value: Any) -> Any:
    """The value as JSON, without secrets and in a fixed order.

    Raises:
        TypeError: JSON has no such type. An iterator, for example, must not be consumed.
    """
    if isinstance(value, Enum):
        return _plain(value.value)
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(value, str):
        return bare_address(value) if any(passwords_in(value)) else value
    if isinstance(value, BaseModel):
        return {name: _plain(each) for name, each, _ in _settings(value) if not _is_secret(name, each)}
    if is_mapping(value):
        return {str(name): _plain(each) for name, each in value.items() if not _is_secret(name, each)}
    if isinstance(value, set | frozenset):
        return sorted(_as_json(each) for each in cast("Iterable[object]", value))
    if is_series(value):
        return [_plain(each) for each in value]
    raise TypeError(f"{type(value).__name__} is not a setting")
