"""What every adapter promises about live scoring, on an LCEL chain."""

from tests.live.suite import LiveSuite


class TestChain(LiveSuite):
    app_module = "tests.integrations.langchain.live_app"
