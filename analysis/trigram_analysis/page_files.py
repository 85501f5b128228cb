"""Assembles the page from its own files: template, style, scripts, and the library of its charts."""

from __future__ import annotations

import re
from pathlib import Path
from string import Template

_PAGE = Path(__file__).with_name("page")
# A module imports only from modules before it.
MODULES = ("dom", "format", "appearance", "view", "copy", "tables", "winner_map", "scales", "chart", "settings",
           "sweep_charts", "front", "progress_charts", "bars", "timeline", "contents", "main")
# Where scripts/setup installs uPlot, or `cmake --install` puts it.
_LIBRARY = Path(__file__).parents[1] / "node_modules" / "uplot"
_IMPORT = re.compile(r"^import (\{.*?\}) from \"\./([a-z_]+)\.js\";$", re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:function|class|const) (\w+))", re.MULTILINE)


def page(title: str, body: str) -> str:
    template = Template((_PAGE / "template.html").read_text(encoding="utf-8"))
    return template.substitute(title=title, body=body, style=library_style() + _read("report.css"),
                               library=chart_script(), script=script())


def script() -> str:
    """The modules in one script. Each module becomes a function that returns what the module exports."""
    return "const modules = {};\n" + "\n".join(_module(name) for name in MODULES)


def _module(name: str) -> str:
    text = _read(f"{name}.js")
    exported = ", ".join(found[2] for found in _EXPORT.finditer(text))
    text = _EXPORT.sub(r"\1", _IMPORT.sub(r"const \1 = modules.\2;", text))
    return f"modules.{name} = (() => {{\n{text}\nreturn {{{exported}}};\n}})();"


def chart_script() -> str:
    """uPlot with its licence; empty if it is not installed, and then the page says so."""
    source, licence = _LIBRARY / "dist" / "uPlot.iife.min.js", _LIBRARY / "LICENSE"
    if not source.is_file():
        return ""
    text = licence.read_text(encoding="utf-8") if licence.is_file() else ""
    return f"/* uPlot\n{text}*/\n{source.read_text(encoding='utf-8')}"


def library_style() -> str:
    path = _LIBRARY / "dist" / "uPlot.min.css"
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _read(name: str) -> str:
    return (_PAGE / name).read_text(encoding="utf-8")
