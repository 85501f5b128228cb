"""Bad input ends with one line that names the place, the expectation and the nearest name; exit 2."""

from __future__ import annotations

import gzip
import unittest
from typing import Any

from bad_configurations import CASES
from harness import CommandTest, experiment


class BadInput(CommandTest):
    def assert_refused(self, pointer: str, expectation: str, *arguments: Any) -> None:
        refused = self.trigram("run", *arguments, code=2)
        lines = refused.stderr.splitlines()
        self.assertEqual(len(lines), 1, refused.stderr)
        self.assertIn(pointer, lines[0])
        self.assertIn(expectation, lines[0])
        self.assertEqual(refused.stdout, "")
        self.assertFalse(self.results.exists(), "a worker may have started")

    def test_configurations(self) -> None:
        for what, (config, pointer, expectation) in CASES.items():
            with self.subTest(what):
                self.assert_refused(pointer, expectation, self.write(config))

    def test_no_such_file(self) -> None:
        self.assert_refused("nowhere.json", "readable", "nowhere.json")

    def test_settings(self) -> None:
        path = self.write(experiment())
        for setting, pointer, expectation in (
            ("/stepz=3", "/stepz", 'did you mean "steps"?'),
            ("/steps=many", "/steps", "integer"),
            ("steps=3", "--set", "/json/pointer=value"),
        ):
            with self.subTest(setting):
                self.assert_refused(pointer, expectation, path, "--set", setting)

    def test_unknown_option_of_the_command(self) -> None:
        self.assert_refused("--jbos", "", self.write(experiment()), "--jbos", "2")

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

    def test_every_run_is_checked_before_the_first_starts(self) -> None:
        config = experiment(sweep={"/algorithm": ["gradient_allreduce", "nonsense"]})
        self.assert_refused("/algorithm", "nonsense", self.write(config))


if __name__ == "__main__":
    unittest.main()
