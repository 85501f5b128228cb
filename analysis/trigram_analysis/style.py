"""The look of figures: one colour and marker per algorithm, readable on light and dark pages."""

from __future__ import annotations

import matplotlib

matplotlib.rcdefaults()  # ignores any matplotlibrc in the current folder
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (after the choice of backend)
from matplotlib.artist import Artist  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.axis import Axis  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.ticker import FuncFormatter  # noqa: E402
from matplotlib.transforms import Bbox  # noqa: E402

from . import appearance  # noqa: E402

# First Okabe and Ito's palette for colour-blind readers, without black and yellow: black vanishes on dark pages, yellow
# on light pages. Then six colours that are as far as possible from these and from each other, in Oklab, for normal
# vision, protanopia and deuteranopia (by the matrices of Machado et al., 2009), with a contrast of 2.6 to white.
_COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9",
            "#601800", "#0000C0", "#7818F0", "#606048", "#003048", "#783078"]
_MARKERS = ["o", "s", "^", "D", "v", "P", "*", "X", "<", ">", "d", "p"]
_LINES = ["-", "--", "-.", ":"]

KIND_COLOURS = {"compute": "#56B4E9", "encode": "#E69F00", "intra": "#009E73", "inter": "#D55E00",
                "transfer": "#D55E00", "wait": "#C4C9CF", "delay": "#CC79A7"}
# Hatches tell the kinds apart in black and white, too.
KIND_HATCHES = {"compute": "", "encode": "xxxx", "intra": "....", "inter": "////",
                "transfer": "////", "wait": "", "delay": "++"}

INK = "#1f2328"  # text and axes; a page replaces it by its own text colour
_GRID = "#8c959f"

plt.rcParams.update({
    "axes.axisbelow": True,
    "axes.edgecolor": INK,
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.labelsize": 10,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10,
    "font.size": 9.5,
    "grid.alpha": 0.3,
    "grid.color": _GRID,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "lines.markersize": 5.5,
    "savefig.facecolor": "none",
    "savefig.pad_inches": 0.08,
    "svg.fonttype": "none",
    "svg.hashsalt": "trigram",
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
})


class Styles(appearance.Appearances):
    """The appearance of algorithms as values for matplotlib."""

    def colour(self, algorithm: str) -> str:
        return _COLOURS[self.appearance(algorithm)[0]]

    def line(self, algorithm: str) -> dict[str, object]:
        """Keyword arguments for Axes.plot."""
        colour, marker, line = self.appearance(algorithm)
        return {"color": _COLOURS[colour], "marker": _MARKERS[marker], "linestyle": _LINES[line]}


_width_in: float | None = None  # the width of all figures, in inches, if it is given
_PAPER_TEXT = {"font.size": 7, "axes.labelsize": 7, "axes.titlesize": 7, "lines.linewidth": 1.1,
               "lines.markersize": 3.5}
_LEAST_PANEL_IN = 1.6  # the least width of a panel beside another one
_LINE_OF_TEXT = 0.74  # the height of a line of text in narrow figures, relative to other figures
_LETTER_IN = 0.055  # the mean width of a letter in narrow figures


def set_width(inches: float) -> None:
    """Makes all figures this wide, for the columns of papers, with text of 7 points."""
    global _width_in
    _width_in = inches
    plt.rcParams.update(_PAPER_TEXT)


def width_of(usual: float) -> float:
    """The width of a figure that usually has the width `usual`, in inches."""
    return _width_in or usual


def letters_in(inches: float, usual: int) -> int:
    """How many letters fit a width in narrow figures; `usual` in other figures."""
    return max(int(inches / _LETTER_IN), 8) if _width_in else usual


def small_text() -> float:
    """The size of small text, in points."""
    return 0.85 * plt.rcParams["font.size"]


def figure(rows: int = 1, columns: int = 1, width: float = 8.0, height: float = 3.6, lines: bool = False,
           **options: object) -> tuple[Figure, list[Axes]]:
    """A figure of `rows` x `columns` axes, as a flat list. If the width of figures is given, a row of panels may become
    several rows. `lines`: the height is that of lines of text, which does not shrink with the width."""
    panels = rows * columns
    if _width_in:
        shown = max(min(columns, int(_width_in / _LEAST_PANEL_IN)), 1)
        scale = (_width_in / shown) / (width / columns)
        height *= (_LINE_OF_TEXT if lines else min(max(scale, 0.5), 1)) * -(-panels // shown) / rows
        rows, columns = -(-panels // shown), shown
    fig, axes = plt.subplots(rows, columns, figsize=(_width_in or width, height), squeeze=False,
                             layout="constrained", **options)
    for unused in list(axes.flat)[panels:]:
        unused.remove()
    return fig, list(axes.flat)[:panels]


def legend_above(fig: Figure, axes: Axes, handles: list[Artist] | None = None) -> None:
    """Draws one legend above all axes, where it covers no data. By default, it has the entries of `axes`."""
    handles = handles or axes.get_legend_handles_labels()[0]
    if handles:
        longest = max(len(str(handle.get_label())) for handle in handles)
        columns = max(int(fig.get_figwidth() / (longest * _LETTER_IN + 0.5)), 1) if _width_in else 4
        fig.legend(handles=handles, loc="lower left", bbox_to_anchor=(0.0, 1.0),
                   ncols=min(len(handles), columns), frameon=False, labelcolor=INK)


def time_axis(axis: Axis, label: str) -> None:
    """Labels an axis of seconds, in the unit that suits its upper end. Call it after drawing."""
    largest = max(axis.get_view_interval())
    factor, unit = (1, "s") if largest >= 1 else (1e3, "ms") if largest >= 1e-3 else (1e6, "µs")
    axis.set_label_text(f"{label} ({unit})")
    axis.set_major_formatter(FuncFormatter(lambda seconds, _: f"{seconds * factor:g}"))


def save(fig: Figure, path: str) -> None:
    """Saves a figure for other documents, on white."""
    box: object = "tight"
    if _width_in:  # the height follows from the content, and the width is exactly the one that was asked for
        fig.draw_without_rendering()
        content = fig.get_tightbbox()
        box = Bbox([[0.0, content.y0 - 0.03], [_width_in, content.y1 + 0.03]])
    fig.savefig(path, dpi=300 if _width_in else 130, facecolor="white", bbox_inches=box,
                metadata={"Date": None} if path.endswith(".svg") else
                {"CreationDate": None} if path.endswith(".pdf") else None)
