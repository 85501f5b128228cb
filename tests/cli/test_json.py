"""`--json` of commands that print tables for people, and `trigram export`."""

from __future__ import annotations

import csv
import json
from typing import Any

from harness import CLUSTER, CommandTest, experiment, needs_simulator, one_tensor_profile


class Json(CommandTest):
    def json(self, *arguments: Any) -> Any:
        return json.loads(self.trigram(*arguments, "--json").stdout)

    def test_run_and_status(self) -> None:
        config = self.write(experiment(sweep={"/seed": [1, 2]}))
        planned = self.json("run", config, "--dry-run")
        self.assertEqual([run["state"] for run in planned["runs"]], ["missing", "missing"])
        made = self.json("run", config)
        self.assertEqual(made["name"], "test")
        summaries = {m["id"]: m["summary"] for m in self.manifests()}
        self.assertEqual({run["id"]: run["summary"] for run in made["runs"]}, summaries)
        self.assertEqual([run["sweep"] for run in made["runs"]], [{"/seed": 1}, {"/seed": 2}])
        status = self.json("status", "results")
        self.assertEqual([run["state"] for run in status], ["done", "done"])
        self.assertEqual({run["path"] for run in status}, {run["path"] for run in made["runs"]})

    def test_a_failed_run_is_in_the_json(self) -> None:
        config = self.write(experiment(steps=300, optimizer={"name": "sgd", "lr": 1e6}))
        (run,) = json.loads(self.trigram("run", config, "--json", code=1).stdout)["runs"]
        self.assertEqual(run["state"], "failed")
        self.assertIn("diverged", run["error"])
        self.assertIn("diverged", self.json("status", "results")[0]["error"])

    def test_validate(self) -> None:
        config = self.write(experiment(sweep={"/seed": [1, 2, 3]}))
        (file,) = self.json("validate", config)
        self.assertEqual([run["sweep"]["/seed"] for run in file["runs"]], [1, 2, 3])
        self.assertIn("/steps", self.refusal("validate", self.write(experiment(steps=-1)), "--json"))

    def test_show(self) -> None:
        shown = self.json("show", "network", self.write(experiment()))
        self.assertEqual((shown["workers"], shown["nodes"]), (4, 2))
        inside, between = shown["connections"]
        self.assertEqual((inside["most_Bps"], between["most_Bps"]), (12.5e9, 1.25e9))

    def test_table(self) -> None:
        self.trigram("run", self.write(experiment()))
        (group,) = self.json("table", self.results)
        (manifest,) = self.manifests()
        self.assertEqual(group["rows"][0]["step"], manifest["summary"]["step_s"])
        self.trigram("table", self.results, "--json", "--csv", code=2)

    def test_export(self) -> None:
        self.trigram("run", self.write(experiment()))
        printed = self.trigram("export", self.results).stdout.split()
        self.assertEqual([path.split("/")[-1] for path in printed],
                         ["runs.csv", "metrics.csv", "runs.jsonl", "metrics.jsonl", "tensorboard"])
        (manifest,) = self.manifests()
        with (self.results / "export" / "runs.csv").open() as file:
            (run,) = csv.DictReader(file)
        self.assertEqual(float(run["step_s"]), manifest["summary"]["step_s"])
        (events,) = (self.results / "export" / "tensorboard" / manifest["id"]).iterdir()
        self.assertGreater(events.stat().st_size, 100)
        self.assertEqual(self.trigram("status", "results").stdout.splitlines()[-1], "1 done")
        self.trigram("export", self.results, "--format", "xlsx", code=2)


@needs_simulator
class Why(CommandTest):
    def why(self, *arguments: Any) -> Any:
        return json.loads(self.trigram("why", *arguments, "--json").stdout)

    def parts(self, run: dict[str, Any]) -> dict[str, float]:
        found: dict[str, float] = {}
        for part in run["parts"]:
            found[part["kind"]] = found.get(part["kind"], 0) + part["seconds"]
        return found

    def profile(self, **changes: Any) -> Any:
        """One worker per node, and computation whose time is known."""
        (self.folder / "one.json").write_text(json.dumps(one_tensor_profile(1_000_000, 0.01, 0.02)))
        ideal = {"name": "ideal", "flops": "1000PFLOP/s", "memory_bandwidth": "1e9GB/s", "launch_overhead": "0s"}
        cluster = CLUSTER | {"nodes": 4, "workers_per_node": 1, "accelerator": ideal} | changes.pop("cluster", {})
        return experiment(workload="profile:one.json", steps=4, eval_every=0, cluster=cluster,
                          algorithm={"name": "gradient_allreduce", "overlap": False}) | changes

    def explained(self, **changes: Any) -> dict[str, float]:
        (run,) = self.why(self.write(self.profile(**changes)))["runs"]
        parts = self.parts(run)
        self.assertAlmostEqual(sum(parts.values()), run["step_s"], places=15)
        return parts

    def test_a_ring_has_its_closed_form(self) -> None:
        """Six rounds of 1 MB at 1.25 GB/s and 50 us, after 30 ms of computation."""
        parts = self.explained()
        self.assertAlmostEqual(parts["compute"], 0.030, places=9)
        self.assertAlmostEqual(parts["bandwidth"], 6 * 1e6 / 1.25e9, places=9)
        self.assertAlmostEqual(parts["latency"], 6 * 50e-6, places=9)
        self.assertAlmostEqual(sum(parts.values()), 0.030 + 6 * (1e6 / 1.25e9 + 50e-6), places=9)

    def test_one_long_latency(self) -> None:
        parts = self.explained(cluster={"inter": {"bandwidth": "1Tbps", "latency": "20ms"}})
        self.assertAlmostEqual(parts["latency"], 6 * 0.020, places=9)
        self.assertEqual(max(parts, key=lambda kind: parts[kind]), "latency")

    def test_one_straggler(self) -> None:
        """All wait for two thirds of the slow rank's 90 ms. That rank ends the ring two latencies before the last rank, as
        the first messages to it come early, and so it begins the next step two latencies before the last rank does."""
        slow = [{"rank": 2, "factor": 3}]
        (run,) = self.why(self.write(self.profile(cluster={"slow_workers": slow})))["runs"]
        worst = run["parts"][0]
        self.assertEqual((worst["kind"], worst["where"]), ("straggler", "rank 2"))
        self.assertAlmostEqual(worst["seconds"], (0.090 - 2 * 50e-6) * 2 / 3, places=9)
        self.assertAlmostEqual(run["step_s"], 0.090 + 6 * 1e6 / 1.25e9 + 4 * 50e-6, places=9)

    def test_a_delay_names_the_delayed_worker(self) -> None:
        parts = self.explained(cluster={"stragglers": {"count": 1, "delay": "200ms"}})
        self.assertAlmostEqual(parts["straggler"], 0.200, places=9)

    def test_which_setting_makes_the_difference(self) -> None:
        a = self.write(self.profile(), "a.json")
        inter = {"bandwidth": "1Gbps", "latency": "60us"}
        intra = {"bandwidth": "50Gbps", "latency": "5us"}
        b = self.write(self.profile(cluster={"inter": inter, "intra": intra}), "b.json")
        found = self.why(a, b)
        changes = {d["setting"]: d["change_s"] for d in found["differences"]}
        self.assertEqual(set(changes), {"/cluster/inter/bandwidth", "/cluster/inter/latency",
                                        "/cluster/intra/bandwidth"})
        self.assertAlmostEqual(changes["/cluster/inter/bandwidth"], 6 * 1e6 * (1 / 0.125e9 - 1 / 1.25e9), places=9)
        self.assertAlmostEqual(changes["/cluster/inter/latency"], 6 * 10e-6, places=9)
        self.assertAlmostEqual(changes["/cluster/intra/bandwidth"], 0, places=12)
        self.assertIn("bandwidth inside nodes", found["on_no_path"])
        text = self.trigram("why", a, b).stdout
        self.assertIn("makes no difference here: /cluster/intra/bandwidth\n", text)
        self.assertRegex(text, r"B's step \d+ is .* longer; bandwidth between nodes makes \d+% of that")

    def test_a_finished_run_is_explained(self) -> None:
        (manifest,) = self.run_config(self.profile())
        found = self.why(self.results / manifest["id"])
        self.assertAlmostEqual(found["runs"][0]["step_s"], manifest["summary"]["step_s"], places=9)

    def test_warnings_of_the_runs_are_repeated(self) -> None:
        config = self.write(self.profile(workload="resnet50", cluster={"accelerator": {"name": "H100"}}))
        warning = "warning: layer times of resnet50 are those of P100"
        self.assertTrue([line for line in self.why(config)["caveats"] if line.startswith(warning)])
        self.assertIn(warning, self.trigram("why", config).stdout)

    def test_bad_runs(self) -> None:
        self.assertIn("expected the folder of one run", self.refusal("why", self.folder))
        self.assertIn("describes 2 runs", self.refusal("why", self.write(self.profile(sweep={"/seed": [1, 2]}))))

    def test_slices_say_what_they_are(self) -> None:
        (manifest,) = self.run_config(self.profile(algorithm={"name": "bytegrad", "hierarchical": False}))
        trace = json.loads((self.results / manifest["id"] / "trace.json").read_text())
        slices = [e for e in trace["traceEvents"] if e["ph"] == "X"]
        phases = {e.get("args", {}).get("phase") for e in slices if e["cat"] == "compute"}
        self.assertLessEqual({"forward", "backward"}, phases)
        self.assertIn("codec", {e.get("args", {}).get("operation") for e in slices})
        transfers = [e for e in slices if e["cat"] == "transfer"]
        self.assertTrue(all(e["args"]["peers"] and e["args"]["bucket"] == 0 for e in transfers))
        self.assertEqual(trace["otherData"]["buckets"], [{"name": "w", "bytes": 4_000_000}])
