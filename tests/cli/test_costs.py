"""Money, energy and slow steps of simulated runs, against closed forms."""

from __future__ import annotations

import json
import shutil
from typing import Any

from harness import CLUSTER, CommandTest, experiment, needs_simulator, one_tensor_profile

PRICES = {"price_per_node_hour": 36.0}
INTER = {"bandwidth": "10Gbps", "latency": "50us", "egress_price_per_GB": 0.09}
RATES = {"name": "ideal", "flops": "1000PFLOP/s", "memory_bandwidth": "1e9GB/s", "launch_overhead": "0s"}
POWER = {"idle_watts": 60, "busy_watts": 300}


@needs_simulator
class Costs(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        (self.folder / "one.json").write_text(json.dumps(one_tensor_profile(1_000_000, 0.01, 0.02)))

    def summary(self, cluster: dict[str, Any], **changes: Any) -> dict[str, Any]:
        config = experiment(workload="profile:one.json", eval_every=0, steps=10,
                            cluster=CLUSTER | {"accelerator": RATES} | cluster,
                            algorithm={"name": "gradient_allreduce", "overlap": False}) | changes
        shutil.rmtree(self.results, ignore_errors=True)  # another configuration would leave its run beside this one
        (manifest,) = self.run_config(config)
        return manifest["summary"]

    def test_nodes_and_traffic(self) -> None:
        found = self.summary(PRICES | {"inter": INTER})
        cost, rates = found["cost"], found["rates"]
        # A ring over four workers: each sends 2 * 3/4 of 4 MB in a step, two of them to the other node.
        self.assertEqual(rates["bytes_egress"], rates["steps"] * 2 * 6_000_000)
        traffic = 12e6 / 1e9 * 0.09
        self.assertAlmostEqual(cost["usd_per_step"], 2 * 36 * found["step_s"] / 3600 + traffic, places=12)
        self.assertAlmostEqual(cost["usd"], 2 * 36 * found["time_s"] / 3600 + 10 * traffic, places=12)
        self.assertAlmostEqual(cost["egress_usd"], 10 * traffic, places=12)
        self.assertAlmostEqual(cost["usd_per_million_samples"], cost["usd_per_step"] * 1e6 / 16, places=6)
        self.assertIsNone(cost["kwh"])
        self.assertIsNone(cost["usd_to_target"])

    def test_energy(self) -> None:
        found = self.summary({"accelerator": RATES | POWER})
        watts = 60 + 240 * found["compute_utilisation"]
        self.assertAlmostEqual(found["compute_utilisation"], 0.03 / found["step_s"], places=9)
        self.assertAlmostEqual(found["cost"]["kwh"], 4 * watts * found["time_s"] / 3.6e6, places=12)
        self.assertIsNone(found["cost"]["usd"])

    def test_no_prices_no_cost(self) -> None:
        self.assertIsNone(self.summary({})["cost"])

    def test_only_bytes_between_regions_are_paid(self) -> None:
        """Of the four hops of a ring over two regions of two nodes, two cross regions."""
        regions = {"kind": "wan", "delay_is": "one_way",
                   "regions": [{"name": "a", "nodes": 2}, {"name": "b", "nodes": 2}],
                   "delay": [[None, "1ms"], ["1ms", None]], "bandwidth": [[None, "1Gbps"], ["1Gbps", None]]}
        cluster = {"nodes": 4, "workers_per_node": 1, "inter": INTER, "topology": regions}
        found = self.summary(cluster)
        self.assertEqual(2 * found["bytes_egress"], found["bytes_inter"])
        self.assertAlmostEqual(found["cost"]["usd"], found["bytes_egress"] / 1e9 * 0.09, places=12)
        flows = self.summary(cluster, runtime={"name": "sim", "fidelity": "fluid"})
        self.assertEqual(flows["bytes_egress"], found["bytes_egress"])

    def test_each_connection_of_two_regions_has_its_price(self) -> None:
        """A ring over three regions of one node: each sends 2 * 2/3 of 4 MB per step to the next one."""
        delay, bandwidth = ([[None if i == j else value for j in range(3)] for i in range(3)] for value in ("1ms", "1Gbps"))
        regions = {"kind": "wan", "delay_is": "one_way", "regions": [{"name": n, "nodes": 1} for n in "abc"],
                   "delay": delay, "bandwidth": bandwidth,
                   "egress_price_per_GB": [[None, 0.01, 5], [5, None, 0.02], [0.09, 5, None]]}
        cluster = {"nodes": 3, "workers_per_node": 1, "topology": regions}
        usd_per_step = 2 / 3 * 2 * 4e6 / 1e9 * (0.01 + 0.02 + 0.09)
        for runtime in ("sim", {"name": "sim", "fidelity": "fluid"}, "threads"):
            with self.subTest(runtime=runtime):
                found = self.summary(cluster, runtime=runtime, eval_every=0, steps=6)
                self.assertAlmostEqual(found["egress_usd"], 6 * usd_per_step, delta=1e-5 * usd_per_step)
                self.assertAlmostEqual(found["cost"]["usd_per_step"], usd_per_step, delta=1e-5 * usd_per_step)
        shown = self.trigram("show", "network", self.write({"cluster": cluster}, "cluster.json")).stdout
        self.assertIn("$0.01 to $5 per GB that leaves a region", shown)
        steady = self.summary(cluster, steps=1000, until_steady=True)
        self.assertGreater(steady["steady"]["left_out"], 900)
        self.assertAlmostEqual(steady["cost"]["usd"] / 1000, usd_per_step, delta=1e-5 * usd_per_step)

    def test_a_run_of_threads_has_a_cost(self) -> None:
        found = self.summary(PRICES | {"inter": INTER}, runtime="threads", steps=3)
        self.assertEqual(found["bytes_egress"], found["bytes_inter"])
        self.assertGreater(found["cost"]["usd"], found["cost"]["egress_usd"])

    def test_stragglers(self) -> None:
        """In every step one of four workers is delayed by 40 ms: the others lose 40 ms, a mean of 3/4 of that."""
        found = self.summary({"stragglers": {"count": 1, "delay": "40ms"}})
        self.assertAlmostEqual(found["straggler_share"], 0.030 / found["step_s"], places=9)
        self.assertAlmostEqual(self.summary({})["straggler_share"], 0, places=9)

    def test_tails(self) -> None:
        """A worker that is frozen once makes one of 20 steps long."""
        failures = {"events": [{"at": "100ms", "kind": "freeze", "rank": 1, "for": "1s"}]}
        found = self.summary({"failures": failures}, steps=20)
        steps = sorted(record["step_s"] for record in self.metrics(next(iter(self.done()))))
        self.assertGreater(steps[-1], 1)
        self.assertEqual(found["step_p50_s"], steps[9])
        self.assertEqual(found["step_p95_s"], steps[18])
        self.assertEqual(found["step_p99_s"], steps[19])

    def test_tables_show_cost_energy_and_tails(self) -> None:
        cluster = CLUSTER | PRICES | {"accelerator": RATES | POWER, "stragglers": {"count": 1, "delay": "40ms"}}
        config = self.write(experiment(cluster=cluster, workload="profile:one.json", eval_every=0))
        self.trigram("run", config)
        table = self.trigram("table", self.results).stdout
        self.assertRegex(table, r"stragglers \(%\)")
        self.assertRegex(table, r"cost/step \(m\$\) +energy/step \(mWh\)")
        (record,) = json.loads(self.trigram("table", self.results, "--json").stdout)[0]["rows"]
        (manifest,) = self.manifests()
        self.assertEqual(record["cost/step"], manifest["summary"]["cost"]["usd_per_step"])
        self.assertEqual(record["p99"], manifest["summary"]["step_p99_s"])

    def test_bad_prices(self) -> None:
        for change, pointer in (({"price_per_node_hour": -1}, "/cluster/price_per_node_hour"),
                                ({"price_per_node_hour": "3"}, "/cluster/price_per_node_hour"),
                                ({"accelerator": {"idle_watts": 60}}, "/cluster/accelerator/idle_watts"),
                                ({"inter": INTER | {"egress_price_per_GB": -1}}, "/cluster/inter/egress_price_per_GB")):
            with self.subTest(pointer):
                self.assertIn(pointer, self.refusal("validate", self.write(experiment(cluster=CLUSTER | change))))

    def test_advise_with_a_budget(self) -> None:
        """Traffic at a dollar per GB makes the algorithm with the fewest bytes the cheapest one, though a slow one."""
        cluster = CLUSTER | PRICES | {"inter": INTER | {"bandwidth": "400Gbps", "egress_price_per_GB": 1.0}}
        arguments = ("advise", "--cluster", self.write(cluster, "cluster.json"), "--profile", "resnet50",
                     "--algorithms", "gradient_allreduce,topk", "--json")
        by_time = json.loads(self.trigram(*arguments).stdout)
        by_money = json.loads(self.trigram(*arguments, "--budget", "100").stdout)
        self.assertEqual(by_money["budget_usd"], 100)
        for advice, key in ((by_money, "usd_per_million_samples"), (by_time, "step_s")):
            values = [c[key] for c in advice["candidates"]]
            self.assertEqual(values, sorted(values))
        self.assertEqual(by_money["candidates"][0]["algorithm"], "topk")
        table = self.trigram(*arguments[:-1], "--budget", "100").stdout
        self.assertIn("Msamples for $100", table)
        self.assertIn("by the samples that a dollar buys", table)

    def test_a_budget_needs_prices(self) -> None:
        refusal = self.refusal("advise", "--cluster", "ethernet_10g", "--profile", "vgg16", "--budget", "100")
        self.assertIn("--budget: has no effect on a cluster without prices", refusal)
