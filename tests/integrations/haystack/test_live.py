"""The promises of live scoring that all adapters share, kept by the tracer."""

from tests.live.suite import LiveSuite


class TestLive(LiveSuite):
    app_module = "tests.integrations.haystack.live_app"
