"""What the fuzzer needs that ragmetrics does not."""

import pytest

pytest.importorskip("pandas", reason="pandas is not installed; one of the loaders reads its frames")
