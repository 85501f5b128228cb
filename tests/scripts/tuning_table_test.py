#!/usr/bin/env python3
"""Tests scripts/tuning_table.py: its verdicts, its check of a page, and a whole table of a program that answers by
rule."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import tuning_table  # noqa: E402

# Ten points that cost 1 to 2. `bayesian` proposes them from the best one on, `random` from the seventh on and `bagua`
# from the worst one on, so that a point within 3 % takes 1, 5 and 10 evaluations.
PROGRAM = """#!/usr/bin/env python3
import json, pathlib, sys
words = sys.argv[1:]
settings = dict(word.split("=", 1) for word in words if word.startswith("/") and "=" in word)
points = [{"/algorithm/bucket": i} for i in range(10)]
if "--ask-tell" not in words:
    folder = pathlib.Path(words[words.index("-o") + 1], settings["/name"])
    folder.mkdir(parents=True)
    tried = [{"point": point, "value": 1 + point["/algorithm/bucket"] / 9} for point in points]
    (folder / "tuning.json").write_text(json.dumps({"tried": tried}))
    sys.exit()
order = {"bayesian": points, "random": points[6:] + points[:6], "bagua": points[::-1]}[settings["/tune/method"]]
for line in sys.stdin:
    count = json.loads(line).get("ask", 0)
    print(json.dumps({"points": order[:count]}), flush=True)
    order = order[count:]
"""
ROW = "| 100 Gbps, 2 ms | vgg16 | 1000 | 1 of 10 | 1, 0.0 % | 5, 0.0 % | 10, 0.0 % | met |"


class Table(unittest.TestCase):
    def table(self, *arguments):
        """The exit code, and the rows that are printed."""
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        program = folder / "program"
        program.write_text(PROGRAM)
        program.chmod(0o700)
        words = ["tuning_table.py", "--trigram", str(program), "-o", str(folder / "results"), "--seeds", "3",
                 "--evaluations", "10", "--networks", "100 Gbps, 2 ms", "--models", "vgg16", *arguments]
        printed = io.StringIO()
        with mock.patch.object(sys, "argv", words), contextlib.redirect_stdout(printed):
            try:
                tuning_table.main()
            except SystemExit as stopped:
                return stopped.code, printed.getvalue()
        return 0, printed.getvalue()

    def test_a_table(self):
        code, printed = self.table()
        self.assertEqual(code, 0)
        self.assertEqual(printed.splitlines()[2], ROW)
        self.assertIn("1 of 1 rows are met", printed)

    def test_a_table_that_a_page_exceeds(self):
        page = Path(self.enterContext(tempfile.TemporaryDirectory())) / "page.md"
        page.write_text(f"Text.\n\n{ROW}\n")
        self.assertEqual(self.table("--check", str(page))[0], 0)
        with mock.patch.object(tuning_table, "verdict", lambda *_: "not met: not fewer than random"):
            self.assertIn("0 of 1 rows are met, but the page says 1", self.table("--check", str(page))[0])
        page.write_text("Text.\n")
        self.assertIn("no row for 100 Gbps, 2 ms, vgg16", self.table("--check", str(page))[0])


class Verdicts(unittest.TestCase):
    def test_a_row_is_met_if_bayesian_is_near_and_first(self):
        medians = {"bayesian": 9, "random": 12, "bagua": 10}
        self.assertEqual(tuning_table.verdict(medians, 0.03), "met")
        self.assertEqual(tuning_table.verdict(medians, 0.031), "not met: a seed misses 3 %")
        self.assertEqual(tuning_table.verdict(medians | {"bayesian": 10}, 0), "not met: not fewer than bagua")

    def test_evaluations_until_near(self):
        self.assertEqual(tuning_table.until_near([2, 1.04, 1.03, 1], 1), 3)
        self.assertEqual(tuning_table.until_near([2, 3], 1), 3)

    def test_the_page_has_a_verdict_for_every_row(self):
        page = (Path(__file__).resolve().parents[2] / "docs" / "tuning.md").read_text()
        self.assertEqual(len(tuning_table.verdicts_on(page)), len(tuning_table.NETWORKS) * len(tuning_table.MODELS))


if __name__ == "__main__":
    unittest.main()
