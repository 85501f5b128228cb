"""Runs in real time use a profile and some properties of the cluster's accelerator, and name those that they do not use.
Their totals have all traffic."""

from __future__ import annotations

from typing import Any

from harness import CommandTest, experiment, needs_simulator

SHAPED = {"name": "threads", "shaping": "cluster"}
CLUSTER = {
    "nodes": 2,
    "inter": {"bandwidth": "1Gbps", "latency": "1ms"},
    "accelerator": {"name": "P100", "flops": "9.3TFLOP/s", "memory_bandwidth": "732GB/s"},
}
# Two layers of 60 and 120 ms for a batch of 32. The trained model, quadratic, has a batch of 1.
PROFILE = """# accelerator: P100
# flops: 9.3TFLOP/s
# memory_bandwidth: 732GB/s
# batch: 32
tensor,numel,forward_s,backward_s
first,1000,0.02,0.04
second,2000,0.04,0.08
"""
COMPUTED_S = 0.18
PRICED = {"name": "quadratic", "dimension": 20, "priced_as": "profile:model.csv"}


def priced(**changes: Any) -> dict[str, Any]:
    return experiment(runtime=SHAPED, cluster=CLUSTER, workload=PRICED, steps=4, eval_every=0) | changes


class PricedInThreads(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        self.write(PROFILE, "model.csv")

    def test_the_profiles_computation_takes_its_time(self) -> None:
        (manifest,) = self.run_config(priced())
        summary = manifest["summary"]
        self.assertGreater(summary["compute_s"], 0.95 * COMPUTED_S)
        self.assertGreater(summary["step_s"], COMPUTED_S)
        self.assertAlmostEqual(summary["samples_per_s"] * summary["step_s"], 2 * 32, delta=4)
        self.assertIsInstance(summary["loss"], float)  # real gradients

    def test_a_model_slower_than_its_profile_is_named(self) -> None:
        """A quadratic of 4,096 weights takes longer than the nanoseconds of this profile."""
        self.write("tensor,numel,forward_s,backward_s\nfirst,1000,1e-9,2e-9\n", "fast.csv")
        slow = {"name": "quadratic", "dimension": 4096, "priced_as": "profile:fast.csv"}
        out = self.trigram("run", self.write(priced(workload=slow)), table=True).stdout
        self.assertRegex(out, "warning: priced_as: a step of the trained model takes .* ms here, and fast computes for 3e-06 ms")
        several = {"name": "dropcompute", "micro_batches": 3, "profile_steps": 0}
        for name, algorithm in {"one": "gradient_allreduce", "several": several}.items():
            self.results = self.folder / "results" / name
            (manifest,) = self.run_config(priced(name=name, algorithm=algorithm))
            self.assertNotIn("a step of the trained model takes", str(manifest["warnings"]))

    @needs_simulator
    def test_both_worlds_learn_the_same_in_about_the_same_time(self) -> None:
        sweep = {"/runtime": ["sim", SHAPED]}
        by_world = {m["world"]: m["summary"] for m in self.run_config(priced(sweep=sweep))}
        sim, threads = by_world["sim"], by_world["threads"]
        self.assertEqual(sim["weights_hash"], threads["weights_hash"])
        self.assertGreater(threads["step_s"], 0.95 * sim["step_s"])
        self.assertLess(threads["step_s"], 2 * sim["step_s"])

    def test_skipped_computation_is_named_and_not_counted(self) -> None:
        skipped = SHAPED | {"modelled_compute": "skipped"}
        out = self.trigram("run", self.write(priced(runtime=skipped)), table=True).stdout
        warning = "warning: priced_as: this world does not spend the computation time of model"
        self.assertIn(warning, out)
        self.assertIn("samples/s counts samples of the trained model", out)
        self.assertIn(warning, self.trigram("table", self.results).stdout)
        (manifest,) = self.manifests()
        summary = manifest["summary"]
        self.assertLess(summary["step_s"], COMPUTED_S)
        batch = summary["samples_per_s"] * summary["step_s"] / 2
        self.assertLess(batch, 32 / 2)
        self.assertGreater(batch, 0)

    def test_layer_times_that_are_not_used_cause_no_warning(self) -> None:
        other = CLUSTER | {"accelerator": {"name": "A100", "flops": "312TFLOP/s", "memory_bandwidth": "1555GB/s"}}
        for modelled, warns in (("slept", True), ("skipped", False)):
            config = self.write(priced(cluster=other, runtime=SHAPED | {"modelled_compute": modelled}))
            err = self.trigram("validate", config).stderr
            self.assertEqual("layer times of model are those of P100" in err, warns, err)

    def test_a_skipped_profile_is_named_too(self) -> None:
        skipped = SHAPED | {"modelled_compute": "skipped"}
        config = self.write(priced(runtime=skipped, workload="profile:model.csv"))
        self.assertIn("profile: this world does not spend the computation time of model",
                      self.trigram("validate", config).stderr)


class Rates(CommandTest):
    def warnings(self, accelerator: dict[str, Any], runtime: Any = SHAPED) -> str:
        cluster = {k: v for k, v in CLUSTER.items() if k != "accelerator"} | {"accelerator": accelerator}
        return self.trigram("validate", self.write(experiment(runtime=runtime, cluster=cluster))).stderr

    def test_rates_that_real_time_does_not_emulate_are_named(self) -> None:
        given = {"codec_bandwidth": "10MB/s", "launch_overhead": "1ms", "memory_bandwidth": "1GB/s"}
        for runtime in (SHAPED, "threads"):
            self.assertRegex(self.warnings(given, runtime),
                             "accelerator not emulated: in the world threads .* does not depend on "
                             "codec_bandwidth, launch_overhead, memory_bandwidth in /cluster/accelerator")

    def test_rates_left_at_their_defaults_are_not_named(self) -> None:
        for accelerator in ({}, {"name": "V100"}, {"launch_overhead": "5us"}):
            self.assertNotIn("accelerator not emulated", self.warnings(accelerator))

    @needs_simulator
    def test_the_simulator_uses_all_rates(self) -> None:
        self.assertEqual(self.warnings({"codec_bandwidth": "10MB/s"}, "sim"), "")


class BackgroundTraffic(CommandTest):
    def test_what_ranks_send_between_their_steps_counts(self) -> None:
        """With an evaluation after every step, most averages of earlier gradients run between two steps."""
        steps, delay = 24, 3
        found = {}
        for algorithm in ({"name": "gradient_allreduce"}, {"name": "delayed_allreduce", "delay": delay}):
            self.results = self.folder / "results" / algorithm["name"]
            config = experiment(name=algorithm["name"], runtime="threads", algorithm=algorithm, steps=steps, eval_every=1)
            (manifest,) = self.run_config(config)
            found[algorithm["name"]] = manifest["summary"]
        for key in ("bytes_inter", "messages_inter"):
            every = found["gradient_allreduce"][key]
            self.assertGreaterEqual(found["delayed_allreduce"][key], every * (steps - delay) // steps, key)
            self.assertLessEqual(found["delayed_allreduce"][key], every, key)
