"""Runs that end at a target loss on held-out data, what tables say of such losses, and advice by them."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

from advice import AdviseTest
from harness import CLUSTER, experiment, needs_simulator, one_tensor_profile
from test_target_accuracy import ASYNCHRONOUS, DETERMINISTIC, TargetTest, not_reached_before

STEPS, EVAL_EVERY, LOSS = 60, 3, 3.0
OPTIMIZER = {"name": "sgd", "lr": 0.1}


def evaluations(lines: list[str]) -> list[tuple[int, float, float]]:
    """(steps made, time, held-out loss) of each evaluation in the lines of metrics.jsonl."""
    records = map(json.loads, lines)
    return [(r["step"] + 1, r["time_s"], r["eval_loss"]) for r in records if "eval_loss" in r]


@needs_simulator
class InTheSimulator(TargetTest):
    def quadratic(self, **changes: Any) -> dict[str, Any]:
        """Least squares, which has no accuracy and no epochs. The loss falls from about 16 to less than 0.1."""
        return experiment(optimizer=OPTIMIZER, steps=STEPS, eval_every=EVAL_EVERY) | changes

    def test_a_run_ends_with_its_first_evaluation_at_or_below_the_loss(self) -> None:
        """The steps until then equal those of the whole run to the last bit, also if some workers are ahead."""
        machine = CLUSTER | {"slow_workers": [{"rank": 1, "factor": 1.5}]}
        algorithms = [*DETERMINISTIC, *ASYNCHRONOUS]
        whole, short = {}, {}
        for manifest in self.run_config(
            self.quadratic(cluster=machine, sweep={"/algorithm": algorithms, "/target_loss": [None, LOSS]})
        ):
            target = manifest["experiment"].pop("target_loss", None)
            (short if target else whole)[json.dumps(manifest["experiment"])] = manifest
        self.assertEqual(len(whole), len(algorithms))
        self.assertEqual(set(whole), set(short))
        for key, manifest in short.items():
            lines, all_lines = self.metrics_lines(manifest), self.metrics_lines(whole[key])
            before, after = [], evaluations(all_lines)
            while after[0][2] > LOSS:
                before.append(after.pop(0))
            steps, time_s, loss = after[0]
            self.assertLess(steps, STEPS, key)
            self.assertEqual(lines, all_lines[:steps], key)
            target = manifest["summary"]["target"]
            self.assertEqual(
                {k: target[k] for k in ("loss", "steps", "epochs", "time_s")},
                {"loss": LOSS, "steps": steps, "epochs": None, "time_s": time_s},
                key,
            )
            missing = [(made, at_s, value - LOSS) for made, at_s, value in [*before, after[0]]]
            after_s = not_reached_before(missing, manifest["summary"].get("cycle_steps", 1))
            if after_s is not None:
                self.assertEqual(target["after_s"], after_s, key)
            self.assertEqual(manifest["summary"]["eval_loss"], loss)
            self.assertIsNone(whole[key]["summary"]["target"])

    def test_tables_reports_and_figures_show_when_it_was_reached(self) -> None:
        path = self.write(self.quadratic(target_loss=LOSS, sweep={"/algorithm": ["gradient_allreduce", "bytegrad"]}))
        printed = self.trigram("run", path, table=True).stdout
        self.assertRegex(printed.splitlines()[2], r" held-out loss .*to loss 3 \(ms\)$")
        self.assertIn("\nloss 3 is reached in the interval shown", printed)
        table = self.trigram("table", self.results, "--csv").stdout
        for row, manifest in zip(csv.DictReader(io.StringIO(table)), self.manifests(), strict=True):
            self.assertEqual(row["algorithm"], manifest["experiment"]["algorithm"]["name"])
            target = manifest["summary"]["target"]
            self.assertAlmostEqual(float(row["to loss 3"]), target["time_s"])
            self.assertAlmostEqual(float(row["to loss 3, from"]), target["after_s"])
            self.assertAlmostEqual(float(row["held-out loss"]), manifest["summary"]["eval_loss"])
        self.trigram("plot", self.results, "-o", "plots")
        stems = {figure.stem for figure in (self.folder / "plots").rglob("*.svg")}
        self.assertLessEqual({"held_out_loss", "time_to_loss"}, stems)
        self.assertFalse({"accuracy", "time_to_accuracy"} & stems)
        self.trigram("report", self.results, "-o", "report.html")
        page = (self.folder / "report.html").read_text()
        self.assertIn("time to held-out loss 3", page)
        self.assertIn('"quality":"loss"', page)

    def test_without_a_target_the_level_is_the_lowest_that_all_runs_reach(self) -> None:
        sweep = {"/algorithm": ["gradient_allreduce", {"name": "local_sgd", "sync_every": 6}]}
        manifests = self.run_config(self.quadratic(sweep=sweep))
        worst = max(min(loss for _, _, loss in evaluations(self.metrics_lines(m))) for m in manifests)
        titles = next(csv.reader(io.StringIO(self.trigram("table", self.results, "--csv").stdout)))
        (title,) = (title for title in titles if re.fullmatch(r"to loss [\d.e-]+", title))
        level = float(title.split()[-1])
        self.assertLessEqual(worst, level)
        self.assertLess(level, worst * 1.01)

    def test_a_run_that_never_reaches_its_target_makes_all_steps(self) -> None:
        table = self.trigram("run", self.write(self.quadratic(target_loss=1e-9)), table=True).stdout
        (manifest,) = self.manifests()
        self.assertEqual(len(self.metrics_lines(manifest)), STEPS)
        self.assertEqual(
            manifest["summary"]["target"],
            {"loss": 1e-9, "steps": None, "epochs": None, "time_s": None, "after_s": None},
        )
        self.assertIn("\n– a held-out loss of 1e-09 is not reached at any evaluation\n", table)

    def test_a_classifier_may_end_at_its_loss(self) -> None:
        (manifest,) = self.run_config(self.config(target_loss=1.0, eval_every=1))
        evaluated = evaluations(self.metrics_lines(manifest))
        self.assertLessEqual(evaluated[-1][2], 1.0)
        self.assertGreater(min(loss for _, _, loss in evaluated[:-1]), 1.0)
        target = manifest["summary"]["target"]
        self.assertEqual((target["loss"], target["steps"]), (1.0, len(evaluated)))
        self.assertEqual(target["epochs"], len(evaluated) / 10, "320 images, 4 workers x batch 8")
        self.assertIn("to loss 1 ", self.trigram("table", self.results).stdout)

    def test_mistakes(self) -> None:
        path = self.write(self.quadratic())
        above_0 = "/target_loss: expected a number above 0, not "
        for settings, message in (
            (
                ["/target_accuracy=0.8"],
                "/target_accuracy: only a classifier has an accuracy; expected target_loss in "
                "its place, because quadratic has a loss on held-out data, or a classifier",
            ),
            (["/target_loss=0"], above_0 + "0"),
            (["/target_loss=-1"], above_0 + "-1"),
            (["/target_loss=1e999"], above_0),
            (["/target_loss=NaN"], above_0 + '"NaN"'),
            (["/target_loss=3", "/eval_every=0"], "/target_loss: is checked when the model is evaluated"),
            (["/target_loss=3", "/workload=bert_large"], "/target_loss: only a workload that learns has a loss"),
            (["/target_loss=3", "/workload/values=false"], "/target_loss: only a workload that learns has a loss"),
        ):
            with self.subTest(settings):
                options = [word for setting in settings for word in ("--set", setting)]
                self.assertIn(message, self.refusal("run", path, *options))
        both = self.write(self.config(target_loss=1.0, target_accuracy=0.8), "both.json")
        self.assertIn(
            "/target_loss: a run ends at one target only; expected target_accuracy or target_loss",
            self.refusal("run", both),
        )


class Advice(AdviseTest):
    def setUp(self) -> None:
        super().setUp()
        self.write(one_tensor_profile(200_000, 0.01, 0.02, accelerator="none"), "one.json")
        self.write({"nodes": 2, "inter": {"bandwidth": "1Gbps", "latency": "1ms"}}, "two.json")
        self.write(
            experiment(
                optimizer=OPTIMIZER,
                steps=STEPS,
                eval_every=1,
                target_loss=0.5,
                sweep={"/algorithm": ["gradient_allreduce", "bytegrad"]},
            ),
            "candidates.json",
        )

    def test_candidates_are_ranked_by_the_time_to_the_loss(self) -> None:
        """The candidates' own target does not count."""
        command = self.command("two", "--range", "1.1", "--target", f"loss={LOSS}")
        advice = self.answer(command)
        self.assertEqual(advice["target"], f"loss={LOSS:g}")
        times = []
        for candidate in advice["candidates"]:
            lines = (self.folder / advice["results"] / candidate["run"] / "metrics.jsonl").read_text().splitlines()
            reached = [time_s for _, time_s, loss in evaluations(lines) if loss <= LOSS]
            self.assertEqual(candidate["time_to_loss_s"], reached[0])
            self.assertNotIn("time_to_accuracy_s", candidate)
            times.append(reached[0])
        self.assertEqual(times, sorted(times))
        self.assertLess(times[0], times[1])
        out = self.trigram(*command).stdout
        self.assertIn("by the time until quadratic has a held-out loss of 3, timed as one", out)
        self.assertIn("  s to loss 3  ", out)
        self.assertIn("best: bytegrad\n", out)
        self.assertIn("warning: times to a loss are those of seed 1 only", out)

    def test_a_loss_that_none_reaches(self) -> None:
        out = self.trigram(*self.command("two", "--range", "1.1", "--target", "loss=1e-9")).stdout
        self.assertIn("no candidate reaches loss=1e-09", out)

    def test_mistakes(self) -> None:
        for target, message in (
            ("loss", "--target: expected a finite loss above 0, as in loss=0.8, not"),
            ("loss=0", "--target: expected a finite loss above 0"),
            ("loss=NaN", "--target: expected a finite loss above 0"),
            ("los=1", 'did you mean "loss"?'),
            ("accuracy=0.5", "expected target_loss in its place, because quadratic has a loss on held-out data"),
        ):
            with self.subTest(target):
                self.assertIn(message, self.refusal(*self.command("two", "--target", target)))
