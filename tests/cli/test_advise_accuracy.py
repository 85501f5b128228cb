"""Advice on times to an accuracy: the intervals between evaluations, and ties of intervals that overlap."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path
from typing import Any

from advice import AdviseTest
from harness import one_tensor_profile

CLUSTER = {"nodes": 2, "inter": {"bandwidth": "1Gbps", "latency": "1ms"}}
PROFILE = one_tensor_profile(200_000, 0.01, 0.02, accelerator="none")
# Both need the same number of steps to an accuracy, but the steps of ALLREDUCE take longer.
BYTEGRAD, ALLREDUCE = "bytegrad", "gradient_allreduce"
SLOWMO = {"name": "slowmo", "sync_every": 12}
CANDIDATES = {
    "cluster": CLUSTER,
    "workload": "bert_large",
    "optimizer": {"name": "sgd", "lr": 0.05, "momentum": 0.5},
    "steps": 40,
    "until_steady": True,
}


IMAGES = Path("/usr/share/datasets/fashion-mnist")


def write_few_images(folder: Path) -> None:
    """Writes a tenth of the images into a folder, since every run reads and evaluates all of them."""
    for kind, count in (("train", 6000), ("t10k", 1000)):
        for name, header, size in ((f"{kind}-images-idx3-ubyte.gz", 16, 28 * 28), (f"{kind}-labels-idx1-ubyte.gz", 8, 1)):
            with gzip.open(IMAGES / name) as file:
                data = bytearray(file.read(header + count * size))
            data[4:8] = struct.pack(">i", count)
            (folder / name).write_bytes(gzip.compress(data, 1))


class AdviseAccuracy(AdviseTest):
    def command(self, cluster: str, *more: str) -> list[str]:
        return super().command(cluster, *more, "--set", f"/workload/data={self.folder}")

    def setUp(self) -> None:
        super().setUp()
        write_few_images(self.folder)
        self.write(PROFILE, "one.json")
        self.write(CLUSTER, "two.json")

    def arguments(self, accuracy: float, *algorithms: Any) -> list[str]:
        self.write(CANDIDATES | {"sweep": {"/algorithm": algorithms}}, "candidates.json")
        return self.command("two", "--range", "1.1", "--target", f"accuracy={accuracy}")

    def advise(self, accuracy: float, *algorithms: Any, more: tuple[str, ...] = ()) -> dict[str, dict[str, Any]]:
        self.advice = self.answer([*self.arguments(accuracy, *algorithms), *more])
        return {c["algorithm"]: c for c in self.advice["candidates"]}

    def test_models_are_evaluated_after_every_step(self) -> None:
        found = self.advise(0.5, ALLREDUCE)[ALLREDUCE]
        self.assertAlmostEqual(found["time_to_accuracy_s"] - found["after_s"], found["step_s"], places=4)

    def test_a_run_that_ends_before_the_first_reaches_the_accuracy_is_not_compared(self) -> None:
        """The steps of BYTEGRAD are shorter, so its run ends first. It learns too slowly here to reach the accuracy."""
        slow = [{"/algorithm": ALLREDUCE, "/optimizer/lr": 0.01}, {"/algorithm": BYTEGRAD, "/optimizer/lr": 0.0005}]
        self.write(CANDIDATES | {"zip": slow}, "candidates.json")
        out = self.trigram(*self.command("two", "--range", "1.1"), "--target", "accuracy=0.7", "--set", "/steps=30").stdout
        self.assertRegex(
            out,
            "not compared: bytegrad lr=0.0005: had not reached the accuracy when its run of 30 steps ended after 1.01 s; "
            "the first candidate .*--set /steps=60 makes runs long enough")
        self.assertIn(f"best: {ALLREDUCE}", out)

    def test_options_that_do_not_change_what_is_learned_are_named(self) -> None:
        self.write(CANDIDATES | {"sweep": {"/algorithm": [ALLREDUCE]}}, "candidates.json")
        command = [*self.command("two", "--range", "1.1"), "--target", "accuracy=0.3"]
        self.assertIn("warning: /steps of candidates.json is ignored: runs that train fashion_mnist have 200 steps",
                      self.trigram(*command).stdout)
        out = self.trigram(*command, "--batch", "8", "--set", "/steps=60").stdout
        self.assertIn("warning: --batch 8 only sets the time of a step: fashion_mnist is trained with its own", out)
        self.assertNotIn("/steps of", out)

    def test_evaluation_steps_that_are_set_are_kept(self) -> None:
        found = self.advise(0.5, ALLREDUCE, more=("--set", "/eval_every=10"))[ALLREDUCE]
        self.assertAlmostEqual(found["time_to_accuracy_s"], 10 * found["step_s"], places=3)
        self.assertAlmostEqual(found["after_s"], found["step_s"], places=3, msg="before the first step ends, no model has learned")
        self.assertTrue(found["coarse"])

    def test_intervals_that_overlap_tie(self) -> None:
        by_name = self.advise(0.5, ALLREDUCE, BYTEGRAD)
        full, coded = by_name[ALLREDUCE], by_name[BYTEGRAD]
        self.assertLess(coded["time_to_accuracy_s"] * 1.01, full["time_to_accuracy_s"])
        self.assertLess(full["after_s"], coded["time_to_accuracy_s"])
        self.assertTrue(self.advice["tie"])
        self.assertEqual([full["tied"], coded["tied"]], [True, True])
        self.assertEqual([full["behind"], coded["behind"]], [None, None])
        out = self.trigram(*self.arguments(0.5, ALLREDUCE, BYTEGRAD)).stdout
        self.assertIn(f"tie, as far as evaluations tell: {BYTEGRAD} ~; {ALLREDUCE} ~\n", out)
        self.assertNotIn("% behind", out)
        self.assertIn("~ coarse: an interval longer than a fifth of its end", out)

    def test_advice_and_table_show_the_same_intervals(self) -> None:
        by_name = self.advise(0.5, ALLREDUCE, BYTEGRAD)
        out = self.trigram(*self.arguments(0.5, ALLREDUCE, BYTEGRAD)).stdout
        table = self.trigram("table", self.advice["results"]).stdout
        for found in by_name.values():
            ends = found["after_s"], found["time_to_accuracy_s"]
            self.assertIn("{:.3g}–{:.3g} ~".format(*ends), out)
            in_ms = "{:.3g}–{:.3g} ~".format(*(1e3 * end for end in ends))
            self.assertRegex(table, rf"{found['algorithm']} .* {in_ms} \*")

    def test_a_target_reached_at_the_first_evaluation_gives_a_bound(self) -> None:
        by_name = self.advise(0.1, ALLREDUCE, BYTEGRAD, more=("--set", "/eval_every=10"))
        self.assertTrue(self.advice["tie"])
        out = self.trigram(*self.arguments(0.1, ALLREDUCE, BYTEGRAD), "--set", "/eval_every=10").stdout
        ends = by_name[BYTEGRAD]["after_s"], by_name[BYTEGRAD]["time_to_accuracy_s"]
        self.assertIn("{:.4f}–{:.3f} ~ ".format(*ends), out)
        table = self.trigram("table", self.advice["results"]).stdout
        self.assertRegex(table, rf"{BYTEGRAD} .* {1e3 * ends[0]:.1f}–{1e3 * ends[1]:.0f} ~ \*")

    def test_a_target_reached_in_the_first_step_has_an_exact_time(self) -> None:
        by_name = self.advise(0.02, ALLREDUCE, BYTEGRAD)
        for found in by_name.values():
            self.assertEqual(found["after_s"], found["time_to_accuracy_s"])
        self.assertFalse(self.advice["tie"])
        self.assertGreater(by_name[ALLREDUCE]["behind"], 0.1)

    def test_intervals_that_do_not_overlap_are_ranked(self) -> None:
        by_name = self.advise(0.75, BYTEGRAD, ALLREDUCE)
        self.assertFalse(self.advice["tie"])
        self.assertGreater(by_name[ALLREDUCE]["after_s"], by_name[BYTEGRAD]["time_to_accuracy_s"])
        self.assertGreater(by_name[ALLREDUCE]["behind"], 0.1)
        self.assertFalse(by_name[BYTEGRAD]["coarse"])

    def test_a_target_reached_before_the_first_average_counts_at_the_average(self) -> None:
        found = self.advise(0.3, BYTEGRAD, SLOWMO)["slowmo"]
        self.assertIsNone(found["not_compared"])
        self.assertAlmostEqual(found["time_to_accuracy_s"], 12 * found["step_s"], places=3)
        self.assertEqual(found["after_s"], found["time_to_accuracy_s"], "there is no common model before")
        self.assertFalse(self.advice["tie"])
        self.assertGreater(found["behind"], 0.5)

    def test_candidates_that_may_be_earlier_than_the_best_are_named(self) -> None:
        few = ("--set", "/eval_every=10")
        by_name = self.advise(0.3, ALLREDUCE, SLOWMO, more=few)
        full, exact = by_name[ALLREDUCE], by_name["slowmo"]
        self.assertLess(full["after_s"], exact["time_to_accuracy_s"])
        self.assertLess(exact["time_to_accuracy_s"], full["time_to_accuracy_s"])
        out = self.trigram(*self.arguments(0.3, ALLREDUCE, SLOWMO), *few).stdout
        self.assertRegex(out, f"best as far as evaluations tell: slowmo.*; may be earlier: {ALLREDUCE}.* ~; "
                              "--set /eval_every=1 tells")

    def test_a_target_reached_in_a_warm_up_is_not_compared(self) -> None:
        post = {"name": "post_local_sgd", "switch_step": 30, "sync_every": 4}
        found = self.advise(0.3, ALLREDUCE, post)["post_local_sgd"]
        self.assertRegex(found["not_compared"], "made [0-9]+ steps, all of its warm-up of 30")
        self.assertIsNone(found["time_to_accuracy_s"])
        self.assertFalse(found["tied"])
        self.assertEqual(self.advice["candidates"][0]["algorithm"], ALLREDUCE)
        out = self.trigram(*self.arguments(0.3, ALLREDUCE, post)).stdout
        self.assertIn("all of its warm-up of 30; a higher accuracy takes more steps\n", out)

    def test_rates_of_runs_that_are_too_short_are_marked(self) -> None:
        short = self.advise(0.3, ALLREDUCE, "dsgd_aau")["dsgd_aau"]
        why = short["rates_not_compared"]
        self.assertRegex(why, "made [0-9] of the 10 steps of 10 exchanges")
        self.assertIsNone(short["not_compared"])
        out = self.trigram(*self.arguments(0.3, ALLREDUCE, "dsgd_aau")).stdout
        self.assertRegex(out, r"dsgd_aau .* \d+\.\d\d ‡ +\d+ ‡ ")
        self.assertIn(f"‡ dsgd_aau: its step and samples/s are not those of the long run: it {why}\n", out)
        self.assertRegex(out, rf"{ALLREDUCE} .* \d+\.\d\d +\d+ +")
