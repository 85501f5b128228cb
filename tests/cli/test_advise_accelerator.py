"""Layer times that were measured on another accelerator than the cluster's, in advice, runs and tables."""

from __future__ import annotations

import json
from typing import Any

from advice import AdviseTest

# A layer that computes at the peak rate for half of its time.
PROFILE = {
    "name": "one",
    "accelerator": "P100",
    "flops": "10TFLOP/s",
    "memory_bandwidth": "500GB/s",
    "batch": 4,
    "tensors": [
        {
            "tensor": "w",
            "numel": 1_000_000,
            "forward_s": 0.02,
            "backward_s": 0.04,
            "forward_flops": 100_000_000_000,
            "backward_flops": 200_000_000_000,
        }
    ],
}
A100 = {"name": "A100", "flops": "100TFLOP/s", "memory_bandwidth": "1000GB/s"}
CLUSTER = {
    "nodes": 8,
    "inter": {"bandwidth": "1Gbps", "latency": "50us"},
    "accelerator": {"name": "P100", "flops": "10TFLOP/s", "memory_bandwidth": "500GB/s"},
}
CANDIDATES = {
    "cluster": CLUSTER,
    "workload": "bert_large",
    "steps": 20,
    "until_steady": True,
    "sweep": {"/algorithm": ["gradient_allreduce", "bytegrad"]},
}
COMPUTED_S = 0.06
SCALED_S = 0.03 / 10 + 0.03 / 2
LEAST_S, MOST_S = COMPUTED_S / 10, COMPUTED_S / 2


class TargetAccelerator(AdviseTest):
    def setUp(self) -> None:
        super().setUp()
        self.write(PROFILE, "one.json")
        self.write(CANDIDATES, "candidates.json")

    def arguments(self, accelerator: dict[str, Any], *more: str) -> list[str]:
        self.write(CLUSTER | {"accelerator": accelerator}, "eight.json")
        return self.command("eight", "--range", "2", *more)

    def advise(self, accelerator: dict[str, Any], *more: str) -> dict[str, Any]:
        return self.answer(self.arguments(accelerator, *more))

    def computed_s(self, advice: dict[str, Any]) -> float:
        folder = self.folder / advice["results"] / advice["candidates"][0]["run"]
        return json.loads((folder / "manifest.json").read_text())["summary"]["compute_s"]

    def experiment(self, **changes: Any) -> dict[str, Any]:
        workload = {"name": "profile", "path": "one.json"} | changes
        cluster = CLUSTER | {"accelerator": A100}
        return {"cluster": cluster, "algorithm": "bytegrad", "workload": workload, "steps": 2}

    def test_layers_take_the_time_of_the_clusters_accelerator(self) -> None:
        own = self.advise(CLUSTER["accelerator"])  # type: ignore[arg-type]
        self.assertEqual((own["warnings"], own["assumed"]), ([], []))
        self.assertNotIn("step_time", {flip["quantity"] for flip in own["flips"]})
        other = self.advise(A100)
        self.assertAlmostEqual(
            self.computed_s(own) - self.computed_s(other), COMPUTED_S - SCALED_S, delta=1e-3
        )
        self.assertEqual(other["warnings"], [])
        (assumption,) = other["assumed"]
        self.assertIn("measured on P100 (10 TFLOP/s, 500 GB/s); on A100", assumption)
        self.assertIn("to last 18 ms instead of 60 ms", assumption)
        self.assertIn("6 to 30 ms", assumption)
        self.assertIn("give --step-time to say otherwise", assumption)

    def test_the_order_is_searched_at_both_ends_of_the_uncertainty(self) -> None:
        flips = [f for f in self.advise(A100)["flips"] if f["quantity"] == "step_time"]
        limits = {f["direction"]: f["limit_s"] for f in flips}
        self.assertAlmostEqual(limits["down"], LEAST_S, places=6)
        self.assertAlmostEqual(limits["up"], MOST_S, places=6)
        out = self.trigram(*self.arguments(A100)).stdout
        self.assertRegex(out, r"a step's computation +18 ms +(down to|below) \d")

    def test_a_measured_step_is_not_scaled(self) -> None:
        slow = self.advise(A100, "--step-time", "51ms")
        fast = self.advise(A100, "--step-time", "5ms", "--batch", "64")
        self.assertAlmostEqual(self.computed_s(slow) - self.computed_s(fast), 0.046, places=6)
        for advice in (slow, fast):
            self.assertEqual((advice["warnings"], advice["assumed"]), ([], []))
            self.assertNotIn("step_time", {flip["quantity"] for flip in advice["flips"]})
        rates = [advice["candidates"][0] for advice in (slow, fast)]
        samples = [round(c["samples_per_s"] * c["step_s"]) for c in rates]
        self.assertEqual(samples, [8 * 4, 8 * 64])

    def test_bad_measurements(self) -> None:
        for more, expected in (
            (("--step-time", "51"), "--step-time: "),
            (("--step-time", "0ms"), "--step-time: "),
            (("--batch", "0"), "--batch"),
        ):
            err = self.trigram(*self.arguments(A100, *more), code=2).stderr
            self.assertIn(expected, err)

    def test_times_that_cannot_be_scaled_are_a_warning(self) -> None:
        def without(rate: str) -> dict[str, Any]:
            return {key: value for key, value in A100.items() if key != rate}

        cases: list[tuple[dict[str, Any], dict[str, Any], str]] = [
            ({"name": "A100"}, {}, "the cluster does not say flops and memory_bandwidth of A100"),
            (without("flops"), {}, "the cluster does not say flops of A100"),
            (without("memory_bandwidth"), {}, "the cluster does not say memory_bandwidth of A100"),
            (A100, {"flops": None}, "the profile does not say flops of P100"),
            (A100, {"tensors": [PROFILE["tensors"][0] | {"forward_flops": None, "backward_flops": None}]},  # type: ignore[index]
             "the profile does not say its layers' FLOPs"),
            ({"name": "P100", "flops": "21TFLOP/s", "memory_bandwidth": "732GB/s"}, {}, "another form or precision"),
        ]
        for accelerator, changes, expected in cases:
            with self.subTest(expected):
                changed = {k: v for k, v in (PROFILE | changes).items() if v is not None}
                self.write(changed, "one.json")
                advice = self.advise(accelerator)
                (warning,) = advice["warnings"]
                self.assertIn("layer times of one are those of P100", warning)
                self.assertIn(expected, warning)
                self.assertIn("give --step-time, a step's computation as measured there", warning)
                self.assertNotIn("/workload", warning)
                self.assertIn("warning: layer times", self.trigram(*self.arguments(accelerator)).stdout)
                limits = {f["limit_factor"] for f in advice["flips"] if f["quantity"] == "step_time"}
                self.assertEqual(limits, {0.5, 2})

    def test_runs_and_their_tables_warn(self) -> None:
        path = self.write(self.experiment())
        warning = r"warning: layer times of one are those of P100 .* and the cluster's accelerator is A100"
        self.assertRegex(self.trigram("run", path, table=True).stdout, warning)
        self.assertRegex(self.trigram("table", "results/test").stdout, warning)
        self.assertRegex(self.trigram("show", "network", path).stdout, warning)
        self.assertRegex(self.trigram("run", path, "--dry-run").stderr, warning[9:])
        (manifest,) = self.manifests()
        self.assertEqual(len(manifest["warnings"]), 1)

    def test_a_profile_without_an_accelerator_is_a_warning_if_the_cluster_names_one(self) -> None:
        without_accelerator = {k: v for k, v in PROFILE.items() if k not in ("accelerator", "flops", "memory_bandwidth")}
        self.write(without_accelerator, "one.json")
        warning = "the profile one does not say what it was measured on, and the cluster's accelerator is A100"
        path = self.write(self.experiment())
        self.assertIn(f"warning: {warning}", self.trigram("run", path, table=True).stdout)
        self.assertIn(warning, self.advise(A100)["warnings"][0])
        self.assertEqual(self.advise(A100, "--step-time", "51ms")["warnings"], [])
        nameless = {k: v for k, v in CLUSTER.items() if k != "accelerator"}
        self.assertEqual(self.trigram("validate", self.write(self.experiment() | {"cluster": nameless})).stderr, "")
        self.write(without_accelerator | {"accelerator": "none"}, "one.json")
        self.assertEqual(self.trigram("validate", path).stderr, "")

    def test_validate_prints_the_warnings_of_runs(self) -> None:
        done = self.trigram("validate", self.write(self.experiment()))
        self.assertIn("ok, 1 run", done.stdout)
        self.assertIn("warning: layer times of one are those of P100", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_accelerators_of_one_name_may_have_different_rates(self) -> None:
        """P100s have 9.3 TFLOP/s with PCIe and 10.6 with SXM. A small difference of rates does not count."""
        self.write(PROFILE | {"flops": "10.6TFLOP/s", "memory_bandwidth": "732GB/s"}, "one.json")
        for flops, bandwidth, warns in (("9.3TFLOP/s", "732GB/s", True), ("10.6TFLOP/s", "720GB/s", False)):
            pascal = {"name": "P100", "flops": flops, "memory_bandwidth": bandwidth}
            config = self.experiment() | {"cluster": CLUSTER | {"accelerator": pascal}}
            err = self.trigram("validate", self.write(config)).stderr
            self.assertEqual("layer times of one" in err, warns, err)

    def test_a_cluster_that_names_no_accelerator_has_an_assumed_one(self) -> None:
        assumption = "assumed: accelerator V100 (15.7 TFLOP/s, 900 GB/s), as the cluster names none"
        cluster = {k: v for k, v in CLUSTER.items() if k != "accelerator"}
        for accelerator, expected in (
            (None, True), ({}, True), ({"launch_overhead": "1us"}, True), ({"name": "V100"}, False), (A100, False)
        ):
            with self.subTest(accelerator):
                changed = cluster if accelerator is None else cluster | {"accelerator": accelerator}
                workload = {"name": "vgg16", "step_time": "50ms"}
                config = self.write(self.experiment() | {"cluster": changed, "workload": workload})
                self.assertEqual(assumption in self.trigram("run", config, table=True).stdout, expected)
        self.write(cluster, "eight.json")
        out = self.trigram("advise", "--cluster", "eight.json", "--profile", "vgg16", "--candidates",
                           "candidates.json", "--range", "2").stdout
        self.assertIn(assumption, out)

    def test_rates_without_a_name_do_not_count_as_a_v100(self) -> None:
        rates = {"flops": "125TFLOP/s", "memory_bandwidth": "2000GB/s"}
        config = self.write(self.experiment() | {"cluster": CLUSTER | {"accelerator": rates}})
        out = self.trigram("run", config, table=True).stdout
        self.assertIn("the cluster's accelerator is unnamed (125 TFLOP/s, 2000 GB/s)", out)
        self.assertNotIn("V100", out)
        self.assertIn("unnamed (125 TFLOP/s", self.trigram("show", "network", config).stdout)
        same = {"flops": PROFILE["flops"], "memory_bandwidth": PROFILE["memory_bandwidth"]}
        config = self.write(self.experiment() | {"cluster": CLUSTER | {"accelerator": same}})
        self.assertEqual(self.trigram("validate", config).stderr, "")

    def test_rates_that_are_not_given_are_assumed_to_be_a_v100s(self) -> None:
        """Codecs and optimizers use these rates even if the step's computation was measured."""
        pattern = "assumed: accelerator H100: the cluster does not say {0} of it, so .* with {0} of a V100 \\({1}\\)"
        both_rates = pattern.format("flops and memory_bandwidth", "15.7 TFLOP/s, 900 GB/s")
        measured = {"name": "profile:one.json", "step_time": "50ms"}
        for accelerator, expected in (
            ({"name": "H100"}, both_rates),
            ({"name": "H100", "flops": "67TFLOP/s"}, pattern.format("memory_bandwidth", "900 GB/s")),
            ({"name": "H100", "flops": "15.7TFLOP/s", "memory_bandwidth": "900GB/s"}, None),
            ({"name": "V100-SXM2"}, None),
        ):
            with self.subTest(accelerator):
                cluster = CLUSTER | {"accelerator": accelerator}
                config = self.write(self.experiment() | {"cluster": cluster, "workload": measured})
                out = self.trigram("run", config, table=True).stdout
                if expected:
                    self.assertRegex(out, expected)
                else:
                    self.assertNotIn("assumed: accelerator", out)
        advised = self.trigram(*self.arguments({"name": "H100"}, "--step-time", "50ms"))
        self.assertRegex(advised.stdout, both_rates)
        advice = self.advise({"name": "H100"}, "--step-time", "50ms")
        self.assertRegex("assumed: " + advice["assumed"][0], both_rates)
        self.assertNotIn("flops", advice["cluster"]["accelerator"])

    def test_given_rates_that_equal_a_v100s_count_as_given(self) -> None:
        like_v100 = {"name": "GV", "flops": "15.7TFLOP/s", "memory_bandwidth": "900GB/s"}
        config = self.experiment(accelerator="cluster") | {"cluster": CLUSTER | {"accelerator": like_v100}}
        out = self.trigram("run", self.write(config), table=True).stdout
        self.assertIn("assumed: layer times of one were measured on P100 (10 TFLOP/s, 500 GB/s); on GV", out)
        self.assertNotIn("does not say", out)

    def test_scaling_that_is_not_possible_is_a_warning_for_unnamed_accelerators(self) -> None:
        without_accelerator = {k: v for k, v in PROFILE.items() if k not in ("accelerator", "flops", "memory_bandwidth")}
        for profile, accelerator, expected in (
            (without_accelerator, {"flops": "60TFLOP/s", "memory_bandwidth": "3000GB/s"}, "accelerator is unnamed (60 TFLOP/s"),
            (without_accelerator, {"launch_overhead": "6us"}, "accelerator is V100 (15.7 TFLOP/s, 900 GB/s), as the cluster"),
            (PROFILE, {"flops": "10TFLOP/s"}, "the cluster does not say memory_bandwidth of unnamed"),
        ):
            with self.subTest(accelerator):
                self.write(profile, "one.json")
                for scaled in (True, False):
                    config = self.experiment(accelerator="cluster") if scaled else self.experiment()
                    config |= {"cluster": CLUSTER | {"accelerator": accelerator}}
                    err = self.trigram("validate", self.write(config)).stderr
                    self.assertEqual(expected in err, scaled, err)

    def test_a_run_is_scaled_if_its_workload_says_so(self) -> None:
        out = self.trigram("run", self.write(self.experiment(accelerator="cluster")), table=True).stdout
        self.assertNotIn("warning", out)
        self.assertIn("assumed: layer times of one were measured on P100", out)
        (manifest,) = self.manifests()
        self.assertEqual(manifest["experiment"]["workload"]["accelerator"]["name"], "A100")
        self.assertEqual(manifest["warnings"], [])
        self.assertIn("assumed: layer times of one were measured", self.trigram("table", "results/test").stdout)

    def test_a_workload_that_is_priced_as_a_profile_is_scaled_too(self) -> None:
        priced = {"name": "fashion_mnist", "priced_as": "profile:one.json", "values": False}
        config = self.experiment() | {"workload": priced}
        self.run_config(config)
        config["workload"] = priced | {"priced_with": {"accelerator": "cluster"}}
        self.run_config(config)
        by_warnings = sorted(self.manifests(), key=lambda m: len(m["warnings"]))
        scaled, unscaled = (m["summary"]["compute_s"] for m in by_warnings)
        self.assertIn("/workload/priced_with/step_time", by_warnings[1]["warnings"][0])
        self.assertAlmostEqual(unscaled - scaled, COMPUTED_S - SCALED_S, places=6)
