"""A judge that finds statements in an answer, and decides on each of them."""

from ragmetrics_core.testing import ScriptedJudge


def judge(statements, verdict):
    """A judge: from the answer to its statements; from an item and the request to whether it is supported."""

    def reply(request):
        asked = request.variables
        if request.prompt.name == "statements":
            return {"statements": statements(str(asked["answer"])), "declined": False}
        verdicts = ((item.number, verdict(item, request)) for item in asked["items"])
        return {
            "verdicts": [
                {"number": number, "reason": "r", "verdict": "yes" if is_so else "no"}
                for number, is_so in verdicts
                if is_so is not None
            ]
        }

    return ScriptedJudge(reply)
