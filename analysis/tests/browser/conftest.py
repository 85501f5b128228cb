import itertools

import chromium
import pytest
import report_page
import sample
import synthetic
from trigram_analysis.__main__ import main


@pytest.fixture(scope="module")
def browser():
    with chromium.Chromium(chromium.find()) as started:
        yield started


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A report of two experiments: one with an axis and training, one with two axes and no training."""
    root = tmp_path_factory.mktemp("results")
    sample.write_sweep(root / "sample", seeds=(1, 2))
    for a, algorithm in enumerate(synthetic.ALGORITHMS[:3]):
        for gbps, latency in itertools.product((1, 10, 100), (10, 1000)):
            synthetic.write_timing(root / "grid", a, gbps, latency)
    assert main(["report", str(root)]) == 0
    return root / "report.html"


@pytest.fixture
def page(browser, report):
    opened = chromium.Page(browser, before=report_page.RECORD_TEXT)
    opened.open(report)
    yield opened
    assert opened.problems() == []
    opened.close()
