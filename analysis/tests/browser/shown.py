"""Helpers of tests that use the report as an open page."""

import time

import chromium
import pytest
from trigram_analysis import page_files

NEEDS = [
    pytest.mark.skipif(chromium.find() is None, reason="chromium is missing: run scripts/setup --browser"),
    pytest.mark.skipif(not page_files.chart_script(), reason="uPlot is missing: run scripts/setup"),
]

# Records the texts drawn on canvases and their places: uPlot's labels are no elements.
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


def wait_until(page, condition, patience_s=20):
    deadline = time.monotonic() + patience_s
    while not page.run(condition):
        assert time.monotonic() < deadline, f"never true: {condition}"
        time.sleep(0.05)
