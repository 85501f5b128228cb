"""The commands report, plot and table."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import unittest
import unittest.mock

from harness import SOURCE, CommandTest, experiment, needs_simulator


class Reports(CommandTest):
    SWEEP = {"/algorithm": ["gradient_allreduce", "bytegrad"],
             "/cluster/inter/bandwidth": ["1Gbps", "10Gbps"]}

    def setUp(self) -> None:
        super().setUp()
        self.run_config(experiment(sweep=self.SWEEP))

    def test_the_command_of_a_report_makes_its_runs_again(self) -> None:
        self.trigram("report", self.results, "-o", self.folder / "page.html")
        page = (self.folder / "page.html").read_text()
        data = re.search(r'<script type="application/json">(.*?)</script>', page, re.DOTALL)
        assert data is not None
        self.assertEqual(len(json.loads(data[1])["points"]), 4)
        command = re.search(r'data-copy="(cat &gt; test.json.*?)"', page, re.DOTALL)
        assert command is not None
        shell = command[1].replace("&gt;", ">").replace("&lt;", "<").replace("&#x27;", "'")
        before = self.done()
        script = shell.replace("&quot;", '"').replace("\ntrigram run test.json", "")
        (self.folder / "test.json").unlink()
        subprocess.run(["bash", "-ec", script], cwd=self.folder, check=True)
        self.trigram("run", "test.json", "-o", "again")
        again = {path.parent.name for path in (self.folder / "again").glob("test/*/DONE")}
        self.assertEqual(again, before)

    def test_figures_for_papers(self) -> None:
        self.trigram("plot", self.results, "-o", self.folder / "plots")
        names = {path.name for path in (self.folder / "plots").iterdir()}
        self.assertLessEqual({"winner_map.png", "step_time.svg", "timeline.pdf"}, names)

    def test_chosen_figures_at_the_width_of_a_column(self) -> None:
        done = self.trigram("plot", self.results, "--figure", "step_time,winner_map", "--format", "svg",
                            "--width", "85mm", "-o", self.folder / "plots")
        self.assertEqual({path.name for path in (self.folder / "plots").iterdir()},
                         {"step_time.svg", "winner_map.svg"})
        self.assertEqual(len(done.stdout.splitlines()), 2)
        text = (self.folder / "plots" / "step_time.svg").read_text()
        width = re.search(r'<svg[^>]*? width="([0-9.]+)pt"', text, re.DOTALL)
        assert width is not None
        self.assertAlmostEqual(float(width[1]) / 72 * 25.4, 85, delta=0.5)
        for option, value in (("--width", "85"), ("--figure", "pie"), ("--format", "gif")):
            self.trigram("plot", self.results, option, value, code=2)

    def test_tables_as_csv(self) -> None:
        rows = list(csv.DictReader(io.StringIO(self.trigram("table", self.results, "--csv").stdout)))
        self.assertEqual([row["algorithm"] for row in rows],
                         ["gradient_allreduce", "bytegrad"] * 2)
        self.assertIn("speed-up", self.trigram("table", self.results).stdout)

    @needs_simulator
    def test_published_values_are_compared_with_simulated_values(self) -> None:
        config = SOURCE / "configs" / "papers" / "bert_large_bandwidth.json"
        planned = self.trigram("run", config, "--dry-run").stdout.splitlines()
        wanted = [line.split()[0] for line in planned if re.search(r"rate=1Gbps$", line)
                  and re.search(r"pytorch_ddp|decentralized_shift_one", line)]
        self.assertEqual(len(wanted), 2, planned)
        self.trigram("run", config, "-o", "papers", "--no-table", "--only", wanted[0],
                     "--only", wanted[1])
        checked = self.trigram("report", "papers", "--check", code=3).stdout
        for published, name in (("2,590", "pytorch_ddp"), ("1,500", "decentralized")):
            row = next(line.split() for line in checked.splitlines()
                       if line.split()[:3] == ["1", name, published])
            self.assertLess(abs(float(row[4]) - 1), 0.05, row)
        self.assertIn("missed: 62 of 64 cells have no run", checked)
        self.assertIn("What was published", (self.folder / "papers" / "report.html").read_text())
        self.assertIn("no run here of an experiment",
                      self.trigram("report", self.results, "--check", code=2).stderr)

    def test_runs_before_and_after_an_edit_of_a_profile_are_distinguished(self) -> None:
        """The experiment names the file only by its path."""
        profile = "# name: mine\n# accelerator: V100\n# batch: 8\ntensor,numel,forward_s,backward_s\na,1000000,{0},{0}\n"
        path = self.write(experiment(workload="profile:mine.csv", eval_every=0, steps=3,
                                     sweep={"/algorithm": ["gradient_allreduce", "bytegrad"]}), "edited.json")
        for seconds in (0.1, 0.01):
            self.write(profile.format(seconds), "mine.csv")
            own = self.trigram("run", path, table=True).stdout
        self.assertRegex(own, r"step \(ms\)[^\0]*\ngradient_allreduce +2\d\.\d+ ")  # only runs with the present content
        manifests = [json.loads(p.read_text()) for p in (self.folder / "results" / "edited").glob("*/manifest.json")]
        digests = {digest for manifest in manifests for digest in manifest["inputs"].values()}
        self.assertEqual({file for m in manifests for file in m["inputs"]}, {str(self.folder.resolve() / "mine.csv")})
        self.assertEqual((len(manifests), len(digests)), (4, 2))
        table = self.trigram("table", "results/edited").stdout
        for digest in digests:
            self.assertIn(f"mine.csv {digest[:7]}", table)
        self.assertNotIn("seeds", table)

    def test_modules_of_the_current_folder_are_not_run(self) -> None:
        """Somebody else may have put modules into a folder of results, or into a folder that anyone can write to."""
        touch = f"open({str(self.folder / 'PWNED')!r}, 'w')\n"
        (self.folder / "trigram_analysis").mkdir()
        for name in ("statistics", "pandas", "sitecustomize", "trigram_analysis/__init__", "trigram_analysis/__main__"):
            (self.folder / f"{name}.py").write_text(touch)
        for path in ("", ":", ".", f"{self.folder.parent}:", "::"):
            with unittest.mock.patch.dict(os.environ, {"PYTHONPATH": path}):
                for command in ("table", "report", "plot"):
                    self.trigram(command, "results/test")
            self.assertFalse((self.folder / "PWNED").exists(), path)

    def test_folders_without_results_are_bad_input(self) -> None:
        (self.folder / "empty").mkdir()
        for command in ("report", "plot", "table"):
            self.assertIn("no finished run", self.trigram(command, "empty", code=2).stderr)
            self.assertIn("folder of results", self.trigram(command, "absent", code=2).stderr)
