"""The program as an MPI job: all processes take part in every run, and only rank 0 prints."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time

from harness import CLUSTER, SOURCE, TRIGRAM, experiment, needs_simulator
from jobs import ALGORITHMS, ENDLESS, ENVIRONMENT, WATCHDOG_S, JobTest


class Jobs(JobTest):
    def hashes(self) -> dict[str, str]:
        return {
            m["experiment"]["algorithm"]["name"]: m["summary"]["weights_hash"]
            for m in self.manifests()
        }

    def test_deterministic_algorithms_end_with_the_same_weights_as_in_other_worlds(self) -> None:
        path = self.write(experiment(runtime="mpi", sweep={"/algorithm": ALGORITHMS}))
        out, err = self.job(4, "run", path)
        self.assertEqual(out.count("gradient_allreduce"), 1, out)
        self.assertEqual(len(re.findall(r"\[5/5\]", err)), 1, err)
        self.assertRegex(err, r"\n5 runs in \d+ ")
        self.assertEqual(len(self.done()), len(ALGORITHMS))
        in_mpi = self.hashes()
        for run in self.results.iterdir():
            self.assertEqual(len((run / "metrics.jsonl").read_text().splitlines()), 6)
            self.assertIn("traceEvents", (run / "trace.json").read_text())

        _, err = self.job(4, "run", path)
        self.assertIn("5 of 5 runs are done already", err)

        shutil.rmtree(self.results)
        self.trigram("run", path, "--set", "/runtime=threads")
        in_threads = self.hashes()
        self.assertEqual(set(in_threads), set(in_mpi))
        for name in ("gradient_allreduce", "bytegrad", "decentralized", "parameter_server"):
            self.assertEqual(in_threads[name], in_mpi[name], name)

    def test_control_messages_of_a_run_do_not_reach_the_next_run(self) -> None:
        """With this short watchdog, ranks often send their status, even when other ranks have already ended the run."""
        runtime = {"name": "mpi", "watchdog": "40ms"}
        path = self.write(experiment(runtime=runtime, steps=2, sweep={"/seed": list(range(150))}))
        self.job(4, "run", path, "--quiet", "--no-table")
        self.assertEqual(len(self.done()), 150)

    def test_native_collectives_give_the_same_weights_and_counts(self) -> None:
        algorithms = [{"name": "gradient_allreduce", "allreduce": a} for a in ("ring", "native")]
        path = self.write(experiment(runtime="mpi", sweep={"/algorithm": algorithms}))
        self.job(4, "run", path)
        ring, native = sorted(self.manifests(), key=lambda m: m["sweep"]["/algorithm"]["allreduce"],
                              reverse=True)
        self.assertEqual(native["experiment"]["algorithm"]["allreduce"], "native")
        ring, native = ring["summary"], native["summary"]
        self.assertAlmostEqual(native["loss"], ring["loss"], delta=1e-5 * abs(ring["loss"]))
        for count in ("bytes_intra", "bytes_inter", "messages_intra", "messages_inter"):
            self.assertEqual(native[count], ring[count], count)

    def test_a_job_is_benchmarked_and_only_rank_0_prints(self) -> None:
        out, _ = self.job(3, "bench", "--json", "--max-bytes", "1MiB", "--factor", "64",
                          "--iters", "2", "--warmup", "1")
        report = json.loads(out)
        self.assertEqual((report["ranks"], report["world"]["name"]), (3, "mpi"))
        self.assertEqual({row["wrong"] for row in report["rows"]}, {0})
        self.assertEqual({row["operation"] for row in report["rows"]
                          if row["algorithm"] == "native"},
                         {"allreduce", "reduce_scatter", "allgather", "broadcast", "all_to_all"})
        self.job(2, "bench", "--runtime", "threads", code=2)
        self.job(2, "bench", "--ranks", "3", code=2)

    def test_ranks_that_share_no_core_are_not_called_oversubscribed(self) -> None:
        """The cores of all ranks of a machine count, no matter how mpirun binds ranks to cores."""
        cores = sorted(os.sched_getaffinity(0))
        if len(cores) < 2:
            self.skipTest("one core")
        path = self.write(experiment(runtime="mpi", cluster={**CLUSTER, "nodes": 1}))
        for separate in (True, False):
            script = self.folder / "bound.sh"
            other = cores[1] if separate else cores[0]
            script.write_text(
                f'test "$OMPI_COMM_WORLD_RANK" = 0 && core={cores[0]} || core={other}\n'
                f'exec taskset --cpu-list $core {TRIGRAM} "$@"\n'
            )
            command = ["mpirun", "-n", "2", "sh", script]
            run = self.popen([*command, "run", path, "--force"], env=ENVIRONMENT)
            _, err = run.communicate(timeout=100)
            self.assertEqual(run.returncode, 0, err)
            (manifest,) = self.manifests()
            self.assertEqual(manifest["machine"]["cores"], 1 + separate)
            self.assertEqual(manifest["oversubscribed"], not separate)
            bench = self.popen([*command, "bench", "allreduce", "--json", "--max-bytes", "8B",
                                "--iters", "1"], env=ENVIRONMENT)
            out, err = bench.communicate(timeout=100)
            self.assertEqual(json.loads(out)["machine"]["cores"], 1 + separate, err)

    def test_a_job_that_does_not_fit_its_cluster_is_reported_once(self) -> None:
        path = self.write(experiment(runtime="mpi"))
        cases = [
            (3, ["run", path], "/cluster: expected as many workers as processes"),
            (2, ["run", path, "--set", "/runtime=threads"], "/runtime: a launcher started 2"),
            (2, ["run", path, "--set", "/stepz=3"], '/stepz: unknown key "stepz"'),
        ]
        for ranks, arguments, message in cases:
            _, err = self.job(ranks, *arguments, code=2)
            # mpirun ends the other ranks, which may print a last message, too.
            lines = re.findall("^trigram: (?!rank).*", err, re.MULTILINE)
            self.assertEqual(len(lines), 1, err)
            self.assertIn(message, lines[0])
        self.assertFalse(self.results.exists())

    def test_a_calibration_that_fails_is_reported_once(self) -> None:
        """Whether four elements take longer than two depends on chance, so one of the attempts probably fails."""
        command = ["calibrate", "--min-bytes", "4B", "--max-bytes", "16B", "--iters", "1"]
        for _ in range(20):
            job = self.start(2, *command)
            _, err = job.communicate(timeout=100)
            if job.returncode:
                break
        self.assertEqual(job.returncode, 1, err)
        self.assertEqual(re.findall("^trigram: .*", err, re.M),
                         ["trigram: the measured times do not grow with the size"])

    def test_without_a_launcher_the_error_names_mpirun(self) -> None:
        err = self.trigram("run", self.write(experiment(runtime="mpi")), code=2).stderr
        self.assertIn("mpirun", err)

    @needs_simulator
    def test_a_single_process_simulates_in_any_shell(self) -> None:
        """A shell in an allocation has the variables of srun, and so have all programs that it starts, even if they
        belong to no job."""
        path = self.write(experiment(runtime="sim"))
        for rank, tasks in ((0, 1), (2, 1)):
            shell = {**ENVIRONMENT, "PMIX_RANK": str(rank), "SLURM_NTASKS": str(tasks)}
            for command in (["run", path, "--force"], ["bench", "allreduce", "--runtime", "sim"]):
                process = self.popen([TRIGRAM, *command], env=shell)
                out, err = process.communicate(timeout=100)
                self.assertEqual(process.returncode, 0, err)
                self.assertTrue(out)
        self.assertEqual(len(self.done()), 1)

    def test_a_stopped_process_is_named_and_finished_runs_are_kept(self) -> None:
        self.check_that_a_stopped_process_is_named({"name": "mpi"})

    def test_a_job_that_was_stopped_as_a_whole_continues(self) -> None:
        """Ranks that were all stopped do not count this time as silence of other ranks."""
        path = self.write(experiment(runtime={"name": "mpi", "watchdog": "2s"},
                                     sweep={"/steps": [3, ENDLESS]}))
        job = self.start(4, "run", path, "--quiet", "--rank-logs", "logs")
        ranks = self.ranks_in_second_run(job)
        for number in (signal.SIGSTOP, signal.SIGCONT):
            for pid in ranks.values():
                os.kill(pid, number)
                self.addCleanup(self.continue_process, pid)
            time.sleep(7)  # longer than the allowed silence of 5 s
        self.assertIsNone(job.poll())
        steps = self.log(2).count(" ended at ")
        self.wait_for(lambda: self.log(2).count(" ended at ") > steps)
        job.send_signal(signal.SIGINT)
        _, err = job.communicate(timeout=60)
        self.assertNotRegex(err, "has not been heard of|no call of MPI")

    def test_survivors_of_a_killed_process_say_what_they_wait_for(self) -> None:
        path = self.write(experiment(runtime="mpi", sweep={"/steps": [3, 3000]}))
        job = self.start(4, "run", path, "--quiet", "--rank-logs", "logs")
        ranks = self.ranks_in_second_run(job)
        self.wait_for(lambda: "step 1 of 3000 ended" in self.log(2))
        os.kill(ranks[2], signal.SIGSTOP)
        time.sleep(1)  # until its neighbours wait for it
        os.kill(ranks[2], signal.SIGKILL)
        killed = time.monotonic()
        _, err = job.communicate(timeout=60)
        self.assertLess(time.monotonic() - killed, WATCHDOG_S)
        self.assertEqual(job.returncode, 128 + signal.SIGKILL, err)
        for survivor in (0, 1, 3):
            log = self.log(survivor)
            self.assertRegex(log, f"rank {survivor} is ended by SIGTERM\nrank {survivor} waits for ")
        # mpirun may end before it has passed on what all of them said.
        self.assertRegex(err, r"rank [13] waits for (a message from rank 2|rank 2 to receive)")
        self.assertEqual(len(self.done()), 1)

        _, err = self.job(4, "run", path)
        self.assertIn("1 of 2 runs are done already", err)
        self.assertEqual(len(self.done()), 2)
        self.assertEqual(list(self.results.glob("*.tmp.*")), [])

    def test_an_interrupted_job_can_be_resumed(self) -> None:
        path = self.write(experiment(runtime="mpi", sweep={"/steps": [3, ENDLESS]}))
        job = self.start(2, "run", path, "--set", "/cluster/nodes=1")
        self.wait_for_second_run()
        job.send_signal(signal.SIGINT)
        _, err = job.communicate(timeout=60)
        self.assertEqual(job.returncode, 1, "mpirun's own code, whatever its processes end with")
        self.assertIn("finished runs are kept, and the same command continues", err)
        self.assertEqual(len(self.done()), 1)
        path = self.write(experiment(runtime="mpi", sweep={"/steps": [3, 4]}))
        _, err = self.job(2, "run", path, "--set", "/cluster/nodes=1")
        self.assertIn("1 of 2 runs are done already", err)
        self.assertEqual(len(self.done()), 2)

    def test_a_process_that_gets_a_terminating_signal_ends_with_130(self) -> None:
        cluster = {**CLUSTER, "nodes": 1, "workers_per_node": 1}
        path = self.write(experiment(runtime="mpi", cluster=cluster, steps=ENDLESS))
        environment = {**ENVIRONMENT, "OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1"}
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = subprocess.Popen(
                [TRIGRAM, "run", str(path), "--rank-logs", "logs"],
                cwd=self.folder,
                env=environment,
                stderr=subprocess.PIPE,
                text=True,
            )
            self.addCleanup(process.kill)
            self.wait_for(lambda: list(self.results.glob(f"*.tmp.*.{process.pid}/metrics.jsonl")))
            # The run writes this file before its world has started.
            self.wait_for(lambda: "a world begins" in self.log(0).rsplit("process ", 1)[-1])
            process.send_signal(number)
            _, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 130, err)
            self.assertRegex(err, f"^trigram: rank 0 is ended by {number.name}\nrank 0 (computes|waits)")
            self.assertIn(err, self.log(0))

    def test_every_process_keeps_a_log_on_request(self) -> None:
        path = self.write(experiment(runtime="mpi", seed=[1, 2]))
        _, err = self.job(4, "run", path, "--rank-logs", "logs", "--quiet")
        self.assertEqual(err, "")
        self.assertEqual(len(list((self.folder / "logs").iterdir())), 4)
        for rank in range(4):
            log = self.log(rank)
            self.assertIn(f"rank {rank} of 4, process ", log)
            for stage in (": begins", "a world begins", "step 1 of 6", "on all ranks", ": is over"):
                self.assertEqual(log.count(stage), 2, (stage, log))
        self.job(4, "run", path, "--rank-logs", "logs", "--set", "/algorithm=wagme", code=2)
        for rank in range(4):
            self.assertIn(f'bad input: {path}: /algorithm: unknown algorithm "wagme"', self.log(rank))

    def test_rank_logs_need_a_job_and_a_folder(self) -> None:
        path = self.write(experiment(runtime="threads"))
        err = self.trigram("run", path, "--rank-logs", "logs", code=2).stderr
        self.assertIn("--rank-logs: expected a job of mpirun or srun", err)
        path = self.write(experiment(runtime="mpi"))
        _, err = self.job(4, "run", path, "--rank-logs", "test.json/logs", code=2)
        self.assertIn("--rank-logs: expected a folder that can be written", err)

    def test_processes_replay_together_and_one_reports(self) -> None:
        (self.folder / "one.csv").write_text(
            "tensor,numel,forward_s,backward_s,forward_flops,backward_flops\n"
            "layer,65536,0.001,0.002,20971520,41943040\n"
        )
        replay = {"name": "replay", "profile": "profile:one.csv"}
        path = self.write(experiment(runtime="mpi", workload=replay))
        out, _ = self.job(4, "replay", path, "--json")
        report = json.loads(out)
        self.assertEqual((report["world"], report["ranks"]), ("mpi", 4))
        self.assertGreater(report["layers"][0]["backward"]["measured_s"], 0)
        self.job(4, "run", path)
        (manifest,) = self.manifests()
        self.assertIsNone(manifest["summary"]["loss"])
        sent = manifest["summary"]["bytes_intra"] + manifest["summary"]["bytes_inter"]
        self.assertEqual(sent, 6 * 2 * 3 * 4 * 65536)

    def test_mpirun_refuses_more_ranks_than_slots(self) -> None:
        """docs/clusters.md says what to do in this case."""
        path = self.write(experiment(runtime="mpi"))
        environment = {**ENVIRONMENT, "OMPI_MCA_rmaps_base_oversubscribe": "0"}
        command = ["mpirun", "--host", "localhost:2", "-n", "4", TRIGRAM, "run", str(path)]
        job = subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=100
        )
        self.assertEqual(job.returncode, 1)
        self.assertIn("not enough slots", job.stderr)
        self.assertIn("not enough slots", (SOURCE / "docs" / "clusters.md").read_text())
