"""The figures that `trigram plot` writes on request: chosen ones, at the width of a paper's column."""

import itertools
import re
import subprocess
import sys
from pathlib import Path

import pytest
import synthetic
from trigram_analysis import units
from trigram_analysis.__main__ import main

PACKAGE = Path(__file__).parents[1]


def plot(folder, *options):
    """Runs in a process of its own, because a width changes the style of all figures that are made after it."""
    return subprocess.run([sys.executable, "-m", "trigram_analysis", "plot", str(folder), *options],
                          capture_output=True, text=True, env={"PYTHONPATH": str(PACKAGE)})


def sizes(folder):
    found = {}
    for svg in folder.glob("*.svg"):
        text = svg.read_text()
        found[svg.stem] = tuple(float(re.search(rf'<svg[^>]*?{side}="([0-9.]+)pt"', text, re.DOTALL)[1]) / 72
                                for side in ("width", "height"))
    return found


def test_only_the_chosen_figures_and_formats_are_written(sweep):
    done = plot(sweep, "--figure=step_time", "--figure=timeline", "--format=pdf")
    assert (done.returncode, done.stderr) == (0, "")
    assert {p.name for p in (sweep / "plots").iterdir()} == {"step_time.pdf", "timeline.pdf"}


def test_all_figures_have_exactly_the_width_and_fit_a_page(sweep):
    assert plot(sweep, "--format=svg", "--width=85mm").returncode == 0
    found = sizes(sweep / "plots")
    assert len(found) == 7
    for name, (width, height) in found.items():
        assert width == pytest.approx(85 / 25.4, abs=0.02), name
        assert height < 8, name


def test_many_panels_are_put_below_each_other(tmp_path):
    for a, gbps, latency in itertools.product(range(3), (1, 10, 100), (10, 100, 1000, 10000)):
        synthetic.write_timing(tmp_path / "grid", a, gbps, latency)
    assert plot(tmp_path / "grid", "--format=svg", "--figure=step_time", "--width=3.35in").returncode == 0
    assert plot(tmp_path / "grid", "--format=svg", "--figure=step_time", "-o", str(tmp_path / "wide")).returncode == 0
    (narrow, tall), (wide, low) = sizes(tmp_path / "grid" / "plots")["step_time"], sizes(tmp_path / "wide")["step_time"]
    assert narrow == pytest.approx(3.35, abs=0.02) and wide > 10 and tall > low


@pytest.mark.parametrize("options, message", [
    (["--figure", "pie"], "no figure 'pie'; expected one of winner_map"),
    (["--figure", "tuning"], "the results have no data for tuning"),
    (["--width", "85"], "expected a length from 1in to 40in, such as 85mm"),
    (["--width", "0mm"], "found '0mm'"),
    (["--width", "1.2.3in"], "found '1.2.3in'"),
])
def test_wrong_options_are_one_line(sweep, capsys, options, message):
    assert main(["plot", str(sweep), *options]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert not list(sweep.glob("plots/*"))


def test_lengths():
    assert units.length_in("25.4mm") == units.length_in("2.54cm") == units.length_in("1in") == pytest.approx(1)
    assert units.length_in("3 apples") is None
