"""The seal of a stored line: a digest of everything before it, at its end."""

from ragmetrics_core.prompts import digest_of, digest_of_bytes

__all__ = ["seal_of", "sealed_line"]


def sealed_line(body: bytes) -> bytes:
    """A stored line with its seal, the digest of everything before it."""
    return b'%b,"digest":"%b"}' % (body[:-1], digest_of_bytes(body).encode())


def seal_of(line: str | bytes) -> str:
    """The right seal of a stored line; empty for any other text.

    It depends on the line, not its fields, so that versions with more fields or another number format agree.
    """
    text = line.decode("utf-8", "surrogatepass") if isinstance(line, bytes) else line
    body, _, seal = text.rstrip().rpartition(',"digest":"')
    return digest_of(f"{body}}}") if body and seal.endswith('"}') and seal.count('"') == 1 else ""
