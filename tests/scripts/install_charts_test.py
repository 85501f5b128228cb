#!/usr/bin/env python3
"""Tests `scripts/install_charts.py` with a registry on this machine."""

import base64
import functools
import hashlib
import http.server
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import threading
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "install_charts.py"


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class InstallCharts(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.registry, self.analysis = Path(temporary.name, "registry"), Path(temporary.name, "analysis")
        self.registry.mkdir()
        self.analysis.mkdir()
        handler = functools.partial(QuietHandler, directory=self.registry)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def publish(self, text: str) -> str:
        """Puts version 1.2.0 of the package `chart` into the registry; returns the integrity for a lock file."""
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w:gz") as tar:
            entry = tarfile.TarInfo("package/dist/chart.js")
            entry.size = len(text)
            tar.addfile(entry, io.BytesIO(text.encode()))
        file = self.registry / "chart" / "-" / "chart-1.2.0.tgz"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(archive.getvalue())
        return "sha512-" + base64.b64encode(hashlib.sha512(archive.getvalue()).digest()).decode()

    def install(self, integrity: str, *options: str, dev: bool = False) -> subprocess.CompletedProcess:
        package = {"version": "1.2.0", "integrity": integrity} | ({"dev": True} if dev else {})
        lock = {"packages": {"": {"name": "report"}, "node_modules/chart": package}}
        (self.analysis / "package-lock.json").write_text(json.dumps(lock))
        environment = {**os.environ, "npm_config_registry": f"http://127.0.0.1:{self.server.server_port}/"}
        return subprocess.run(
            [sys.executable, "-B", SCRIPT, self.analysis, *options], capture_output=True, text=True, timeout=60, env=environment
        )

    def installed(self) -> str:
        return (self.analysis / "node_modules" / "chart" / "dist" / "chart.js").read_text()

    def test_the_package_of_the_lock_file_is_installed(self):
        done = self.install(self.publish("first"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.installed(), "first")
        self.assertEqual([p.name for p in (self.analysis / "node_modules").iterdir()], ["chart"])

    def test_packages_of_tests_are_installed_on_request(self):
        integrity = self.publish("first")
        self.assertEqual(self.install(integrity, dev=True).returncode, 0)
        self.assertFalse((self.analysis / "node_modules").exists())
        self.assertEqual(self.install(integrity, "--dev", dev=True).returncode, 0)
        self.assertEqual(self.installed(), "first")

    def test_an_archive_with_another_hash_is_refused_and_nothing_changes(self):
        integrity = self.publish("first")
        self.install(integrity)
        self.publish("replaced")
        done = self.install(integrity)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "chart-1.2.0.tgz has the sha512 hash .* but .* was expected")
        self.assertEqual(self.installed(), "first")

    def test_a_package_that_is_not_there_is_an_error_in_one_line(self):
        integrity = self.publish("first")
        (self.registry / "chart" / "-" / "chart-1.2.0.tgz").unlink()
        done = self.install(integrity)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^setup: HTTP Error 404.*\n$")


if __name__ == "__main__":
    unittest.main()
