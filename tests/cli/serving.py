"""Starts `trigram serve` and sends requests to it."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from harness import TRIGRAM

CAN_SERVE = {check["name"]: check["present"] for check in
             json.loads(subprocess.run([TRIGRAM, "doctor", "--json"], capture_output=True, check=True).stdout)["checks"]
             }["HTTP server"]


class Server:
    """A running `trigram serve` on a free port."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.temporary = folder / "temporary"
        self.temporary.mkdir(exist_ok=True)
        self.process = subprocess.Popen(
            [TRIGRAM, "serve", "results", "--port", "0", *arguments],
            cwd=folder, env=os.environ | {"TMPDIR": str(self.temporary)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        self.url = self.process.stdout.readline().strip()
        split = urlsplit(self.url)
        self.port = split.port
        self.token = parse_qs(split.query).get("token", [""])[0]

    def request(self, method: str, path: str, body: bytes | None = None, *, headers: dict[str, str] | None = None,
                known: bool = True) -> tuple[int, dict[str, str], bytes]:
        """(status, headers, body) of the answer; with the token if `known`."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = {"Authorization": f"Bearer {self.token}"} if known else {}
        connection.request(method, path, body, sent | (headers or {}))
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, {key.lower(): value for key, value in answer.getheaders()}, content

    def get(self, path: str) -> Any:
        status, _, body = self.request("GET", path)
        assert status == 200, (path, status, body)
        return json.loads(body)

    def post(self, path: str, value: Any) -> tuple[int, Any]:
        status, _, body = self.request("POST", path, json.dumps(value).encode(),
                                       headers={"Content-Type": "application/json"})
        return status, json.loads(body)

    def command(self, number: int) -> dict[str, Any]:
        return next(c for c in self.get("/api/state")["commands"] if c["id"] == number)

    def ended(self, number: int, timeout_s: float = 100) -> dict[str, Any]:
        """The command after its end."""
        deadline = time.monotonic() + timeout_s
        while (command := self.command(number))["state"] == "running" or command["exit_code"] is None:
            assert time.monotonic() < deadline, command
            time.sleep(0.1)
        return command

    def close(self) -> int:
        """Ends the server, and returns its exit code."""
        if self.process.poll() is None:
            self.process.terminate()
        self.process.communicate(timeout=30)
        return self.process.returncode
