"""Common parts of framework models as judges or embedders: the name in records, and token counts."""

from functools import cached_property
from typing import NamedTuple

from ragmetrics_core.boundary.shapes import field_of
from ragmetrics_core.protocol import Usage, fixed_property

__all__ = ["ForeignModel", "ForeignName", "usage_of"]

# Tokens of prompt and reply: OpenAI's two interfaces, which most providers follow.
_TOKENS = (("prompt_tokens", "completion_tokens"), ("input_tokens", "output_tokens"))


class ForeignName(NamedTuple):
    """The name of a framework's model in records.

    Attributes:
        text: framework, class, model, server and settings; never a key.
        is_sure: whether all of them could be read, so that the name is unique.
    """

    text: str
    is_sure: bool


class ForeignModel:
    """A framework's model as a judge or an embedder; derived classes name the model.

    A `name` chosen by the user is its identity.
    """

    @cached_property
    def foreign_name(self) -> ForeignName:
        """The default name of the model."""
        raise NotImplementedError

    @fixed_property
    def identity(self) -> str:
        """The chosen name, or framework, class, model, server and settings."""
        return self._chosen or self.foreign_name.text

    @property
    def cacheable(self) -> bool:
        """Whether answers may be kept for later runs: not those of a model without a unique name."""
        return self._chosen is not None or self.foreign_name.is_sure

    def __repr__(self) -> str:
        """The identity: a model's own text may contain its key."""
        return f"{type(self).__name__}({self.identity!r})"

    @property
    def _chosen(self) -> str | None:
        name: str | None = getattr(self, "name", None)
        return name


def usage_of(*sources: object) -> Usage | None:
    """The tokens of a reply, from the first source that counts both prompt and reply.

    Args:
        sources: mappings or objects of a provider or a framework.

    >>> usage_of(None, {"input_tokens": 12, "output_tokens": 3})
    Usage(prompt_tokens=12, completion_tokens=3)
    >>> usage_of({"prompt_tokens": 12}) is None
    True
    """
    for source in sources:
        for names in _TOKENS:
            prompt, completion = (field_of(source, name) for name in names)
            if isinstance(prompt, int) and isinstance(completion, int):
                return Usage(prompt, completion)
    return None
