import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent / "browser"),
                str(Path(__file__).parent.parent)]

import sample  # noqa: E402


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    """Three algorithms at two bandwidths, with one seed."""
    return sample.write_sweep(tmp_path / "sample")
