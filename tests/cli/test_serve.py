"""`trigram serve`: results in a browser, and commands that the page starts."""

from __future__ import annotations

import json
import os
import random
import socket
import time
import unittest
from pathlib import Path
from typing import Any

from harness import CommandTest, children, experiment, needs_simulator
from serving import CAN_SERVE, Server

SECRET = "a text that is in no folder of results"


def long_sweep() -> dict[str, Any]:
    return experiment(steps=200_000, eval_every=0, sweep={"/seed": list(range(1, 9))})


@unittest.skipUnless(CAN_SERVE, "this build has no HTTP server")
class ServeTest(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        (self.folder / "secret").mkdir()
        (self.folder / "secret" / "manifest.json").write_text(json.dumps({"name": SECRET}))

    def serve(self, *arguments: str) -> Server:
        server = Server(self.folder, *arguments)
        self.addCleanup(server.close)
        self.assertTrue(server.url.startswith("http://127.0.0.1:"), server.url)
        return server

    def start(self, server: Server, name: str, config: dict[str, Any]) -> int:
        status, answer = server.post("/api/run", {"name": name, "config": json.dumps(config)})
        self.assertEqual((status, answer.get("sweep")), (200, name), answer)
        return answer["command"]


class Pages(ServeTest):
    def test_an_experiment_is_started_watched_and_reported(self) -> None:
        server = self.serve()
        self.assertEqual(server.get("/api/state")["sweeps"], [])
        number = self.start(server, "mine", experiment(sweep={"/seed": [1, 2, 3]}))
        ended = server.ended(number)
        self.assertEqual((ended["state"], ended["exit_code"], ended["done"], ended["of"]), ("ended", 0, 3, 3))
        self.assertEqual(len(list((self.folder / "results/mine").glob("*/DONE"))), 3)
        (sweep,) = server.get("/api/state")["sweeps"]
        self.assertEqual((sweep["name"], sweep["done"], sweep["failed"]), ("mine", 3, 0))
        self.assertEqual([run["label"] for run in server.get("/api/runs?sweep=mine")].count("seed=2"), 1)
        status, headers, page = server.request("GET", "/report?sweep=mine")
        self.assertEqual(status, 200)
        self.assertIn(b"gradient_allreduce", page)
        self.assertIn("sandbox", headers["content-security-policy"])
        # The report shows runs that ended after it was made.
        server.ended(self.start(server, "mine", experiment(sweep={"/seed": [1, 2, 3], "/steps": [6, 7]})))
        self.assertNotEqual(server.get("/api/state")["sweeps"][0]["version"], sweep["version"])
        self.assertNotEqual(server.request("GET", "/report?sweep=mine")[2], page)
        self.assertEqual(server.close(), 0)
        self.assertEqual(list(server.temporary.iterdir()), [])

    def test_mistakes_are_shown_and_lose_nothing(self) -> None:
        server = self.serve()
        ended = server.ended(self.start(server, "wrong", experiment(algorithm="gradient_allreduse")))
        self.assertEqual(ended["exit_code"], 2)
        self.assertIn("/algorithm", ended["text"])
        self.assertIn("gradient_allreduce", ended["text"])
        for value, pointer in (({"config": "{}"}, "/name"), ({"name": "../up", "config": "{}"}, "/name"),
                               ({"name": "a", "config": 3}, "/config"), ([], "object")):
            status, answer = server.post("/api/run", value)
            self.assertEqual(status, 400, answer)
            self.assertIn(pointer, answer["error"])
        self.assertFalse((self.folder / "up.json").exists())

    def test_a_command_can_be_stopped_and_its_sweep_resumed(self) -> None:
        server = self.serve()
        number = self.start(server, "long", long_sweep())
        deadline = time.monotonic() + 30
        while not children(server.process.pid) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(server.post(f"/api/stop/{number}", {})[0], 200)
        self.assertEqual(server.ended(number)["state"], "stopped")
        self.assertEqual(server.post(f"/api/stop/{number}", {})[0], 404)
        self.trigram("status", "results")

    def test_commands_end_with_the_server(self) -> None:
        server = self.serve()
        self.start(server, "long", long_sweep())
        deadline = time.monotonic() + 30
        while not (pids := children(server.process.pid)):
            self.assertLess(time.monotonic(), deadline)
        server.process.kill()
        server.process.wait()
        while any(Path(f"/proc/{pid}").exists() and "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
                  for pid in pids):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.1)

    @needs_simulator
    def test_a_question_is_answered(self) -> None:
        server = self.serve()
        choices = server.get("/api/choices")
        self.assertIn("quickstart", choices["experiments"])
        self.assertIn("resnet50", choices["profiles"])
        accelerator = next(a for a in choices["accelerators"] if a["name"] == "A100")
        cluster = {"nodes": 2, "workers_per_node": 1, "inter": {"bandwidth": "10Gbps", "latency": "50us"},
                   "accelerator": accelerator}
        status, answer = server.post("/api/advise", {"name": "two", "cluster": cluster, "profile": "resnet50"})
        self.assertEqual(status, 200, answer)
        ended = server.ended(answer["command"], 200)
        self.assertEqual(ended["exit_code"], 0, ended["text"])
        self.assertIn("gradient_allreduce", ended["text"])
        self.assertEqual(server.request("GET", f"/report?sweep={answer['sweep']}")[0], 200)
        for value, pointer in (({"name": "x", "cluster": "nowhere", "profile": "resnet50"}, "/cluster"),
                               ({"name": "x", "cluster": cluster, "profile": "no_model"}, "/profile"),
                               ({"name": "x", "cluster": cluster, "profile": "resnet50", "target": "speed"}, "speed")):
            status, refused = server.post("/api/advise", value)
            self.assertEqual(status, 400, refused)
            self.assertIn(pointer, refused["error"])

    def test_options(self) -> None:
        self.assertIn("--token", self.refusal("serve", "--token", "short"))
        self.assertIn("--address", self.trigram("serve", "--help").stdout)
        (self.folder / "file").write_text("")
        self.assertIn("folder", self.refusal("serve", "file"))
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            self.assertIn("--port", self.refusal("serve", "--port", str(taken.getsockname()[1])))


class Strangers(ServeTest):
    """Requests that are not the user's."""

    def test_the_token_is_needed(self) -> None:
        server = self.serve("--token", "a" * 20)
        self.assertEqual(server.token, "a" * 20)
        for headers in ({}, {"Authorization": "Bearer " + "b" * 20}, {"Cookie": f"trigram_{server.port}={'b' * 20}"},
                        {"Cookie": f"xtrigram_{server.port}={server.token}"}):
            for path in ("/", "/serve.js", "/api/state", "/report", "/nowhere"):
                self.assertEqual(server.request("GET", path, headers=headers, known=False)[0], 401, (path, headers))
        self.assertEqual(server.request("GET", "/?token=" + "b" * 20, known=False)[0], 401)
        status, headers, _ = server.request("GET", f"/?token={server.token}", known=False)
        self.assertEqual((status, headers["location"]), (302, "/"))
        cookie = headers["set-cookie"]
        self.assertIn("HttpOnly", cookie)
        self.assertIn("SameSite=Strict", cookie)
        status, headers, page = server.request("GET", "/", headers={"Cookie": cookie.split(";")[0]}, known=False)
        self.assertEqual(status, 200)
        self.assertIn("default-src 'self'", headers["content-security-policy"])
        self.assertNotIn(server.token.encode(), page)

    def test_other_sites_cannot_reach_it(self) -> None:
        server = self.serve()
        for host in ("example.org", f"example.org:{server.port}", "127.0.0.1.example.org", "localhost.example.org", ""):
            self.assertEqual(server.request("GET", "/api/state", headers={"Host": host})[0], 403, host)
        for host in ("localhost", f"localhost:{server.port}", "[::1]:80"):
            self.assertEqual(server.request("GET", "/api/state", headers={"Host": host})[0], 200, host)
        body = json.dumps({"name": "form", "config": json.dumps(experiment())}).encode()
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
            status = server.request("POST", "/api/run", body, headers={"Content-Type": kind})[0]
            self.assertIn(status, (400, 415), kind)
        self.assertFalse((self.folder / "results/form").exists())

    def test_no_path_leads_out_of_the_results(self) -> None:
        server = self.serve()
        os.symlink(self.folder / "secret", self.folder / "results" / "link")
        for name in ("../secret", "..", ".", "link", "/etc", "%2e%2e%2fsecret", "..%2fsecret", "a/../../secret", "a%00b",
                     "\\..\\secret"):
            for path in (f"/report?sweep={name}", f"/api/runs?sweep={name}", f"/{name}", f"/api/experiment?name={name}"):
                try:
                    status, _, body = server.request("GET", path)
                except ValueError:  # http.client refuses control characters
                    continue
                self.assertIn(status, (400, 404), path)
                self.assertNotIn(SECRET.encode(), body)

    def test_fuzzed_requests(self) -> None:
        """500 requests with random methods, paths, headers and bodies: the server lives, and shows nothing outside the
        folder of results."""
        server = self.serve()
        rng = random.Random(7)
        known = ["/", "/report", "/api/state", "/api/runs", "/api/experiment", "/api/choices", "/serve.js"]
        posts = ["/api/run", "/api/advise", "/api/stop/1", "/api/stop/99999999999"]
        names = ["../secret", "secret", "<script>alert(1)</script>", "a" * 5000, "%", "%zz", "\\", "..%2f..%2fetc%2fpasswd", ""]
        values: list[Any] = [None, 3, 1e308, [], {}, "x", "\ud800", {"name": {}}, ["deep"] * 50]
        statuses: dict[int, int] = {}
        for _ in range(500):
            raw = b""
            if rng.random() < 0.2:  # no HTTP at all, or a damaged request
                raw = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 300))) + b"\r\n\r\n"
            else:
                method = rng.choice(["GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "GET", "POST", "FROB"])
                path = rng.choice(posts if method == "POST" else known) + rng.choice(["", "/", "/../secret/manifest.json"])
                if rng.random() < 0.7:
                    path += f"?{rng.choice(['sweep', 'name', 'token', 'x'])}={rng.choice(names)}"
                body = rng.choice([
                    json.dumps({"name": rng.choice(["a", *names]), "config": rng.choice(values),
                                "cluster": rng.choice(values), "profile": rng.choice(["resnet50", *values])}).encode(),
                    b"[" * rng.randrange(1, 100_000), b"", bytes(rng.randrange(256) for _ in range(100)),
                    b"x" * rng.choice([10, 2_000_000])])
                headers = {"Host": "localhost", "Authorization": f"Bearer {server.token}", "Connection": "close",
                           "Content-Length": str(rng.choice([len(body), len(body), len(body), -1, 10**12, "x"])),
                           "Content-Type": rng.choice(["application/json", "text/plain", "", "a" * 3000]),
                           rng.choice(["X", "Range", "Cookie", "Expect", "Transfer-Encoding"]):
                               rng.choice(["bytes=0-1", "bytes=9-1,2-", "=;=;;", "chunked", "\x7f", "a" * 9000])}
                head = f"{method} {path} HTTP/1.1\r\n" + "".join(f"{k}: {v}\r\n" for k, v in headers.items())
                raw = head.encode("utf-8", "surrogatepass") + b"\r\n" + body
            answer = self.exchange(server.port, raw)
            self.assertNotIn(SECRET.encode(), answer)
            self.assertNotIn(b"root:", answer)
            if answer.startswith(b"HTTP/"):
                status = int(answer.split()[1])
                statuses[status] = statuses.get(status, 0) + 1
        self.assertIsNone(server.process.poll(), "the server has ended")
        self.assertIn(200, statuses)
        self.assertIn(404, statuses)
        server.get("/api/state")
        outside = [p for p in self.folder.iterdir() if p.name not in ("results", "secret", "temporary")]
        self.assertEqual(outside, [])
        self.assertEqual(server.close(), 0)

    def exchange(self, port: int, raw: bytes) -> bytes:
        """What the server answers; it may close the connection at any time."""
        with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
            answer = b""
            try:
                connection.sendall(raw)
                connection.shutdown(socket.SHUT_WR)
                while piece := connection.recv(65536):
                    answer += piece
            except OSError:
                pass
            return answer


if __name__ == "__main__":
    unittest.main()
