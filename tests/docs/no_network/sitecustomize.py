"""Forbids connections to other hosts, in every Python that has this folder on its path.

The packages named in `WITHOUT_PACKAGES` cannot be imported, as if they were not installed.

The interpreter says so itself, by its audit events, so that nothing of a page's code is patched.
"""

import os
import sys

LOCAL = {"127.0.0.1", "::1", "localhost", "0.0.0.0", "", None}


def refuse(event: str, arguments: tuple[object, ...]) -> None:
    """Raise when something leaves this machine."""
    if event == "socket.connect":
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) else None
    elif event == "socket.getaddrinfo":
        host = arguments[0]
    else:
        return
    host = host.decode() if isinstance(host, bytes) else host
    if host not in LOCAL:
        raise PermissionError(f"the documentation's code wants to reach {host}")


sys.addaudithook(refuse)
sys.modules.update(dict.fromkeys(os.environ.get("WITHOUT_PACKAGES", "").split()))
