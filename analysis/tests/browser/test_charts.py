"""The report's charts and its winner map in a browser. Skipped if there is no browser."""

import chromium
import pytest
import synthetic
from report_page import NEEDS, show, wait_until

pytestmark = NEEDS


def test_every_chart_is_drawn_in_the_colours_of_its_series(page):
    show(page, "sample")
    drawn = page.run("""[...document.querySelectorAll('.experiment:not([hidden]) .plot canvas')].map(canvas => {
      const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height), seen = {};
      for (let i = 0; i < data.length; i += 4) if (data[i + 3] === 255) {
        const key = [data[i], data[i + 1], data[i + 2]].join(); seen[key] = (seen[key] ?? 0) + 1; }
      return seen; })""")
    # With the light theme, gradient_allreduce, bytegrad and decentralized have the first three colours.
    assert len(drawn) >= 9
    for canvas in drawn:
        assert sum(canvas.get(c, 0) > 20 for c in ("0,114,178", "213,138,0", "0,158,115")) >= 1
    step_time = drawn[2]  # after the chart of the front and the time to the accuracy
    assert all(step_time.get(c, 0) > 20 for c in ("0,114,178", "213,138,0", "0,158,115"))


def test_step_time_is_drawn_from_the_results(page):
    show(page, "sample")
    data = page.run("""[...document.querySelectorAll('.experiment:not([hidden]) figure')].find(f =>
      f.querySelector('h4 span').textContent === 'time per step').querySelector('.plot').chart.data""")
    # Communication takes 8, 2 and 4 s at 1 Gbps with seed 1, and 10 % more with seed 2; the chart shows the mean of
    # both. Computation takes 0.5 s.
    assert data[0] == [1, 10]
    for ys, exposed in zip(data[1:], (8.0, 2.0, 4.0)):
        assert ys == pytest.approx([0.5 + 1.05 * exposed, 0.5 + 0.105 * exposed], rel=1e-4)


def test_measures_that_do_not_change_have_no_chart(page):
    show(page, "sample")
    titles = page.run("""[...document.querySelectorAll('.experiment:not([hidden]) [data-part=sweep] h4 span:first-child')]
      .map(title => title.textContent)""")
    note = page.run("document.querySelector('.experiment:not([hidden]) [data-part=sweep] > p').textContent")
    assert "time per step" in titles and "time per step" not in note
    for constant in ("bytes per step between nodes", "accuracy at the end"):
        assert constant not in titles and constant in note


def test_the_winner_map_is_the_same_with_and_without_scripts(browser, report, page):
    def cells(opened):
        return opened.run("""[...document.querySelectorAll('.map td')].map(td =>
          [...td.children].map(part => part.textContent.trim()).join('|'))""")

    show(page, "sample")
    show(page, "grid")
    without_scripts = chromium.Page(browser, scripts=False)
    without_scripts.open(report)
    assert sorted(cells(without_scripts)) == sorted(cells(page))
    assert len(cells(without_scripts)) == 2 + 6  # 2 settings of "sample" and 2 x 3 of "grid"
    without_scripts.close()


def test_the_winner_map_names_the_winners(page):
    show(page, "grid")
    shown = page.run("""[...document.querySelectorAll('.experiment:not([hidden]) .map tbody tr')].map(row =>
      [...row.querySelectorAll('td b')].map(b => b.textContent.trim()))""")

    def best(gbps, latency):
        times = [synthetic.step_s(a, gbps, latency) for a in range(3)]
        first, second = sorted(times)[:2]
        assert second > 1.02 * first  # this sample has no tie
        return ["gradient_allreduce", "bytegrad", "decentralized/shift_one"][times.index(first)]

    assert shown == [[best(gbps, latency) for gbps in (1, 10, 100)] for latency in (10, 1000)]
    assert len({name for row in shown for name in row}) > 1


def test_choosing_a_cell_shows_its_setting_below(page):
    show(page, "grid")
    before = page.run("document.querySelector('.experiment:not([hidden]) [data-part=bars] figcaption').textContent")
    page.run("document.querySelector('.experiment:not([hidden]) .map tbody tr:last-child td:last-child').click()")
    after = page.run("document.querySelector('.experiment:not([hidden]) [data-part=bars] figcaption').textContent")
    assert "100 Gbps" in after and "1 ms" in after and before != after


def test_a_series_can_be_hidden_everywhere(page):
    show(page, "sample")
    page.run("document.querySelectorAll('.experiment:not([hidden]) .legend button')[1].click()")
    shown = page.run("""[...document.querySelectorAll('.experiment:not([hidden]) .plot')].filter(p => p.chart)
      .map(p => p.chart.series.slice(1).map(s => [s.label, s.show]))""")
    assert shown and all(visible == (label != "bytegrad") for chart in shown for label, visible in chart)
    assert not page.run("""[...document.querySelectorAll('.experiment:not([hidden]) .map td b')]
      .some(b => b.textContent.includes('bytegrad'))""")


def test_dragging_zooms_and_a_double_click_shows_all_again(page):
    show(page, "sample")
    where = """(() => { const over = document.querySelector('.experiment:not([hidden]) .u-over');
      over.scrollIntoView({block: 'center'}); const r = over.getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; })()"""
    left, top, width, height = page.run(where)
    scale = "(() => { const {min, max} = document.querySelector('.experiment:not([hidden]) .plot').chart.scales.x; return [min, max]; })()"
    whole = page.run(scale)
    page.drag((left + 0.4 * width, top + 0.5 * height), (left + 0.7 * width, top + 0.5 * height))
    wait_until(page, f"{scale}[0] > {whole[0]}")
    low, high = page.run(scale)
    assert whole[0] < low < high < whole[1]
    page.run("""document.querySelector('.experiment:not([hidden]) .u-over')
      .dispatchEvent(new MouseEvent('dblclick', {bubbles: true}))""")
    wait_until(page, f"{scale}[0] === {whole[0]}")


def test_hovering_reads_out_values(page):
    show(page, "sample")
    left, top, width, height = page.run("""(() => { const over = document.querySelectorAll('.experiment:not([hidden]) .u-over')[2];
      over.scrollIntoView({block: 'center'}); const r = over.getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; })()""")
    page.hover((left + 0.06 * width, top + 0.3 * height))
    wait_until(page, "!document.querySelectorAll('.experiment:not([hidden]) .tip')[2].hidden")
    text = page.run("document.querySelectorAll('.experiment:not([hidden]) .tip')[2].textContent")
    assert "1 Gbps" in text and "bytegrad2.60 s" in text
