"""What every adapter promises about live scoring, kept by this one."""

from tests.live.suite import LiveSuite


class TestLlamaIndex(LiveSuite):
    app_module = "tests.integrations.llama_index.live_app"
