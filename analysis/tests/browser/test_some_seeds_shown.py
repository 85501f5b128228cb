"""The page's text if only some seeds reach an accuracy."""

import chromium
import pytest
from evaluations import NEVER, declare_target, over_seeds, some_seeds_early
from report_page import DRAW_ALL, NEEDS
from trigram_analysis.__main__ import main

pytestmark = NEEDS
CELLS = """[...document.querySelectorAll('.map td')].map(td =>
  [td.className, ...[...td.children].map(part => part.textContent.trim()), td.children.length ? '' : td.textContent])"""


@pytest.fixture
def early(tmp_path):
    some_seeds_early(tmp_path / "early")
    over_seeds(tmp_path / "early", "bytegrad", 0.2, (105, NEVER, 125), 5)
    declare_target(tmp_path / "early", 0.82)
    assert main(["report", str(tmp_path / "early")]) == 0
    return tmp_path / "early" / "report.html"


def test_rivals_are_named_with_and_without_scripts(browser, early):
    page, plain = chromium.Page(browser), chromium.Page(browser, scripts=False)
    for opened in (page, plain):
        opened.open(early)
    assert page.run(CELLS) == plain.run(CELLS) == [
        ["tie", "decentralized/shift_one", "180 s", "of those with every seed; bytegrad may be earlier", ""],
        ["none", "none with every seed"],
        ["won", "bytegrad", "12.2 s", "1.48× ahead of decentralized/shift_one", ""]]
    assert page.run("document.querySelector('.map td').title") == (
        "decentralized/shift_one: 180 s\nbytegrad: with 2 of 3 seeds")
    page.run(f"new Promise(done => {{ {DRAW_ALL}; setTimeout(done, 300); }})")
    notes = page.run("[...document.querySelectorAll('[data-part=sweep] figcaption')].map(c => c.textContent)")
    assert any("without settings that some seeds alone reach: bytegrad" in note for note in notes)
    page.run("document.querySelectorAll('.legend button')[0].click()")  # hides bytegrad
    assert page.run(CELLS)[0] == ["won", "decentralized/shift_one", "180 s", "alone", ""]
    for opened in (page, plain):
        assert opened.problems() == []
        opened.close()
