"""Named entities of a text, from a judge."""

from ragmetrics_core.parsers._answer import Answer, Expected, Schema, Texts, list_of, object_of

__all__ = ["EntityList"]


class EntityList(Answer):
    """Names in the judge's order, with repeats: {"entities": ["..."]}."""

    entities: Texts

    @classmethod
    def reply_schema(cls, expected: Expected) -> Schema:
        """The JSON schema of the form."""
        return object_of(expected, {"entities": list_of({"type": "string"})})
