"""Runs that end when their steps repeat give the results that they would have given in full."""

from __future__ import annotations

import json
from typing import Any

from harness import CommandTest, listed, needs_simulator

STEPS = 60
PROFILE = {
    "name": "small",
    "accelerator": "none",
    "batch": 4,
    "tensors": [
        {"tensor": f"t{i}", "numel": numel, "forward_s": 0.002, "backward_s": 0.003 + 0.001 * i}
        for i, numel in enumerate((400_000, 30_000, 900_000, 70_000))
    ],
}
CLUSTER = {
    "nodes": 4,
    "workers_per_node": 2,
    "inter": {"bandwidth": "2Gbps", "latency": "50us"},
    "intra": {"bandwidth": "100Gbps", "latency": "5us"},
    "slow_workers": [{"rank": 3, "factor": 1.3}],
}
REPEATING = [
    {"name": "gradient_allreduce", "bucket": "1MB"},
    {"name": "gradient_allreduce", "fusion_buffer": {"size": "2MB", "cycle": "3ms"}},
    {"name": "half_precision_allreduce"},
    {"name": "delayed_allreduce", "bucket": "1MB"},
    {"name": "hierarchical_local_sgd", "node_every": 2, "all_every": 2},
    {"name": "fedavg", "fraction": 1, "sync_every": 3},
    {"name": "local_sgd", "sync_every": 4},
    {"name": "slowmo", "sync_every": 3, "hierarchical": True},
    {"name": "post_local_sgd", "switch_step": 5, "sync_every": 4, "bucket": "1MB"},
    {"name": "bmuf", "sync_every": 3},
    {"name": "diloco", "sync_every": 4, "hierarchical": True},
    {"name": "streaming_diloco", "sync_every": 4, "bucket": "1MB"},
    {"name": "eager_diloco", "sync_every": 3},
    {"name": "co2", "sync_every": 3},
    {"name": "dilocox", "sync_every": 3, "rank": 2},
    {"name": "sparseloco", "sync_every": 3},
    {"name": "sparseloco", "sync_every": 3, "through": "store"},
    {"name": "sparta", "density": 0.1},
    {"name": "easgd", "sync_every": 3},
    {"name": "bytegrad", "bucket": "1MB", "hierarchical": True},
    {"name": "zeropp", "bucket": "1MB"},
    {"name": "terngrad"},
    {"name": "onebit_sgd", "bucket": "1MB"},
    {"name": "signsgd_majority", "bucket": "1MB"},
    {"name": "ef_signsgd", "bucket": "1MB"},
    {"name": "dgc", "bucket": "1MB", "warmup_every": 2},
    {"name": "qsgd", "bucket": "1MB"},
    {"name": "topk", "bucket": "1MB"},
    {"name": "gtopk", "bucket": "1MB"},
    {"name": "oktopk", "bucket": "1MB", "threshold_every": 2, "rebalance_every": 3},
    {"name": "powersgd", "bucket": "1MB"},
    {"name": "dion", "bucket": "1MB"},
    {"name": "ef21", "bucket": "1MB"},
    {"name": "demo", "bucket": "1MB"},
    {"name": "onebit_adam", "warmup_steps": 7},
    {"name": "qadam", "warmup_steps": 5, "bucket": "1MB"},
    {"name": "zeroone_adam", "freeze_step": 5, "local_doubling": 2, "max_local_steps": 4},
    {"name": "decentralized", "mode": "all"},
    {"name": "moshpit"},
    {"name": "dcd_psgd"},
    {"name": "dcd_psgd", "bucket": "1MB", "communication_interval": 2},
    {"name": "decentralized", "mode": "shift_one", "bucket": "1MB", "communication_interval": 2},
    {"name": "diloco", "sync_every": 4, "bucket": "0B"},
    {"name": "choco_sgd", "codec": "sign"},
    {"name": "ecd_psgd"},
    {"name": "deepsqueeze", "codec": "sign"},
    {"name": "parameter_server", "partition": "500kB"},
    {"name": "parameter_server", "priority": "need", "hierarchical": True},
    {
        "name": "stages",
        "stages": [
            {"until": 4, "algorithm": {"name": "local_sgd", "sync_every": 3}},
            {"until": 7, "algorithm": "gradient_allreduce"},
            {"algorithm": {"name": "local_sgd", "sync_every": 4}},
        ],
    },
]
# The steps of these algorithms never repeat: time or chance determines their messages, or how messages share links.
NEVER_REPEATING = [
    # The exchanges of a node's workers share its NIC, so the workers drift apart.
    {"name": "decentralized", "mode": "shift_one", "hierarchical": False},
    {"name": "dpsgd", "graph": "shift_one"},
    {"name": "dpsgd", "graph": "base_k"},
    {"name": "sgp"},
    {"name": "osgp", "overlap_steps": 2},
    {"name": "async_model_average", "interval": "70ms"},
    {"name": "wagma"},
    {"name": "eager_sgd"},
    {"name": "adpsgd"},
    {"name": "async_parameter_server"},
    {"name": "ssp"},
    {"name": "async_diloco", "sync_every": 3},
    {"name": "decoupled_diloco", "sync_every": 4},
    {"name": "dsgd_aau"},
    {"name": "dpsgd", "graph": "random_matching"},
    {"name": "gossipgrad"},
    {"name": "swarm_sgd"},
    {"name": "noloco", "sync_every": 3},
    {"name": "dropcompute"},
    {"name": "dedloc"},
    {"name": "fedavg"},
]


@needs_simulator
class UntilSteady(CommandTest):
    def run_both(self, **changes: Any) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """Runs each experiment with all steps and until its steps repeat. Returns the two manifests of each."""
        self.write(PROFILE, "small.json")
        config: dict[str, Any] = {
            "runtime": "sim",
            "cluster": CLUSTER,
            "workload": "profile:small.json",
            "optimizer": {"name": "adam", "lr": 0.01},
            "steps": STEPS,
        }
        sweep = changes.pop("sweep", {}) | {"/until_steady": [False, True]}
        manifests = self.run_config(config | changes | {"sweep": sweep})
        groups: dict[str, dict[bool, dict[str, Any]]] = {}
        for manifest in manifests:
            resolved = dict(manifest["experiment"])
            until = resolved.pop("until_steady")
            groups.setdefault(json.dumps(resolved), {})[until] = manifest
        self.assertEqual(len(manifests), 2 * len(groups), "runs with and without the option are different experiments")
        return [(pair[False], pair[True]) for pair in groups.values()]

    def simulated_steps(self, manifest: dict[str, Any]) -> int:
        """The number of steps that were simulated."""
        steps = [record["step"] for record in self.metrics(manifest["id"])]
        self.assertEqual(steps, list(range(len(steps))))
        steady = manifest["summary"]["steady"]
        self.assertEqual(len(steps) + (steady["left_out"] if steady else 0), STEPS)
        return len(steps)

    def check_same(self, whole: dict[str, Any], short: dict[str, Any]) -> None:
        algorithm = whole["experiment"]["algorithm"]
        for key, value in whole["summary"].items():
            short_value = short["summary"][key]
            if key in ("steady", "trend", "world", "messages_simulated_per_wall_s"):
                continue
            if key.startswith(("bytes", "messages")) or not isinstance(value, float):
                self.assertEqual(short_value, value, f"{key} of {algorithm}")
            else:
                self.assertLessEqual(abs(short_value - value), 1e-9 * abs(value), f"{key} of {algorithm}")
        self.assertIsNone(whole["summary"]["steady"])
        self.assertEqual(self.simulated_steps(whole), STEPS)

    def test_steps_that_are_left_out_change_nothing(self) -> None:
        pairs = self.run_both(sweep={"/runtime/fidelity": ["message", "auto"], "/algorithm": REPEATING})
        self.assertEqual(len(pairs), 2 * len(REPEATING))
        for whole, short in pairs:
            with self.subTest(short["experiment"]["algorithm"]):
                self.check_same(whole, short)
                self.assertLess(self.simulated_steps(short), STEPS)

    def test_the_lists_have_all_algorithms(self) -> None:
        self.assertEqual({a["name"] for a in listed("algorithms")}, {a["name"] for a in REPEATING + NEVER_REPEATING})

    def test_runs_that_never_repeat_make_all_steps(self) -> None:
        for whole, short in self.run_both(sweep={"/algorithm": NEVER_REPEATING}):
            self.check_same(whole, short)
            self.assertEqual(self.simulated_steps(short), STEPS)
            self.assertIsNone(short["summary"]["steady"])

    def test_random_runs_make_all_steps(self) -> None:
        clusters = [
            CLUSTER | {"run_times": {"kind": "lognormal", "variation": 0.1}},
            CLUSTER | {"stragglers": {"count": 1, "delay": "10ms"}},
            CLUSTER | {"inter": CLUSTER["inter"] | {"background": {"load": 0.3}}},
        ]
        pairs = self.run_both(algorithm="gradient_allreduce", sweep={"/cluster": clusters})
        self.assertEqual(len(pairs), len(clusters))
        for whole, short in pairs:
            self.check_same(whole, short)
            self.assertEqual(self.simulated_steps(short), STEPS)

    def test_uneven_mini_batches_make_all_steps(self) -> None:
        """Two steps in which all lines have the same length do not mean that all later steps do."""
        lines = ["a" * 10 + "%03d" % i for i in range(400)] + ["a" * 90 + "%03d" % i for i in range(100)]
        (self.folder / "lines.txt").write_text("\n".join(lines))
        for priced in ({}, {"priced_as": "transformer_base"}):
            workload = {"name": "text", "data": "lines.txt", "batch": 1, "values": False}
            workload["loader"] = {"order": "balanced"}
            for whole, short in self.run_both(algorithm="gradient_allreduce", sweep={"/workload": [workload | priced]}):
                self.check_same(whole, short)
                self.assertEqual(self.simulated_steps(short), STEPS)

    def test_a_run_does_not_end_before_saved_credit_is_used_up(self) -> None:
        """A step sends about 9 MB out of each node. The saved credit lasts for many steps of equal length, and then
        runs out."""
        shaping = {"rate": "0.5Gbps", "depth": "100MB"}
        inter = {"bandwidth": "10Gbps", "latency": "50us", "shaping": shaping}
        ((whole, short),) = self.run_both(
            algorithm={"name": "gradient_allreduce", "hierarchical": True}, cluster=CLUSTER | {"inter": inter}
        )
        seconds = [record["step_s"] for record in self.metrics(whole["id"])]
        burst_steps = next(i for i, s in enumerate(seconds) if s > 1.01 * seconds[0])
        self.assertGreater(burst_steps, 8, "the first steps agree")
        self.assertGreater(self.simulated_steps(short), burst_steps)
        self.check_same(whole, short)

    def test_a_run_does_not_end_before_links_change(self) -> None:
        inter = CLUSTER["inter"] | {"profile": [{"at": "500ms", "bandwidth": 0.2}]}
        ((whole, short),) = self.run_both(algorithm="gradient_allreduce", cluster=CLUSTER | {"inter": inter})
        self.check_same(whole, short)
        self.assertGreater(self.metrics(short["id"])[-1]["time_s"], 0.5)
        self.assertLess(self.simulated_steps(short), STEPS)

    def test_the_cycle_of_a_rotating_skew_covers_all_workers(self) -> None:
        skew = {"smallest": "1ms", "largest": "20ms", "rotates": True}
        ((whole, short),) = self.run_both(
            algorithm={"name": "local_sgd", "sync_every": 4}, cluster=CLUSTER | {"skew": skew}
        )
        self.check_same(whole, short)
        self.assertEqual(short["summary"]["steady"]["cycle"], 8)

    def test_the_recorded_step_is_simulated(self) -> None:
        ((_, short),) = self.run_both(algorithm="gradient_allreduce", timeline={"step": 20, "ranks": 2})
        self.assertGreater(self.simulated_steps(short), 20)
        events = json.loads((self.results / short["id"] / "trace.json").read_text())
        self.assertTrue(events["traceEvents"])

    def test_until_steady_needs_a_profile_in_the_simulator(self) -> None:
        self.write(PROFILE, "small.json")
        config = {
            "cluster": CLUSTER,
            "algorithm": "gradient_allreduce",
            "workload": "profile:small.json",
            "steps": 9,
            "until_steady": True,
        }
        path = self.write(config)
        err = self.trigram("run", path, "--set", "/runtime=threads", code=2).stderr
        self.assertIn('/until_steady: no two steps of the world "threads" take the same time', err)
        err = self.trigram("run", path, "--set", "/workload=quadratic", code=2).stderr
        self.assertIn("/until_steady: a workload that learns must make all its steps", err)
        err = self.trigram("run", path, "--set", "/until_steady=3", code=2).stderr
        self.assertIn("/until_steady: expected true or false", err)
