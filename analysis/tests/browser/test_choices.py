"""The choices of a reader: settings whose timelines are in the page, and commands of single runs."""

import itertools
import json

import chromium
import pytest
import sample
import synthetic
from report_page import DRAW_ALL, NEEDS, show
from trigram_analysis import report_data
from trigram_analysis.__main__ import main

pytestmark = NEEDS
PART = "document.querySelector('[data-part=timeline]')"
OFFERED = f"[...{PART}.querySelectorAll('select option')].map(o => o.textContent)"
NAMES = f"[...{PART}.querySelectorAll('svg.lanes .name')].map(t => t.textContent)"
CAPTION = f"{PART}.querySelector('figcaption').textContent"


def opened(browser, folder):
    assert main(["report", str(folder)]) == 0
    page = chromium.Page(browser)
    page.open(folder / "report.html")
    page.run(f"new Promise(done => {{ {DRAW_ALL}; setTimeout(done, 300); }})")
    return page


@pytest.fixture
def grid(browser, tmp_path, monkeypatch):
    """Six settings of three algorithms. Two of the settings and the middle one have timelines."""
    monkeypatch.setattr(report_data, "_MAX_TRACES", 6)
    for a, gbps, latency in itertools.product(range(3), (1, 10, 100), (10, 1000)):
        synthetic.write_timing(tmp_path / "grid", a, gbps, latency)
    page = opened(browser, tmp_path / "grid")
    yield page
    assert page.problems() == []
    page.close()


def click_cell(page, bandwidth, latency):
    """Clicks the cell of the winner map at a bandwidth and a latency."""
    page.run(f"""(() => {{ const map = document.querySelector('[data-part=map] table');
      const column = [...map.tHead.rows[0].cells].findIndex(c => c.textContent === '{bandwidth}');
      [...map.tBodies[0].rows].find(r => r.cells[0].textContent === '{latency}').cells[column].click(); }})()""")


def test_only_timelines_of_the_chosen_setting_are_shown(grid):
    offered = grid.run(OFFERED)
    assert len(offered) == 3 and not any("not recorded" in text for text in offered)
    assert len(grid.run(NAMES)) == 3
    recorded = set(offered)
    for bandwidth, latency in itertools.product(("1 Gbps", "10 Gbps", "100 Gbps"), ("10 µs", "1 ms")):
        click_cell(grid, bandwidth, latency)
        label = f"inter-node bandwidth {bandwidth}, inter-node latency {latency}"
        caption = grid.run(CAPTION)
        assert f"at {label}" in caption
        is_recorded = label in recorded
        assert len(grid.run(NAMES)) == (3 if is_recorded else 0)
        assert ("no timeline of this setting" in caption) == (not is_recorded)
        assert grid.run(OFFERED) == ([] if is_recorded else ["not recorded"]) + offered
    grid.run(f"""(() => {{ const choice = {PART}.querySelector('select');
      choice.selectedIndex = choice.options.length - 1; choice.dispatchEvent(new Event('change')); }})()""")
    assert f"at {offered[-1]}" in grid.run(CAPTION) and len(grid.run(NAMES)) == 3


def test_the_timeline_is_drawn_after_that_of_a_hidden_experiment(page):
    """A drawing must not refer to the patterns of another one, which is not drawn while it is hidden."""
    for name in ("grid", "sample"):
        show(page, name)
        assert page.run("""(() => { const svg = document.querySelector('.experiment:not([hidden]) svg.lanes');
          const boxes = [...svg.querySelectorAll('rect[fill]')];
          return boxes.length > 5 && boxes.every(b => svg.contains(document.querySelector(b.getAttribute('fill').slice(4, -1)))); })()""")


@pytest.mark.parametrize("name, quoted", [("plain-1.a", "plain-1.a"), ("q2;touch PWNED;x", "'q2;touch PWNED;x'"),
                                          ("it's $(touch PWNED)", "'it'\\''s $(touch PWNED)'")])
def test_a_run_is_one_word_of_the_command_that_makes_it(browser, tmp_path, name, quoted):
    for run in ("other", "foreign"):
        sample.write_run(tmp_path / "sample", run, gbps=1.0 if run == "other" else 2.0)
    path = tmp_path / "sample" / "foreign" / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"id": name}))
    page = opened(browser, tmp_path / "sample")
    commands = page.run("[...document.querySelectorAll('.runs .copy')].map(b => b.dataset.copy)")
    assert [c.rpartition("trigram run ")[2] for c in commands if "other" not in c.rpartition("--only")[2]] == [
        f"sample.json --only={quoted}"]
    page.close()
