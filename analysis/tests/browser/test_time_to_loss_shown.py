"""The page of runs that are compared by the time to a held-out loss."""

import chromium
import pytest
from evaluations import falling, write_losses
from report_page import DRAW_ALL, NEEDS
from trigram_analysis.__main__ import main

pytestmark = NEEDS


@pytest.fixture
def losses(tmp_path):
    for gbps, at in ((1, 45), (10, 105)):
        write_losses(tmp_path / "losses", "bytegrad", 1 / gbps, falling(5, at), gbps=gbps)
        write_losses(tmp_path / "losses", "decentralized", 1 / gbps, falling(5, 70), gbps=gbps)
    assert main(["report", str(tmp_path / "losses")]) == 0
    return tmp_path / "losses" / "report.html"


def test_the_winner_has_the_least_time_to_the_loss(browser, losses):
    page, plain = chromium.Page(browser), chromium.Page(browser, scripts=False)
    for opened in (page, plain):
        opened.open(losses)
        assert opened.run("document.querySelector('.map caption').textContent") == "time to held-out loss 0.35"
        cells = opened.run("[...document.querySelectorAll('.map td b')].map(b => b.textContent.trim())")
        assert cells == ["bytegrad", "decentralized/shift_one"]
    notes = page.run("[...document.querySelectorAll('p.soft')].map(p => p.textContent)")
    (note,) = (note for note in notes if note.startswith("Values within 1 % tie"))
    assert "times to a loss that evaluations cannot tell apart" in note
    assert "What reaches the loss with some seeds" in note
    page.run(f"new Promise(done => {{ {DRAW_ALL}; setTimeout(done, 300); }})")
    titles = page.run("[...document.querySelectorAll('figure')].map(c => c.textContent)")
    assert any("held-out loss of the mean model" in title for title in titles)
    for opened in (page, plain):
        assert opened.problems() == []
        opened.close()
