"""The files that runs write, and which runs of a sweep the program makes."""

from __future__ import annotations

import json
import resource
import re
from typing import Any

from harness import CLUSTER, TRIGRAM, CommandTest, experiment, needs_simulator, worlds

SUMMARY = {
    "time_s",
    "step_s",
    "samples_per_s",
    "compute_s",
    "compute_utilisation",
    "communication_s",
    "exposed_s",
    "bytes_intra",
    "bytes_inter",
    "messages_intra",
    "messages_inter",
    "loss",
    "accuracy",
    "worker_loss_mean",
    "worker_accuracy_mean",
    "worker_accuracy_min",
    "consensus_distance",
    "staleness_mean",
    "staleness_max",
    "weights_hash",
    "lower_bound_s",
    "messages_simulated_per_wall_s",
}


class Runs(CommandTest):
    def times(self) -> dict[str, int]:
        return {p.parent.name: p.stat().st_mtime_ns for p in self.results.glob("*/manifest.json")}

    def test_the_last_world_counts(self) -> None:
        path = self.write(experiment())
        self.trigram("run", path, "--world", "mpi", "--world", "threads")
        self.assertEqual([m["experiment"]["runtime"]["name"] for m in self.manifests()], ["threads"])

    def test_folder_of_a_run(self) -> None:
        (manifest,) = self.run_config(experiment())
        folder = self.results / manifest["id"]
        self.assertEqual(
            {path.name for path in folder.iterdir()},
            {"manifest.json", "metrics.jsonl", "trace.json", "log.txt", "DONE"},
        )
        self.assertRegex(manifest["id"], "^[0-9a-f]{12}$")
        self.assertEqual(manifest["status"], "done")
        self.assertLessEqual(SUMMARY, manifest["summary"].keys())
        self.assertEqual(manifest["experiment"]["algorithm"]["name"], "gradient_allreduce")
        self.assertEqual(manifest["experiment"]["seed"], 1)  # defaults are written out

    def test_shards_of_a_sweep_may_run_in_parallel(self) -> None:
        path = self.write(experiment(seed=[1, 2, 3, 4, 5]))
        shards = [self.popen([TRIGRAM, "run", path, "--shard", f"{i}/3", "--jobs", 1]) for i in (1, 2, 3)]
        for shard, count in zip(shards, (2, 2, 1)):
            _, err = shard.communicate(timeout=100)
            self.assertEqual(shard.returncode, 0, err)
            self.assertEqual(bool(re.search(rf"\n{count} runs in \d+ ", err)), count > 1, err)
        self.assertEqual([m["experiment"]["seed"] for m in self.sorted_by_seed()], [1, 2, 3, 4, 5])
        times = self.times()
        done = self.trigram("run", path)
        self.assertIn("5 of 5 runs are done already", done.stderr)
        self.assertEqual(self.times(), times)
        planned = self.trigram("run", path, "--dry-run", "--shard", "2/3").stdout
        self.assertEqual([line.split()[-1] for line in planned.splitlines()], ["seed=2", "seed=5"])

    def test_a_shard_may_have_no_runs(self) -> None:
        path = self.write(experiment(seed=[1, 2]))
        self.assertIn("has no runs", self.trigram("run", path, "--shard", "3/3").stdout)
        self.assertEqual(self.manifests(), [])
        err = self.trigram("run", path, "--shard", "4/3", code=2).stderr
        self.assertIn('--shard: expected I/N with 1 <= I <= N, such as 1/8, not "4/3"', err)

    def sorted_by_seed(self) -> list[dict[str, Any]]:
        return sorted(self.manifests(), key=lambda m: m["experiment"]["seed"])

    def test_metrics(self) -> None:
        (manifest,) = self.run_config(experiment())
        steps = self.metrics(manifest["id"])
        summary = manifest["summary"]
        self.assertEqual([s["step"] for s in steps], list(range(6)))
        self.assertEqual([s["step"] for s in steps if "consensus_distance" in s], [2, 5], "eval_every is 3")
        for key in ("bytes_intra", "bytes_inter", "messages_intra", "messages_inter"):
            self.assertEqual(sum(s[key] for s in steps), summary[key])
        self.assertAlmostEqual(sum(s["step_s"] for s in steps), summary["time_s"])
        self.assertEqual(summary["consensus_distance"], 0, "allreduce keeps the workers equal")
        if manifest["time_kind"] == "simulated":
            self.assertGreaterEqual(summary["time_s"], summary["lower_bound_s"])

    def test_trigram_follows_from_the_options(self) -> None:
        sweep = {"/algorithm/codec": ["none", "sign"]}
        manifests = self.run_config(experiment(algorithm={"name": "wagma"}, sweep=sweep))
        self.assertEqual(len(manifests), 2)
        for manifest in manifests:
            full = manifest["experiment"]["algorithm"]["codec"] == "none"
            trigram = f"async, {'full' if full else 'low'}, decentralised"
            self.assertEqual(manifest["algorithm_trigram"], trigram)

    def test_servers_beside_the_workers_do_not_change_the_weights(self) -> None:
        """Six ranks, two of which are servers, learn the same as four workers. The samples of servers do not count."""
        for world in [name for name in ("sim", "threads") if worlds()[name]]:
            manifests = self.run_config(
                experiment(
                    runtime=world,
                    workload={"name": "quadratic", "heterogeneity": 1, "noise": 0.5},
                    algorithm={"name": "parameter_server", "servers": 2},
                    optimizer={"name": "sgd", "lr": 0.01, "lr_scaling": "linear"},
                    zip={"/algorithm/placement": ["among", "beside"], "/cluster/workers_per_node": [2, 3]},
                )
            )
            among, beside = sorted(
                (m for m in manifests if m["world"] == world), key=lambda m: m["experiment"]["algorithm"]["placement"]
            )
            for key in ("weights_hash", "loss", "eval_loss", "consensus_distance"):
                self.assertEqual(among["summary"][key], beside["summary"][key], key)
            for m in (among, beside) if world == "sim" else ():  # in real time, workers end at different times
                batch = m["summary"]["samples_per_s"] * m["summary"]["time_s"] / (6 * 4)
                self.assertAlmostEqual(batch / round(batch), 1, delta=0.05)
            losses = [s["loss"] for s in self.metrics(among["id"])]
            self.assertEqual(losses, [s["loss"] for s in self.metrics(beside["id"])])

    def test_samples_per_second_count_samples_of_the_timed_model(self) -> None:
        """A step that is timed as BERT-Large has six samples per worker, no matter which model is trained."""
        workloads = [
            "bert_large",
            {"name": "quadratic", "priced_as": "bert_large"},
            {"name": "quadratic", "priced_as": "bert_large", "values": False},
        ]
        for manifest in self.run_config(experiment(runtime="sim", sweep={"/workload": workloads})):
            summary = manifest["summary"]
            # Workers end at different times, so some are a little faster than the slowest worker.
            self.assertAlmostEqual(summary["samples_per_s"] * summary["step_s"], 4 * 6, delta=0.1)

    def test_all_micro_batches_of_a_step_count(self) -> None:
        """A step of DropCompute has several mini-batches. The mini-batches that a worker computes in time count."""
        whole = {"name": "dropcompute", "micro_batches": 4, "profile_steps": 0}
        # After a warm-up of three steps without drops, workers stop after their second mini-batch.
        dropping = {"name": "dropcompute", "micro_batches": 4, "threshold": "600ms"}
        sweep = {"/algorithm": [whole, dropping]}
        settings = experiment(runtime="sim", workload="bert_large", steps=6, sweep=sweep)
        for manifest in self.run_config(settings):
            drops = "threshold" in manifest["sweep"]["/algorithm"]
            batches = 2 if drops else 4
            summary = manifest["summary"]
            self.assertAlmostEqual(summary["samples_per_s"] * summary["step_s"], 4 * 6 * batches, delta=0.5)

    def test_the_last_evaluation_of_an_asynchronous_server_sees_the_final_weights(self) -> None:
        (manifest,) = self.run_config(
            experiment(algorithm="async_parameter_server", workload={"name": "quadratic", "heterogeneity": 1})
        )
        self.assertEqual(manifest["summary"]["consensus_distance"], 0)

    def test_a_sweep_is_a_product_and_a_zip_advances_its_lists_together(self) -> None:
        manifests = self.run_config(
            experiment(
                sweep={"/steps": [2, 3], "/algorithm/overlap": [True, False]},
                zip={"/seed": [1, 2, 3], "/optimizer/lr": [0.1, 0.2, 0.3]},
            )
        )
        points = {
            (
                m["experiment"]["steps"],
                m["experiment"]["algorithm"]["overlap"],
                m["experiment"]["seed"],
                m["experiment"]["optimizer"]["lr"],
            )
            for m in manifests
        }
        expected = {
            (steps, overlap, seed, seed / 10) for steps in (2, 3) for overlap in (True, False) for seed in (1, 2, 3)
        }
        self.assertEqual(len(manifests), 12)
        self.assertEqual(points, expected)

    def test_a_swept_field_is_applied_after_its_zipped_parent(self) -> None:
        manifests = self.run_config(
            experiment(
                sweep={"/cluster/nodes": [2, 3]},
                zip=[{"/cluster": CLUSTER | {"workers_per_node": workers}} for workers in (1, 2)],
            )
        )
        clusters = [m["experiment"]["cluster"] for m in manifests]
        points = sorted((c["nodes"], c["workers_per_node"]) for c in clusters)
        self.assertEqual(points, [(2, 1), (2, 2), (3, 1), (3, 2)])

    def test_seeds_give_mean_and_spread(self) -> None:
        path = self.write(experiment(seed=[1, 2, 3]))
        table = self.trigram("run", path, table=True).stdout
        self.assertRegex(table, r"gradient_allreduce .* ±")
        self.assertIn("mean ± standard deviation over 3 seeds", table)
        losses = {m["summary"]["loss"] for m in self.manifests()}
        self.assertEqual(len(losses), 3)

    def test_set_replaces_a_sweep(self) -> None:
        config = experiment(sweep={"/steps": [2, 3]})
        (manifest,) = self.run_config(config, "--set", "/steps=4", "--set", "/optimizer=adam")
        self.assertEqual(manifest["experiment"]["steps"], 4)
        self.assertEqual(manifest["experiment"]["optimizer"]["name"], "adam")

    def test_a_set_field_is_applied_after_its_set_parent(self) -> None:
        settings = ("/optimizer/lr=0.5", "/optimizer=adam", "/steps=3", "/steps=2")
        arguments = [word for setting in settings for word in ("--set", setting)]
        (manifest,) = self.run_config(experiment(), *arguments)
        self.assertEqual(manifest["experiment"]["optimizer"]["name"], "adam")
        self.assertEqual(manifest["experiment"]["optimizer"]["lr"], 0.5)
        self.assertEqual(manifest["experiment"]["steps"], 2)

    def test_options_of_default_components_can_be_set(self) -> None:
        config = experiment()
        for field in ("runtime", "optimizer"):
            config.pop(field, None)
        (manifest,) = self.run_config(config, "--set", "/runtime/fidelity=fluid", "--set", "/optimizer/lr=0.5")
        self.assertEqual(
            manifest["experiment"]["runtime"] | {"name": "sim", "fidelity": "fluid"}, manifest["experiment"]["runtime"]
        )
        self.assertEqual(manifest["experiment"]["optimizer"]["lr"], 0.5)

    def test_finished_runs_are_not_made_again(self) -> None:
        config = experiment(sweep={"/steps": [2, 3]})
        self.run_config(config)
        before = self.times()
        config["sweep"]["/steps"].append(4)
        self.run_config(config)
        after = self.times()
        self.assertEqual(len(after), 3)
        self.assertLessEqual(before.items(), after.items())
        self.run_config(config, "--force")
        self.assertTrue(all(self.times()[run] > after[run] for run in after))

    def test_the_name_of_a_run_does_not_change_its_id(self) -> None:
        (first,) = self.run_config(experiment(description="one thing"))
        (second,) = self.run_config(experiment(description="another"))
        self.assertEqual(first["id"], second["id"])
        self.assertEqual(len(self.run_config(experiment(seed=2))), 2)

    def test_input_files_change_the_id(self) -> None:
        profile = "tensor,numel,forward_s,backward_s\na,{},0.001,0.002\n"
        config = experiment(workload="profile:my.csv")
        (self.folder / "my.csv").write_text(profile.format(1000))
        self.run_config(config)
        (self.folder / "my.csv").write_text(profile.format(2000))
        self.assertEqual(len(self.run_config(config)), 2)

    def test_finished_runs_are_used_by_another_sweep(self) -> None:
        self.run_config(experiment(sweep={"/seed": [1, 2], "/steps": [3]}))
        before = {m["id"]: m["finished"] for m in self.manifests()}
        manifests = self.run_config(experiment(sweep={"/seed": [1, 2]}, steps=3))
        for m in manifests:
            self.assertEqual(m["sweep"], {"/seed": m["experiment"]["seed"]})
        self.assertEqual({m["id"]: m["finished"] for m in manifests}, before, "the runs are not repeated")

    def test_ten_thousand_runs_are_planned_in_seconds(self) -> None:
        sweep = {"/seed": list(range(1000)), "/cluster/nodes": list(range(1, 11))}
        config = self.write(experiment(workload="bert_large", eval_every=0, sweep=sweep))
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        self.assertEqual(len(self.trigram("run", config, "--dry-run").stdout.splitlines()), 10_000)
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, 5)

    def test_dry_run_makes_nothing(self) -> None:
        planned = self.trigram("run", self.write(experiment(seed=[1, 2])), "--dry-run").stdout
        self.assertEqual(len(planned.splitlines()), 2)
        self.assertFalse(self.results.exists())

    def test_stale_runs_are_reported(self) -> None:
        (manifest,) = self.run_config(experiment())
        path = self.results / manifest["id"] / "manifest.json"
        for changed, reason in (
            ({"git": "another"}, "was made by version another, this is "),
            ({"git": 7}, "was made by version , this is "),
            ({"schema_version": 0}, "is of schema 0, this program's is 1"),
        ):
            path.write_text(json.dumps({**manifest, **changed}))
            again = self.trigram("run", self.write(experiment()), code=1)
            self.assertRegex(again.stderr, f"stale: .* {re.escape(reason)}")
            self.assertIn("stale", self.trigram("status", "results").stdout)
            self.assertEqual(json.loads(path.read_text()), {**manifest, **changed}, "kept")
        self.trigram("run", self.write(experiment()), "--force")
        self.assertEqual(json.loads(path.read_text())["git"], manifest["git"])

    def test_a_failed_run_does_not_stop_the_sweep(self) -> None:
        config = experiment(steps=300, sweep={"/optimizer/lr": [1e6, 0.01, 0.02]})
        failed = self.trigram("run", self.write(config), code=1)
        self.assertRegex(failed.stderr, r"loss of rank \d is \S+ at step \d+")
        self.assertEqual(len(self.done()), 2)
        (manifest,) = [m for m in self.manifests() if m["status"] == "failed"]
        self.assertEqual(manifest["experiment"]["optimizer"]["lr"], 1e6)
        self.assertIn("diverged", manifest["error"])
        status = self.trigram("status", self.results).stdout
        self.assertIn("1 failed", status)
        self.assertIn("2 done", status)
        self.trigram("run", self.write(config), code=1)  # a failed run is repeated

    @needs_simulator
    def test_parallel_jobs_change_nothing(self) -> None:
        config = experiment(sweep={"/algorithm": ["bytegrad", "async_model_average"]})
        self.run_config(config, "--jobs", 1)
        one_job = {m["id"]: self.comparable(m) for m in self.manifests()}
        self.run_config(config, "--jobs", 4, "--force")
        self.assertEqual(one_job, {m["id"]: self.comparable(m) for m in self.manifests()})

    def comparable(self, manifest: dict[str, Any]) -> dict[str, Any]:
        summary = dict(manifest["summary"])
        del summary["messages_simulated_per_wall_s"]
        return summary | {"steps": self.metrics(manifest["id"])}

    @needs_simulator
    def test_worlds_end_with_the_same_weights(self) -> None:
        algorithms = ["gradient_allreduce", "bytegrad", {"name": "decentralized", "mode": "ring"}]
        manifests = self.run_config(experiment(sweep={"/runtime": ["sim", "threads"], "/algorithm": algorithms}))
        hashes: dict[str, set[str]] = {}
        for m in manifests:
            name = m["experiment"]["algorithm"]["name"]
            hashes.setdefault(name, set()).add(m["summary"]["weights_hash"])
        self.assertEqual({name: len(found) for name, found in hashes.items()}, dict.fromkeys(hashes, 1))

    def test_more_ranks_than_cores_is_a_warning(self) -> None:
        cluster = {**experiment()["cluster"], "nodes": 64, "workers_per_node": 8}
        (manifest,) = self.run_config(experiment(runtime="threads", cluster=cluster, steps=1))
        self.assertEqual(manifest["oversubscribed"], manifest["machine"]["cores"] < 512)

    def test_timeline(self) -> None:
        algorithm = {"name": "gradient_allreduce", "bucket": "1kB"}
        config = experiment(algorithm=algorithm, timeline={"step": 3, "ranks": 2})
        (manifest,) = self.run_config(config)
        trace = json.loads((self.results / manifest["id"] / "trace.json").read_text())
        events = trace["traceEvents"]
        self.assertEqual({e["pid"] for e in events}, {0, 1})
        tracks: dict[tuple[int, int], list[dict[str, Any]]] = {}
        for event in events:
            if event["ph"] == "X":
                tracks.setdefault((event["pid"], event["tid"]), []).append(event)
        self.assertGreaterEqual(len(tracks), 4, "a main and a communication stream each")
        for track in tracks.values():
            track.sort(key=lambda e: (e["ts"], -e["dur"]))
            for before, after in zip(track, track[1:]):
                ends = before["ts"] + before["dur"]
                nested = after["ts"] + after["dur"] <= ends + 1e-3
                self.assertTrue(nested or after["ts"] >= ends - 1e-3, (before, after))
        starts = {e["id"] for e in events if e["ph"] == "s"}
        self.assertGreater(len(starts), 0)
        self.assertEqual(starts, {e["id"] for e in events if e["ph"] == "f"})
