"""Bad input prints a line for each mistake, with the place, what was expected and the nearest name; exit code 2."""

from __future__ import annotations

import gzip
from typing import Any

import bad_algorithms
import bad_configurations
from harness import CLUSTER, CommandTest, experiment


class BadInput(CommandTest):
    def assert_refused(self, pointer: str, expectation: str, *arguments: Any) -> None:
        refusal = self.refusal("run", *arguments)
        self.assertIn(pointer, refusal)
        self.assertIn(expectation, refusal)
        self.assertFalse(self.results.exists(), "a worker may have started")

    def test_configurations(self) -> None:
        cases = bad_configurations.CASES | bad_algorithms.CASES
        for mistake, (config, pointer, expectation) in cases.items():
            with self.subTest(mistake):
                self.assert_refused(pointer, expectation, self.write(config))

    def test_no_such_file(self) -> None:
        self.assert_refused("nowhere.json", "readable", "nowhere.json")

    def test_settings(self) -> None:
        path = self.write(experiment())
        for setting, pointer, expectation in (
            ("/stepz=3", "/stepz", 'did you mean "steps"?'),
            ("/steps=many", "/steps", "integer"),
            ("steps=3", "--set", 'did you mean "/steps=3"?'),
            ("train.steps=3", "--set", 'did you mean "/steps=3"?'),
            ("inter.bandwidth=1Gbps", "--set", 'did you mean "/cluster/inter/bandwidth=1Gbps"?'),
            ("nonsense=3", "--set", "/json/pointer=value"),
            ("/lr=0.1", "--set /lr", 'did you mean "/optimizer/lr"?'),
        ):
            with self.subTest(setting):
                self.assert_refused(pointer, expectation, path, "--set", setting)

    def test_unknown_option_of_the_command(self) -> None:
        self.assert_refused("--jbos", '"--jobs"', self.write(experiment()), "--jbos", "2")
        self.assert_refused("--dryrun", '"--dry-run"', self.write(experiment()), "--dryrun")

    def test_worlds(self) -> None:
        for name, suggestion in (("gpu", "nccl"), ("simulation", "sim"), ("thread", "threads")):
            with self.subTest(name):
                config = self.write(experiment())
                self.assert_refused("--world: ", f'did you mean "{suggestion}"?', config, "--world", name)

    def test_all_mistakes_are_printed_at_once_with_their_file(self) -> None:
        cluster = {**CLUSTER, "nodes": 0, "inter": {"bandwidth": "10GHz", "latency": 50}}
        path = self.write(experiment(stepz=3, steps="many", cluster=cluster, sweep={"/seed": [1, 2]}))
        refused = self.trigram("run", path, code=2)
        lines = refused.stderr.splitlines()
        for pointer in ("/stepz", "/steps", "/cluster/nodes", "/cluster/inter/bandwidth", "/cluster/inter/latency"):
            with self.subTest(pointer):
                self.assertEqual(sum(line.startswith(f"trigram: {path}: {pointer}: ") for line in lines), 1, lines)
        self.assertEqual(len(lines), 5, lines)

    def test_contradictions_are_printed_at_once(self) -> None:
        config = experiment(algorithm={"name": "gradient_allreduce", "allreduce": "native"}, workload="bert_large",
                            target_accuracy=0.5, eval_every=1)
        lines = self.trigram("run", self.write(config), code=2).stderr.splitlines()
        self.assertEqual([line.split(": ")[2] for line in lines], ["/algorithm/allreduce", "/target_accuracy"])

    def test_values_that_a_sweep_replaces_are_checked(self) -> None:
        for changes, pointer in (
            ({"steps": "many", "sweep": {"/steps": [1, 2]}}, "/steps: "),
            ({"algorithm": "nonsense", "sweep": {"/algorithm": ["bytegrad"]}}, "/algorithm: "),
            ({"algorithm": {"name": "bytegrad", "overlp": 1}, "zip": {"/algorithm": ["qsgd"]}}, "/algorithm/overlp: "),
        ):
            with self.subTest(pointer):
                self.assert_refused(pointer, "", self.write(experiment(**changes)))
        incomplete = experiment(algorithm={"hierarchical": True}, sweep={"/algorithm/name": ["bytegrad", "qsgd"]})
        self.trigram("validate", self.write(incomplete))
        replaced = experiment(algorithm={"name": "gradient_allreduce", "codec": "topk"},
                              sweep={"/algorithm/name": ["topk"]})
        self.trigram("validate", self.write(replaced))

    def test_an_error_in_a_cluster_file_names_the_file(self) -> None:
        path = self.write({**CLUSTER, "nodes": 0}, "broken.json")
        refused = self.trigram("show", "network", path, code=2)
        self.assertTrue(refused.stderr.startswith(f"trigram: {path}: /nodes: "), refused.stderr)

    def test_sweeps_of_too_many_runs(self) -> None:
        thousand = list(range(1, 1001))
        sweep = {"/seed": thousand, "/steps": thousand, "/eval_every": thousand}
        self.assert_refused("/sweep", "at most 100000 runs, not 1000000000", self.write(experiment(sweep=sweep)))

    def test_unwritable_output(self) -> None:
        (self.folder / "file").write_text("")
        for output in ("file", "file/below"):
            with self.subTest(output):
                self.assert_refused("--output", "written", self.write(experiment()), "-o", output)

    def test_data_files(self) -> None:
        folder = self.folder / "images"
        folder.mkdir()
        config = experiment(workload={"name": "fashion_mnist", "data": str(folder)})
        self.assert_refused("/workload", str(folder), self.write(config))
        for kind in ("train", "t10k"):
            images = bytes.fromhex("00000803 0000000a 0000001c 0000001c") + bytes(28 * 28 * 4)
            labels = bytes.fromhex("00000801 0000000a") + bytes(10)
            for stem, data in (("images-idx3", images), ("labels-idx1", labels)):
                (folder / f"{kind}-{stem}-ubyte.gz").write_bytes(gzip.compress(data))
        self.assert_refused("/workload", "images-idx3", self.write(config))

    def test_texts(self) -> None:
        lines = self.folder / "lines.txt"

        def refused(pointer: str, expected: str, text: str, **options: Any) -> None:
            lines.write_text(text)
            workload = {"name": "text", "data": "lines.txt", "held_out": 2, **options}
            with self.subTest(expected):
                self.assert_refused(pointer, expected, self.write(experiment(workload=workload)))

        many = "".join(f"line {i}\n" for i in range(100))
        refused("/workload/data", "none.txt: expected a readable file", many, data="none.txt")
        refused("/workload/data", "of its 1 non-empty line is one", "a single line\n")
        refused("/workload/context", "expected at least 8, the bytes of the longest line", many, context=7)
        refused("/workload/batch", "expected at most ", many, batch=1000)
        refused("/workload/heads", "expected a divisor of the width 10", many, width=10)

    def test_every_run_is_checked_before_the_first_starts(self) -> None:
        config = experiment(sweep={"/algorithm": ["gradient_allreduce", "nonsense"]})
        self.assert_refused("/algorithm", "nonsense", self.write(config))
