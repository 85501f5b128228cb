"""The notebook of examples/notebook: its code cells run one after another."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import unittest

from harness import SOURCE, TRIGRAM, CommandTest, needs_simulator

NOTEBOOK = SOURCE / "examples" / "notebook" / "which_algorithm.ipynb"
# Prints the value of a cell's last line, as a notebook does.
SHOWING = """
import ast, json, sys
names = {}
for number, text in enumerate(json.load(sys.stdin)):
    cell = ast.parse(text)
    shown = ast.Expression(cell.body.pop().value) if isinstance(cell.body[-1], ast.Expr) else None
    exec(compile(cell, f"cell {number}", "exec"), names)
    if shown and (value := eval(compile(shown, f"cell {number}", "eval"), names)) is not None:
        print(value)
"""


@needs_simulator
@unittest.skipUnless(importlib.util.find_spec("pandas") and importlib.util.find_spec("matplotlib"),
                     "pandas and matplotlib are not installed")
class Notebook(CommandTest):
    def test_all_cells_run(self) -> None:
        cells = json.loads(NOTEBOOK.read_text())["cells"]
        self.assertEqual([c["outputs"] for c in cells if c["cell_type"] == "code" and c["outputs"]], [])
        code = ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]
        environment = os.environ | {"PYTHONPATH": str(SOURCE / "experiments" / "python"), "TRIGRAM": str(TRIGRAM),
                                    "MPLBACKEND": "agg", "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run([sys.executable, "-c", SHOWING], input=json.dumps(code), env=environment,
                              cwd=self.folder, capture_output=True, text=True, timeout=200)
        self.assertEqual(done.returncode, 0, done.stderr)
        for found in ("25 Gbps", "decentralized/shift_one", "powersgd", "with another "):
            self.assertIn(found, done.stdout)


if __name__ == "__main__":
    unittest.main()
