"""Figures of experiments whose settings have long names, or many values."""

import papers
import pytest
from trigram_analysis import plots
from trigram_analysis.comparison import Comparison


def figure(name, wanted):
    comparison = Comparison(name, papers.runs(papers.CONFIGS / f"{name}.json"))
    for stem, _, fig in plots.figures(comparison):
        if stem == wanted:
            fig.draw_without_rendering()
            yield fig


def gaps(boxes):
    return [right.x0 - left.x1 for left, right in zip(boxes, boxes[1:])]


@pytest.mark.parametrize("name", ["bagua_net_allreduce", "tasks_latency", "slow_worker"])
def test_titles_of_panels_leave_the_next_ones_free(name):
    for fig in figure(name, "step_parts"):
        assert len(fig.axes) > 1
        titles = [ax._left_title for ax in fig.axes]
        assert min(gaps([title.get_window_extent() for title in titles])) > 0


def test_ticks_of_many_sizes_do_not_overlap():
    for fig in figure("bagua_net_allreduce", "step_time"):
        for ax in fig.axes:
            labels = [text for text in ax.get_xticklabels() if text.get_text()]
            assert len(labels) > 3
            assert min(gaps([text.get_window_extent() for text in labels])) > 0


def test_bars_with_long_names_have_room():
    for fig in figure("ablation", "step_time"):
        (ax,) = fig.axes
        assert ax.get_window_extent().width > 0.3 * fig.bbox.width
