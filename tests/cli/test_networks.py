"""`trigram show network` describes networks, and refuses impossible networks with one line that names the place and
with exit code 2."""

from __future__ import annotations

import json
import shutil

from harness import CLUSTER, SOURCE, experiment, needs_simulator, worlds
from networks import TORUS, WAN, NetworkTest, cluster, dragonfly, wan

# mistake: (cluster, pointer, part of the message)
CASES = {
    "unknown topology": (cluster(4, {"kind": "torous"}), "/topology/kind", 'did you mean "torus"?'),
    "unknown topology by name": (cluster(4, "flatt"), "/topology", 'did you mean "flat"?'),
    "topology without a kind": (cluster(4, {"dimensions": [4]}), "/topology/kind", "missing"),
    "neither a kind nor an object": (cluster(4, 7), "/topology", 'object with "kind"'),
    "option of another topology": (
        cluster(4, {"kind": "torus", "dimensions": [4], "taper": 2}),
        "/topology/taper", "unknown key",
    ),
    "torus of another size": (cluster(4, TORUS), "/topology/dimensions", "4 x 3 does not have the cluster's 4 nodes"),
    "torus without dimensions": (cluster(4, {**TORUS, "dimensions": []}), "/topology/dimensions", "1 to 16"),
    "torus with an empty dimension": (
        cluster(4, {**TORUS, "dimensions": [4, 0]}),
        "/topology/dimensions/1", "an integer from 1",
    ),
    "torus that overflows": (
        cluster(4, {**TORUS, "dimensions": [1 << 20] * 8}),
        "/topology/dimensions", "does not have the cluster's 4 nodes",
    ),
    "link without bandwidth": (cluster(12, {**TORUS, "bandwidth": "0Gbps"}), "/topology/bandwidth", "above zero"),
    "NIC without bandwidth": (
        cluster(4, "flat", inter={"bandwidth": "0Gbps", "latency": "5us"}),
        "/inter/bandwidth", "above zero",
    ),
    "region without bandwidth to it": (
        wan(bandwidth=[[None, "0Gbps"], ["2Gbps", None]]),
        "/topology/bandwidth/0/1", "above zero",
    ),
    "dragonfly without routers": (
        dragonfly(8, routers_per_group=0),
        "/topology/routers_per_group", "an integer from 1",
    ),
    "too many groups": (dragonfly(80, groups=10), "/topology/groups", "at most a h + 1 = 4 x 2 + 1 = 9, not 10"),
    "dragonfly of another size": (dragonfly(73), "/topology", "do not have the cluster's 73 nodes"),
    "dragonfly of too many links": (
        dragonfly(1 << 20, groups=1, routers_per_group=1 << 20, nodes_per_router=1),
        "/topology/routers_per_group", "at most 67108864 links",
    ),
    "odd number of ports": (cluster(31, {"kind": "fat_tree", "k": 5}), "/topology/k", "expected an even number, not 5"),
    "fat tree of another size": (
        cluster(8, {"kind": "fat_tree", "k": 4}),
        "/topology/k", "k^3/4 = 16 nodes; expected a k for the cluster's 8",
    ),
    "fat tree without a size": (cluster(8, {"kind": "fat_tree"}), "/topology/nodes_per_leaf", "missing"),
    "fat tree with the options of two kinds": (
        cluster(16, {"kind": "fat_tree", "k": 4, "nodes_per_leaf": 4}),
        "/topology/nodes_per_leaf", "expected one of them",
    ),
    "nodes that do not fill their leaves": (
        cluster(10, {"kind": "fat_tree", "nodes_per_leaf": 4}),
        "/topology/nodes_per_leaf", "a divisor of the number of nodes, 10, not 4",
    ),
    "taper that is no divisor": (
        cluster(8, {"kind": "fat_tree", "nodes_per_leaf": 4, "taper": 3}),
        "/topology/taper", "a divisor of nodes_per_leaf, 4, not 3",
    ),
    "boards of another size": (
        cluster(8, {"kind": "hammingmesh", "board": [2, 2], "boards": [3, 3]}),
        "/topology/boards", "3 x 3 boards of 2 x 2 do not have the cluster's 8 nodes",
    ),
    "board with one number": (
        cluster(8, {"kind": "hammingmesh", "board": [2], "boards": [2, 2]}),
        "/topology/board", "rows and columns",
    ),
    "wan of another size": (
        wan(regions=[{"name": "here", "nodes": 1}, {"name": "there", "nodes": 1}]),
        "/topology/regions", "have 2 nodes; expected the cluster's 4",
    ),
    "too few rows": (wan(delay=[[None, "1ms"]]), "/topology/delay", "square matrix with 2 rows"),
    "too many columns": (
        wan(bandwidth=[[None, "1Gbps"], ["1Gbps", None, "1Gbps"]]),
        "/topology/bandwidth/1", "square matrix with 2 columns",
    ),
    "round trip that differs by direction": (
        wan(delay=[[None, "30ms"], ["31ms", None]]),
        "/topology/delay/1/0", "expected 30ms",
    ),
    "region that cannot be reached": (
        wan(bandwidth=[[None, "1Gbps"], [None, None]]),
        "/topology/bandwidth/1/0", "here cannot be reached from there",
    ),
    "bandwidth inside a region": (
        wan(bandwidth=[["1Gbps", "1Gbps"], ["1Gbps", None]]),
        "/topology/bandwidth/0/0", "expected null",
    ),
    "delay without its direction": (
        cluster(4, {key: value for key, value in WAN.items() if key != "delay_is"}),
        "/topology/delay_is", "missing",
    ),
    "bridge bandwidth of a fabric without bridges": (
        cluster(4, "flat", intra={**CLUSTER["intra"], "bridge_bandwidth": "1GB/s"}),
        "/intra/bridge_bandwidth", '"kind": "pcie"',
    ),
    "unknown fabric": (
        cluster(4, "flat", intra={**CLUSTER["intra"], "kind": "nvlnk"}),
        "/intra/kind", 'did you mean "nvlink"?',
    ),
    "background traffic that exceeds the spines' bandwidth": (
        cluster(
            8,
            {"kind": "fat_tree", "nodes_per_leaf": 4, "taper": 4},
            inter={**CLUSTER["inter"], "background": {"load": 0.6}},
        ),
        "/inter/background/load",
        "expected at most 0.39, not 0.6: background traffic would need 1.37 times the long-run bandwidth of the link "
        "leaf",
    ),
    "unknown sharing": (cluster(4, "flat", nics="share"), "/nics", 'did you mean "shared"?'),
}


class Networks(NetworkTest):
    def test_impossible_networks_are_refused(self) -> None:
        for mistake, (description, pointer, expectation) in CASES.items():
            with self.subTest(mistake):
                path = self.write(description)
                shown = self.trigram("show", "network", path, code=2)
                ran = self.trigram("run", self.write(experiment(cluster=description)), code=2)
                for refused, place in ((shown, f"{path}: {pointer}"), (ran, f"{path}: /cluster{pointer}")):
                    lines = refused.stderr.splitlines()
                    self.assertEqual(len(lines), 1, refused.stderr)
                    self.assertTrue(lines[0].startswith(f"trigram: {place}: "), lines[0])
                    self.assertIn(expectation, lines[0])
                    self.assertEqual(refused.stdout, "")

    def test_links_that_change_refuse_flows_and_simgrids_tcp(self) -> None:
        if not worlds()["sim"]:
            self.skipTest("there is no simulator")
        tcp = ("network_model", "tcp", 'expected "alpha_beta" if links have shaping, a profile, '
               "background or partitions")
        fluid = ("fidelity", "fluid", 'expected "message" or "auto" if links have a profile, '
                 'background or partitions, the accelerator has an overlap_slowdown, or the transport has slices or '
                 'a protocol other than "eager"')
        for change, refusals in (
            ({"shaping": {"rate": "1Gbps"}}, [tcp]),
            ({"profile": [{"at": "1s", "bandwidth": 0.5}]}, [tcp, fluid]),
            ({"background": {"load": 0.5}}, [tcp, fluid]),
        ):
            for option, choice, expectation in refusals:
                config = experiment(
                    runtime={"name": "sim", option: choice},
                    cluster={**CLUSTER, "inter": {**CLUSTER["inter"], **change}},
                )
                refused = self.trigram("run", self.write(config), code=2).stderr
                self.assertTrue(refused.endswith(f": /runtime/{option}: {expectation}\n"), refused)

    def test_the_manifest_says_how_collectives_were_simulated(self) -> None:
        if not worlds()["sim"]:
            self.skipTest("there is no simulator")
        changing = {**CLUSTER["inter"], "profile": [{"at": "1s", "bandwidth": 0.5}]}

        def counts(fluid: int, by_messages: int) -> dict[str, int]:
            return {"collectives_fluid": fluid, "collectives_by_messages": by_messages,
                    "collectives_sharing_links": 0}

        for fidelity, change, expected in (  # six steps with a ring in each; evaluations do not count
            ("auto", {"nodes": 4, "workers_per_node": 1}, counts(6, 0)),
            ("auto", {}, counts(6, 0)),  # a ring that crosses each NIC once
            ("fluid", {}, counts(6, 0)),
            ("auto", {"inter": changing}, {"collectives_fluid": 0}),
            ("message", {}, {}),
        ):
            config = experiment(runtime={"name": "sim", "fidelity": fidelity},
                                cluster={**CLUSTER, **change})
            self.trigram("run", self.write(config), "--force")
            (manifest,) = self.manifests()
            self.assertEqual(manifest["summary"]["world"], expected, (fidelity, change))
            self.assertEqual(manifest["experiment"]["runtime"]["fidelity"], fidelity)
            shutil.rmtree(self.results)

    def test_a_run_says_that_flows_between_unequal_nics_may_end_too_early(self) -> None:
        if not worlds()["sim"]:
            self.skipTest("there is no simulator")
        for jitter, algorithm, warned in ((0.3, "bytegrad", True), (0.3, "gradient_allreduce", False),
                                          (0, "bytegrad", False)):
            config = experiment(runtime={"name": "sim", "fidelity": "fluid"}, algorithm=algorithm,
                                cluster={**CLUSTER, "nodes": 4, "bandwidth_jitter": jitter})
            self.trigram("run", self.write(config), "--force")
            (manifest,) = self.manifests()
            warnings = [w for w in manifest["warnings"] if w.startswith("all-to-all exchanges between NICs")]
            self.assertEqual(len(warnings), int(warned), (jitter, algorithm))
            shutil.rmtree(self.results)

    def test_summary(self) -> None:
        shown = self.show(cluster(12, {**TORUS, "latency": "2us", "bandwidth": "1Gbps"}))
        self.assertEqual(shown["topology"], "torus")
        self.assertEqual(shown["workers"], "12")
        self.assertEqual(shown["switches"], "12")
        self.assertEqual(shown["links"], "72, each direction counted")  # 12 x (2 + 4)
        self.assertEqual(shown["narrowest link"], "0.125 GB/s")
        self.assertEqual(shown["widest link"], "1.25 GB/s")
        self.assertEqual(shown["bisection bandwidth"], "0.75 GB/s, across a dimension")
        self.assertEqual(shown["diameter"], "5 links")  # 2 + 1 between routers, and two NICs
        self.assertEqual(shown["largest latency"], "56 us")

    def test_limits_of_connections_are_shown(self) -> None:
        """The rate of a connection is its window per round trip, but at most the bandwidth of the narrowest link."""
        description = {
            **cluster(4, "flat", workers_per_node=2),
            "inter": {"bandwidth": "10Gbps", "latency": "5ms"},
            "intra": {"bandwidth": "50GB/s", "latency": "5us"},
        }
        shown = self.show(description)
        self.assertEqual(shown["inside a node"], "50 GB/s by links, latency 5 us")
        self.assertEqual(shown["between nodes"], "1.25 GB/s by links, latency 5 ms")
        windows = {"tcp": {"window": "1MB", "slow_start": False}, "channels": 2}
        shown = self.show({**description, "transport": windows})
        self.assertEqual(shown["between nodes"], "0.1 GB/s by TCP's window, latency 5 ms")
        self.assertEqual(shown["on 2 channels"], "0.2 GB/s by TCP's window, latency 5 ms")
        shown = self.show({**description, "transport": {**windows, "stream_cap": "50MB/s"}})
        self.assertEqual(shown["between nodes"], "0.05 GB/s by the streams' cap, latency 5 ms")

    @needs_simulator
    def test_a_sweep_of_topologies(self) -> None:
        narrow = {"bandwidth": "1Gbps"}
        config = experiment(
            name="test",
            runtime="sim",
            cluster=cluster(4, "flat"),
            workload="vgg16",
            steps=1,
            sweep={
                "/cluster/topology": [
                    "flat",
                    {"kind": "torus", "dimensions": [2, 2], **narrow},
                    {"kind": "fat_tree", "nodes_per_leaf": 2, "taper": 2, **narrow},
                ]
            },
        )
        table = self.trigram("run", self.write(config), table=True).stdout
        self.assertIn("torus", table)
        steps = {}
        for path in self.results.glob("*/manifest.json"):
            manifest = json.loads(path.read_text())
            topology = manifest["experiment"]["cluster"]["topology"]
            steps[topology["kind"]] = manifest["summary"]["step_s"]
        self.assertEqual(sorted(steps), ["fat_tree", "flat", "torus"])
        self.assertLess(steps["flat"], steps["torus"])
        self.assertLess(steps["flat"], steps["fat_tree"])

    @needs_simulator
    def test_small_dragonflies_are_simulated(self) -> None:
        """A dragonfly may have only one group, one router per group or one node per router."""
        shapes = [(g, a, p, h) for g in (1, 2, 3, 5) for a in (1, 2) for p in (1, 2)
                  for h in (1, 2) if g <= a * h + 1]
        rows = [{"/cluster/nodes": g * a * p,
                 "/cluster/topology": {"kind": "dragonfly", "groups": g, "routers_per_group": a,
                                       "nodes_per_router": p, "global_links_per_router": h}}
                for g, a, p, h in shapes]
        self.run_config(experiment(runtime="sim", cluster=CLUSTER, steps=1, zip=rows))
        self.assertEqual(len(self.done()), len(shapes))

    def test_networks_of_experiments_and_presets_are_shown(self) -> None:
        shown = self.show(experiment(cluster=cluster(4, WAN)))
        self.assertEqual(shown["topology"], "wan")
        preset = self.trigram("show", "network", "world").stdout
        path = SOURCE / "configs" / "clusters" / "world.json"
        self.assertEqual(preset, self.trigram("show", "network", path).stdout)

    def test_presets_are_networks(self) -> None:
        presets = sorted((SOURCE / "configs" / "clusters").glob("*.json"))
        self.assertGreater(len(presets), 6)
        readme = (SOURCE / "configs" / "clusters" / "README.md").read_text()
        for path in presets:
            with self.subTest(path.name):
                self.trigram("show", "network", path.stem)
                self.assertIn(f"`{path.name}`", readme)

    def test_no_such_network(self) -> None:
        refused = self.trigram("show", "network", "nowhere", code=2)
        self.assertIn("nowhere", refused.stderr)
        unwritable = self.trigram(
            "show", "network", self.write(cluster(4, "flat")), "-o", "no/such/folder.svg", code=2
        )
        self.assertIn("--output", unwritable.stderr)
        self.assertEqual(unwritable.stdout, "")
        bitmap = self.trigram(
            "show", "network", self.write(cluster(4, "flat")), "-o", "network.png", code=2
        )
        self.assertIn("ends in .svg", bitmap.stderr)
        self.assertFalse((self.folder / "network.png").exists())
