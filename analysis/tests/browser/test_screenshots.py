"""The pictures of the docs, which `scripts/screenshots` makes: TRIGRAM_SCREENSHOTS names the folder for them,
TRIGRAM_SCREENSHOTS_OF the results of a sweep, and TRIGRAM_SCREENSHOTS_ADVICE those of an answer of `trigram advise`."""

import os
from pathlib import Path

import chromium
import pytest
from PIL import Image
from report_page import DRAW_ALL, NEEDS
from trigram_analysis.__main__ import main

FOLDER = os.environ.get("TRIGRAM_SCREENSHOTS")
pytestmark = [*NEEDS, pytest.mark.skipif(not FOLDER, reason="pictures are made on request, by scripts/screenshots")]
_COLOURS = 96  # of a picture: enough for the page's few colours and the edges of its letters
_MOST_PIXELS = {1400: 2300, 390: 2000}  # the height of a picture by the width of the page


def opened(browser, results, page, **options):
    assert main(["report", results, "-o", str(page)]) == 0
    tab = chromium.Page(browser, **options)
    tab.open(page)
    # Shortens the table, which would fill a picture alone.
    tab.run("""(() => { for (const d of document.querySelectorAll('details[open]')) d.open = false;
      for (const w of document.querySelectorAll('[data-part=table] .wide')) w.style.maxHeight = '15rem'; })()""")
    tab.run(f"new Promise(done => {{ {DRAW_ALL}; setTimeout(done, 500); }})")
    return tab


def save(tab, name, **clip):
    path = Path(FOLDER) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    tab.screenshot(path, **clip)
    with Image.open(path) as picture:
        picture.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    assert tab.problems() == []


@pytest.mark.parametrize("kind, variable", [("report", "TRIGRAM_SCREENSHOTS_OF"),
                                            ("advise", "TRIGRAM_SCREENSHOTS_ADVICE")])
@pytest.mark.parametrize("look, options", [
    ("light", {"width": 1400}), ("dark", {"width": 1400, "dark": True}), ("narrow", {"width": 390})])
def test_the_beginning_of_the_page(browser, tmp_path, kind, variable, look, options):
    tab = opened(browser, os.environ[variable], tmp_path / "report.html", **options)
    height = min(tab.run("document.documentElement.scrollHeight"), _MOST_PIXELS[options["width"]])
    save(tab, f"{kind}-{look}.png", x=0, y=0, width=options["width"], height=height)
    tab.close()


def test_the_winner_map_alone(browser, tmp_path):
    tab = opened(browser, os.environ["TRIGRAM_SCREENSHOTS_OF"], tmp_path / "report.html", width=1400)
    save(tab, "winner-map.png", **tab.run("""(() => {
      const r = document.querySelector('[data-part=map] .wide').getBoundingClientRect();
      return {x: r.x - 8, y: r.y - 8, width: r.width + 16, height: r.height + 16}; })()"""))
    tab.close()
