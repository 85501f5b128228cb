"""The page with axe's rules, and by the keyboard. Skipped if there is no browser."""

from pathlib import Path

import advice_sample
import chromium
import pytest
from report_page import DRAW_ALL, NEEDS, show
from trigram_analysis.__main__ import main

AXE = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"
pytestmark = [*NEEDS,
              pytest.mark.skipif(not AXE.is_file(), reason="axe-core is missing: run scripts/setup --browser")]
ERRORS = """axe.run(document, {resultTypes: ['violations']}).then(found => found.violations.flatMap(v =>
  v.nodes.map(node => `${v.id}: ${node.html.slice(0, 200)}: ${node.failureSummary}`)))"""
FOCUS = """(() => { const e = document.activeElement, r = e.getBoundingClientRect();
  return {part: e.closest('[data-part]')?.dataset.part ?? e.closest('nav, .caveats, .command, .runs')?.className ?? '',
          tag: e.tagName, text: e.textContent.trim().slice(0, 30), shown: r.width > 0 && r.height > 0}; })()"""


@pytest.fixture(scope="module")
def answer(tmp_path_factory):
    folder = advice_sample.write(tmp_path_factory.mktemp("results") / "advise-ten-vgg16")
    assert main(["report", str(folder)]) == 0
    return folder / "report.html"


def errors(page):
    page.run(f"new Promise(done => {{ {DRAW_ALL}; setTimeout(done, 300); }})")
    page.run(AXE.read_text(encoding="utf-8"))
    return page.run(ERRORS)


@pytest.mark.parametrize("options", [{"width": 1400}, {"width": 1400, "dark": True}, {"width": 390},
                                     {"width": 390, "dark": True}], ids=str)
@pytest.mark.parametrize("name", ["sample", "grid", "answer"])
def test_axe_finds_no_error(browser, report, answer, name, options):
    page = chromium.Page(browser, **options)
    page.open(answer if name == "answer" else report)
    if name != "answer":
        show(page, name)
        page.run("document.querySelectorAll('.experiment:not([hidden]) .legend button')[1].click()")  # a hidden one
    assert errors(page) == []
    page.close()


def test_axe_finds_an_error(page):
    show(page, "sample")
    page.run("document.querySelector('main').append(document.createElement('button'))")
    assert [error.split(":")[0] for error in errors(page)] == ["button-name"]


def tabbed(page, most=400):
    """The elements that the Tab key reaches, one after another, until it leaves the page."""
    found = []
    while len(found) < most:
        page.press("Tab")
        focus = page.run(FOCUS)
        if focus["tag"] == "BODY":
            return found
        found.append(focus)
    raise AssertionError(f"no end after {most} elements")


def test_everything_is_reached_by_the_tab_key_in_the_order_of_the_page(page):
    page.run(f"new Promise(done => {{ {DRAW_ALL}; setTimeout(done, 300); }})")  # the first experiment is "grid"
    found = tabbed(page)
    assert all(focus["shown"] for focus in found)
    order = list(dict.fromkeys(focus["part"] for focus in found))
    wanted = ["theme", "wide", "toc", "legend", "front-chart", "map", "table", "sweep", "bars", "timeline", "command"]
    assert [part for part in order if part in wanted] == wanted
    assert sum(focus["tag"] == "TD" for focus in found) == 6  # the cells of the winner map
    buttons = page.run("""[...document.querySelectorAll('button, select, input, a, summary')]
      .filter(e => e.getClientRects().length && e.checkVisibility()).length""")
    assert sum(focus["tag"] in ("BUTTON", "SELECT", "INPUT", "A", "SUMMARY") for focus in found) == buttons


def focus_on(page, selector):
    page.run(f"document.querySelector({selector!r}).focus()")


def test_the_keyboard_hides_series_sorts_and_chooses(page):
    show(page, "grid")
    focus_on(page, ".experiment:not([hidden]) .legend button")
    page.press(" ")
    pressed = "[...document.querySelectorAll('.experiment:not([hidden]) .legend button')].map(b => b.ariaPressed)"
    assert page.run(pressed) == ["false", "true", "true"]
    page.press("Enter")
    assert page.run(pressed) == ["true"] * 3
    page.press("Enter", shift=True)
    assert page.run(pressed) == ["true", "false", "false"]
    focus_on(page, ".experiment:not([hidden]) .filtered th:nth-child(4) button")
    page.press("Enter")
    assert page.run("document.activeElement.closest('th').ariaSort") == "ascending"
    focus_on(page, ".experiment:not([hidden]) .map tbody tr:last-child td:last-child")
    page.press(" ")
    caption = page.run("document.querySelector('.experiment:not([hidden]) [data-part=bars] figcaption').textContent")
    assert "100 Gbps" in caption and "1 ms" in caption


def test_the_timeline_is_moved_by_the_keyboard_and_keeps_the_focus(page):
    show(page, "grid")
    part = ".experiment:not([hidden]) [data-part=timeline]"
    label = "document.activeElement.textContent"
    first_time = f"document.querySelector({part + ' svg.lanes text'!r}).textContent"
    page.run(f"[...document.querySelectorAll({part + ' button'!r})].find(b => b.textContent === 'zoom in').focus()")
    page.press("Enter")
    assert page.run(label) == "zoom in"
    before = page.run(first_time)
    page.run(f"[...document.querySelectorAll({part + ' button'!r})].find(b => b.textContent === 'later').focus()")
    page.press("Enter")
    assert page.run(label) == "later" and page.run(first_time) != before


def test_the_contents_lead_to_every_part_and_stay(page):
    show(page, "grid")
    links = "[...document.querySelectorAll('.experiment:not([hidden]) .toc a')]"
    titles = page.run(f"{links}.map(a => a.textContent)")
    assert titles[0] == "Verdict" and {"Who wins where", "Table", "Timeline of one step", "Provenance"} <= set(titles)
    for i in range(len(titles)):
        focus_on(page, f".experiment:not([hidden]) .toc a:nth-child({i + 1})")
        page.press("Enter")
        page.run("new Promise(done => setTimeout(done, 50))")
        assert page.run(f"document.getElementById({links}[{i}].hash.slice(1)).checkVisibility()")
        assert page.run("document.querySelectorAll('.experiment:not([hidden])').length") == 1
    box = page.run("""(() => { const r = document.querySelector('.experiment:not([hidden]) .toc').getBoundingClientRect();
      return [window.scrollY > 1000, r.top >= 0 && r.bottom < 100]; })()""")
    assert box == [True, True]
