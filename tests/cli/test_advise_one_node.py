"""On a single node, candidates are compared without `hierarchical`: with it, their exchange would never happen."""

from __future__ import annotations

import json
from typing import Any

from advice import AdviseTest
from harness import one_tensor_profile

INSIDE = {"bandwidth": "10Gbps", "latency": "5us"}
ONE = {"nodes": 1, "workers_per_node": 4, "intra": INSIDE}
TWO = {"nodes": 2, "workers_per_node": 2, "inter": INSIDE}
PROFILE = one_tensor_profile(1_000_000, 0.001, 0.002)
BYTEGRAD = {"name": "bytegrad", "hierarchical": True}


class OneNode(AdviseTest):
    def advise(self, cluster: Any, *algorithms: Any) -> tuple[str, dict[str, Any]]:
        self.write(PROFILE, "one.json")
        self.write(cluster, "mine.json")
        candidates = {"cluster": cluster, "workload": "bert_large", "steps": 4, "sweep": {"/algorithm": algorithms}}
        self.write(candidates, "candidates.json")
        command = self.command("mine", "--range", "1.1")
        return self.text_and_answer(command)

    def test_the_exchange_of_an_algorithm_happens(self) -> None:
        out, advice = self.advise(ONE, "gradient_allreduce", BYTEGRAD, {"name": "dpsgd", "hierarchical": True})
        self.assertEqual(
            {json.dumps(c["settings"]["/algorithm"]) for c in advice["candidates"]},
            {'"gradient_allreduce"', '{"hierarchical": false, "name": "bytegrad"}', '{"name": "dpsgd"}'},
        )
        sent = {
            m["experiment"]["algorithm"]["name"]: m["summary"]["bytes_intra"]
            for m in map(json.loads, (p.read_text() for p in self.folder.glob("results/*[!h]/*/manifest.json")))
        }
        self.assertLess(sent["bytegrad"], 0.3 * sent["gradient_allreduce"])
        self.assertIn("assumed: the cluster has one node, whose leader has no other leader to exchange with", out)

    def test_candidates_that_become_equal_without_hierarchy_are_one(self) -> None:
        for plain in ({"name": "bytegrad", "hierarchical": False}, {"name": "bytegrad", "bucket": "10MiB"}, "bytegrad"):
            with self.subTest(plain):
                _, advice = self.advise(ONE, BYTEGRAD, plain)
                self.assertEqual([c["algorithm"] for c in advice["candidates"]], ["bytegrad"])
                self.assertEqual(len(advice["left_out"]), 1)
                self.assertRegex(
                    advice["left_out"][0],
                    "^algorithm=bytegrad( hierarchical=true)?: compared without hierarchical, as algorithm=bytegrad "
                    "hierarchical=false$|the same experiment",
                )

    def test_runs_on_one_node_whose_exchange_never_happens_are_marked(self) -> None:
        self.write(PROFILE, "one.json")
        local = {"name": "local_sgd", "sync_every": 2, "hierarchical": True}  # its exchange is the mean
        plain = BYTEGRAD | {"hierarchical": False}
        config = {
            "cluster": ONE,
            "workload": "profile:one.json",
            "steps": 4,
            "sweep": {"/algorithm": ["gradient_allreduce", BYTEGRAD, plain, local]},
        }
        out = self.trigram("run", self.write(config), table=True).stdout
        self.assertEqual(out.count(" ‡ "), 1)
        self.assertIn("‡ never best: was hierarchical on one node", out)
        shortfalls = {json.dumps(m["sweep"]["/algorithm"]): m["summary"]["shortfall"] for m in self.manifests()}
        self.assertEqual(shortfalls.pop(json.dumps(BYTEGRAD, sort_keys=True))["of"], "run")
        self.assertEqual(set(shortfalls.values()), {None})

    def test_on_several_nodes_both_candidates_remain(self) -> None:
        out, advice = self.advise(TWO, BYTEGRAD, BYTEGRAD | {"hierarchical": False})
        self.assertEqual(len(advice["candidates"]), 2)
        self.assertNotIn("one node", out)
