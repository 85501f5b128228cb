"""`import trigram`: trigram.torch.Trainer beside PyTorch's own, profiles, and the program's wrappers."""

from __future__ import annotations

import importlib.util
import json
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from torch_models import BUILD, Awkward, SmallTransformer, images, require, torch  # first: it skips this suite

from harness import CLUSTER, SOURCE, CommandTest, experiment, needs_simulator
from jobs import ENVIRONMENT, JobTest

require("module of Python", "python/trigram/_engine*.so")
sys.path.insert(0, str(BUILD / "python"))
import trigram  # noqa: E402
import trigram.torch  # noqa: E402
from trigram import profiling, shared_machine  # noqa: E402

RANKS = Path(__file__).with_name("torch_ranks.py")
PYTHON = {**ENVIRONMENT, "PYTHONPATH": str(BUILD / "python"), "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}


class Jobs(JobTest):
    def ended(self, ranks: int, *words: Any, **variables: str) -> subprocess.CompletedProcess[str]:
        """A job of Python's that has ended."""
        launcher = ["mpirun", "-n", str(ranks)] if ranks > 1 else []
        return subprocess.run([*launcher, sys.executable, *map(str, words)], env={**PYTHON, **variables},
                              capture_output=True, text=True, timeout=200)

    def check(self, name: str, ranks: int) -> dict[str, Any]:
        done = self.ended(ranks, RANKS, name, self.folder)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout.strip().splitlines()[-1])

    def test_gradient_allreduce_is_distributed_data_parallel(self) -> None:
        found = self.check("ddp_equality", 2)
        for model in ("Awkward", "SmallTransformer"):
            self.assertLess(found[f"{model} SGD"], 1e-6)
            self.assertGreater(found[f"{model} SGD from start"], 0.05)
            self.assertEqual(found[f"{model} UnfusedSGD"], 0)
        self.assertEqual(found["Awkward UnfusedSGD buffers"], 0)
        self.assertLess(found["Awkward SGD buffers"], 1e-5)

    def test_one_rank_steps_as_pytorch_does(self) -> None:
        for name, distance in self.check("bare_loop", 1).items():
            self.assertLess(distance, 2e-5 if name == "adamw" else 1e-6, name)

    def test_a_checkpoint_continues_to_the_same_bits(self) -> None:
        found = self.check("resume", 2)
        self.assertTrue(found["equal"])
        self.assertGreater(found["moved"], 0.05)
        self.assertEqual(found["steps"], 10)

    def test_every_kind_of_algorithm_trains(self) -> None:
        sgd = {"name": "sgd", "lr": 0.05, "momentum": 0.5}
        chosen: dict[str, Any] = {name: sgd for name in (
            "gradient_allreduce", "bytegrad", "local_sgd", "decentralized", "powersgd", "diloco", "async_model_average",
            "wagma", "adpsgd", "slowmo", "qsgd")}
        chosen["onebit_adam"] = {"name": "adam", "lr": 0.01}
        options = {"onebit_adam": {"warmup_steps": 10}, "local_sgd": {"sync_every": 4}, "diloco": {"sync_every": 4},
                   "slowmo": {"sync_every": 4}}
        (self.folder / "algorithms.json").write_text(json.dumps(
            {n: {"algorithm": {"name": n, **options.get(n, {})}, "optimizer": o} for n, o in chosen.items()}))
        for name, found in self.check("algorithms", 2).items():
            with self.subTest(name):
                self.assertTrue(found["finite"])
                # How old the models are that asynchronous algorithms average depends on the machine's load.
                asynchronous = name in ("async_model_average", "wagma", "adpsgd")
                self.assertLess(found["last"], (0.95 if asynchronous else 0.8) * found["first"])
                self.assertGreater(found["bytes"], 0)

    def test_an_exception_on_one_rank_ends_the_job(self) -> None:
        done = self.ended(2, RANKS, "fails_on_one_rank", self.folder)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("a bug in the user's script", done.stderr)

    def test_the_example_trains_like_plain_ddp(self) -> None:
        if not Path("/usr/share/datasets/fashion-mnist").exists():
            self.skipTest("no Fashion-MNIST here")
        states = []
        for script in ("plain_ddp.py", "with_trigram.py"):
            file = self.folder / f"{script}.pt"
            port = str(20000 + os.getpid() % 20000)
            done = self.ended(2, SOURCE / "examples" / "pytorch" / script, STEPS="20", SAVE=str(file), MASTER_PORT=port)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertRegex(done.stdout, r"^20 steps, [\d.]+ steps/s, accuracy 0\.\d{3}\n$")
            states.append(torch.load(file))
        ddp, ours = states
        self.assertEqual(list(ddp), list(ours))
        for name in ddp:
            difference = (ddp[name].double() - ours[name].double()).norm() / ddp[name].double().norm().clamp(min=1)
            self.assertLess(float(difference), 1e-3, name)


class InThisProcess(CommandTest):
    def test_bad_options(self) -> None:
        for options, expected in [
            ({"algorithm": "bytegard"}, "/algorithm/name: .*did you mean \"bytegrad\""),
            ({"algorithm": {"name": "local_sgd", "sync_every": 0}}, "/algorithm/sync_every"),
            ({"optimizer": {"name": "sgd", "lr": -1}}, "/optimizer/lr"),
            ({"algorithm": "onebit_adam"}, "/optimizer: .*moment"),
            ({"steps": 0}, "/steps"),
        ]:
            with self.subTest(options), self.assertRaisesRegex(trigram.torch.ConfigError, expected):
                trigram.torch.Trainer(Awkward(), **options)
        with self.assertRaisesRegex(ValueError, "expected torch.float32 on the CPU"):
            trigram.torch.Trainer(Awkward().double())
        with self.assertRaisesRegex(ValueError, "no parameter that requires a gradient"):
            trigram.torch.Trainer(Awkward().requires_grad_(False))

    def test_order_of_calls(self) -> None:
        model, (x, y) = Awkward(), images(8)
        with trigram.torch.Trainer(model, steps=2) as trainer:
            loss = torch.nn.functional.cross_entropy(model(x), y)
            with self.assertRaisesRegex(RuntimeError, "has begun a step"):
                trainer.mean(1.0)
            self.assertEqual(trainer.step(loss), float(loss))
            trainer.step(torch.nn.functional.cross_entropy(model(x), y))
            with self.assertRaisesRegex(RuntimeError, "the training has ended"):
                model(x)
        self.assertEqual(model(x).shape, (8, 3))

    def test_a_profile_has_the_models_times_and_sizes(self) -> None:
        model, (x, y) = Awkward(), images(64)
        before = torch.get_num_threads()
        profile = trigram.torch.profile(model, x, lambda output: torch.nn.functional.cross_entropy(output, y), repeat=5)
        self.assertEqual(before, torch.get_num_threads())
        trained = {n: p.numel() for n, p in model.named_parameters() if p.requires_grad}
        self.assertEqual({row.tensor: row.numel for row in profile.rows}, trained)
        self.assertEqual(profile.ready_order[-1], "unused")
        self.assertLess(profile.ready_order.index("head.weight"), profile.ready_order.index("conv.weight"))
        self.assertEqual((profile.batch, profile.buffer_bytes), (64, 4 * 8))
        self.assertGreater(min(profile.forward_s, profile.backward_s), 0)
        self.assertTrue(any("unused gets no gradient" in note for note in profile.assumed))
        self.assertTrue(any("272 elements of frozen parameters" in note for note in profile.assumed))

    @needs_simulator
    def test_a_worker_alone_is_as_fast_as_its_profile(self) -> None:
        model, (x, _) = SmallTransformer(), (torch.zeros(4, 16, dtype=torch.long), None)
        profile = trigram.torch.profile(model, x, repeat=3)
        path = profile.write(self.folder / "net.csv")
        config = experiment(workload=f"profile:{path}", cluster={**CLUSTER, "nodes": 1, "workers_per_node": 1},
                            eval_every=0, steps=10, optimizer={"name": "sgd", "lr": 0.1})
        [manifest] = self.run_config(config)
        compute_s = profile.forward_s + profile.backward_s
        self.assertAlmostEqual(manifest["summary"]["step_s"], compute_s, delta=0.01 * compute_s + 1e-3)

    def write_script(self) -> Path:
        script = self.folder / "script.py"
        script.write_text("import torch\n"
                          "def make():\n    return torch.nn.Linear(5, 3), torch.ones(2, 5)\n"
                          "def wrong():\n    return 3\n"
                          "def fails():\n    return missing\n"
                          "def mismatch():\n    return torch.nn.Linear(5, 3), torch.ones(2, 4)\n"
                          "def leaves():\n    raise SystemExit(0)\n"
                          "class Leaving(torch.nn.Linear):\n"
                          "    def forward(self, x):\n        raise SystemExit(0)\n"
                          "def leaves_later():\n    return Leaving(5, 3), torch.ones(2, 5)\n"
                          "def frozen():\n    return torch.nn.ReLU(), torch.ones(2, 4)\n")
        return script

    def test_profiling_a_script(self) -> None:
        script, output = self.write_script(), self.folder / "linear.csv"
        self.assertEqual(
            profiling.main([f"{script}:make", "--output", str(output), "--name", "linear", "--repeat", "2"]), 0)
        text = output.read_text()
        self.assertIn("# name: linear\n", text)
        self.assertRegex(text, r"weight,15,[\d.e-]+,[\d.e-]+\n")

    def test_the_command_profiles_a_script(self) -> None:
        script, output = self.write_script(), self.folder / "linear.csv"
        words = ("profile", "--torch", f"{script}:make", "-o", output, "--name", "linear", "--repeat", 2)
        printed = self.trigram(*words).stdout
        self.assertRegex(printed, f"^{output}: 2 tensors, 18 parameters, forward [\\d.e-]+ ms, backward [\\d.e-]+ ms")
        self.assertIn("# name: linear\n", output.read_text())
        together = self.trigram(*words, "--processes", 2).stdout
        self.assertRegex(together, "2 tensors, 18 parameters")
        self.assertIn("2 processes that compute together", output.read_text())

    def test_only_a_process_that_ended_without_a_result_is_an_error(self) -> None:
        results: queue.Queue[Any] = queue.Queue()
        first, slow = SimpleNamespace(exitcode=0), SimpleNamespace(exitcode=None)
        results.put("profile 1".encode())
        later = threading.Timer(2.5, results.put, ["profile 2".encode()])
        later.start()
        self.assertEqual(shared_machine._collect(results, [first, slow], "net.py:make"), [b"profile 1", b"profile 2"])
        with self.assertRaisesRegex(shared_machine.InputError, "net.py:make: .* has ended early"):
            shared_machine._collect(results, [first, slow], "net.py:make")
        results.put("net.py:make: its reason")
        with self.assertRaisesRegex(shared_machine.InputError, "its reason"):
            shared_machine._collect(results, [first, slow], "net.py:make")

    def test_a_script_is_run_as_python_runs_it(self) -> None:
        """With modules beside it, with data classes, and without modules of the current folder."""
        (self.folder / "model").mkdir()
        (self.folder / "queue.py").write_text("raise RuntimeError('not the one of Python')\n")
        (self.folder / "model" / "helper.py").write_text("WIDTH = 7\n")
        script = self.folder / "model" / "script.py"
        script.write_text("from __future__ import annotations\nimport torch\nfrom dataclasses import dataclass\n"
                          "from helper import WIDTH\n@dataclass\nclass Shape:\n    width: int = WIDTH\n"
                          "def make():\n    return torch.nn.Linear(Shape().width, 1), torch.ones(2, WIDTH)\n")
        printed = self.trigram("-q", "profile", "--torch", script.relative_to(self.folder).as_posix() + ":make").stdout
        self.assertIn("2 tensors, 8 parameters", printed)

    def test_what_cannot_be_profiled_is_refused(self) -> None:
        script = self.write_script()
        for reference, expected in [
                ("absent.py:make", "FILE.py:FUNCTION"), (str(script), "FILE.py:FUNCTION"),
                (f"{script}:", "FILE.py:FUNCTION"), (f"{script}:none", "no function none"),
                (f"{script}:wrong", r"returned int; expected \(model, batch\)"),
                (f"{script}:fails", r"NameError: name 'missing' is not defined \(line 7 of"),
                (f"{script}:mismatch", "RuntimeError: mat1 and mat2 shapes"),
                (f"{script}:leaves", "SystemExit: 0"), (f"{script}:leaves_later", "SystemExit: 0"),
                (f"{script}:frozen", "no parameter that requires a gradient")]:
            with self.subTest(reference):
                self.assertRegex(self.refusal("profile", "--torch", reference, "-o", self.folder / "no.csv"), expected)
        for function, expected in [("mismatch", "RuntimeError: mat1 and mat2"), ("leaves_later", "SystemExit: 0")]:
            self.assertRegex(self.refusal("profile", "--torch", f"{script}:{function}", "--processes", 2,
                                          "-o", self.folder / "no.csv"), expected)
        self.assertRegex(self.refusal("profile", "--torch", f"{script}:make", "--processes", 2, "--threads", 2),
                         "--threads: ")
        self.assertEqual(list(self.folder.glob("no.csv*")), [])
        self.assertIn("cannot be written", self.refusal("profile", "--torch", f"{script}:make", "-o", "none/net.csv"))
        broken = self.folder / "broken.py"
        broken.write_text("def make(:\n")
        self.assertIn("SyntaxError", self.refusal("profile", "--torch", f"{broken}:make"))
        self.assertIn("--torch is required", self.refusal("profile"))

    def test_a_wheel_installs_the_package_and_the_program(self) -> None:
        if importlib.util.find_spec("pip") is None:
            self.skipTest("no pip here")
        words = [sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "--no-index",
                 "--no-cache-dir", "--prefix", str(self.folder / "here"), str(SOURCE)]
        done = subprocess.run(words, env={**PYTHON, "TRIGRAM_BUILD": str(BUILD), "PIP_ROOT_USER_ACTION": "ignore"},
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        [package] = (self.folder / "here").rglob("*-packages")
        code = "import trigram.torch\nfrom trigram.program import *\nprint(call('--version'), program())"
        environment = {k: v for k, v in PYTHON.items() if k != "TRIGRAM"} | {"PYTHONPATH": str(package)}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, f"(?s)^trigram .*{self.folder}/here/.*bin/trigram\n$")

    @needs_simulator
    def test_the_programs_wrappers(self) -> None:
        table = trigram.run(experiment(sweep={"/algorithm": ["gradient_allreduce", "bytegrad"]}), {"/steps": 4},
                            output=self.folder / "out")
        self.assertEqual(sorted(table["algorithm"]), ["bytegrad", "gradient_allreduce"])
        self.assertEqual(len(trigram.results(self.folder / "out")), 2)
        with self.assertRaisesRegex(trigram.ProgramError, "/steps") as refused:
            trigram.run(experiment(steps=0), output=self.folder / "out")
        self.assertEqual(refused.exception.code, 2)
        answer = trigram.advise(cluster="ethernet_10g", profile="resnet50",
                                algorithms=["gradient_allreduce", "bytegrad"], output=self.folder / "advice")
        self.assertIn("bytegrad", json.dumps(answer))


