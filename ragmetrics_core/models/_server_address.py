"""Where a server is: its address in parts, and what of it is secret."""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit

from ragmetrics_core.models._secrets import bare_address, passwords_in, secrets_in, without_secrets

__all__ = ["Address", "address_of"]


@dataclass(frozen=True, repr=False)
class Address:
    """Where a server is, and what its address held besides: headers, parameters, and what of it is secret."""

    url: str
    headers: Mapping[str, str]
    query: Mapping[str, str]
    secrets: tuple[str, ...]


def address_of(base_url: str) -> Address | str:
    """The parts of an address, or why it cannot be used; that holds nothing of it that may be a secret."""
    how = "base_url is an address such as http://127.0.0.1:8080/v1"
    try:
        parts = urlsplit(base_url)
        _ = parts.port
    except ValueError:
        return f"{how}, and this one cannot be read"
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        return f"{how}, not {base_url.rpartition('@')[2].partition('?')[0]!r}"
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    for name, value in query.items():
        if without_secrets(f"?{name}=x") != f"?{name}=x" or secrets_in({name: value}):
            return (
                f"base_url holds a key as its parameter {name!r}, where every log on the way shows it: "
                "pass api_key"
            )
    # without user, password, query and fragment, any of which may hold a secret
    url = bare_address(base_url).rstrip("/")
    headers: dict[str, str] = {}
    if parts.username or parts.password:
        pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
        headers["Authorization"] = f"Basic {b64encode(pair.encode()).decode()}"
    return Address(url, headers, query, (*passwords_in(base_url), *secrets_in(base_url)))
