"""The shared suite on a small application."""

from tests.live.suite import LiveSuite


class TestFakeApp(LiveSuite):
    app_module = "tests.live.fake_app"
