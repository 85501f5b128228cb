"""Helpers of tests that open the report in a browser."""

import time

import chromium
import pytest
from trigram_analysis import page_files

NEEDS = [
    pytest.mark.skipif(chromium.find() is None, reason="chromium is missing: run scripts/setup --browser"),
    pytest.mark.skipif(not page_files.chart_script(), reason="uPlot is missing: run scripts/setup"),
]

# Records the texts that are drawn on canvases, with their positions. uPlot draws its labels there.
RECORD_TEXT = """
window.written = [];
const fill = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...rest) {
  const at = this.getTransform(), m = this.measureText(text);
  const corners = [[x - m.actualBoundingBoxLeft, y - m.actualBoundingBoxAscent],
                   [x + m.actualBoundingBoxRight, y + m.actualBoundingBoxDescent]]
    .map(([px, py]) => [at.a * px + at.c * py + at.e, at.b * px + at.d * py + at.f]);
  window.written.push({canvas: this.canvas, text, corners});
  return fill.call(this, text, x, y, ...rest);
};
"""
DRAW_ALL = "window.dispatchEvent(new Event('beforeprint'))"


def show(page, name):
    """Shows the experiment `name`, with every figure drawn."""
    page.run(f"[...document.querySelectorAll('#experiments a')].find(a => a.textContent === '{name}').click()")
    page.run(f"new Promise(done => setTimeout(() => {{ {DRAW_ALL}; setTimeout(done, 200); }}, 100))")


def wait_until(page, condition, timeout_s=20):
    deadline = time.monotonic() + timeout_s
    while not page.run(condition):
        assert time.monotonic() < deadline, f"never true: {condition}"
        time.sleep(0.05)
