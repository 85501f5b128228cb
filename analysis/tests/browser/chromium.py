"""Headless Chromium, controlled by the DevTools protocol over a pipe, without any further library."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
TIMEOUT_S = 60.0


def find() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Chromium:
    """One browser, as a context manager, which removes the browser's profile folder at the end."""

    def __init__(self, program: str):
        self._profile = tempfile.mkdtemp(prefix="trigram-browser-")
        in_read, self._write = os.pipe()
        self._read, out_write = os.pipe()
        self._buffer = b""
        self._count = 0
        self.events: list[dict[str, Any]] = []
        self._process = self._start(program, in_read, out_write)
        os.close(in_read)
        os.close(out_write)

    def _start(self, program: str, commands: int, answers: int) -> subprocess.Popen[bytes]:
        """The browser reads commands from descriptor 3 and writes answers to 4."""
        flags = ["--headless=new", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu",
                 "--disable-dev-shm-usage", "--disable-extensions", "--disable-sync",
                 "--disable-background-networking", "--disable-component-update", "--mute-audio", "--hide-scrollbars",
                 "--force-color-profile=srgb", f"--user-data-dir={self._profile}"]
        if os.geteuid() == 0:
            flags.append("--no-sandbox")  # Chromium's sandbox refuses root, which runs tests in containers
        shell = 'exec "$0" "$@" 3<&"$COMMANDS" 4>&"$ANSWERS"'
        return subprocess.Popen(
            ["bash", "-c", shell, program, *flags, "about:blank"], pass_fds=(commands, answers),
            env=os.environ | {"COMMANDS": str(commands), "ANSWERS": str(answers)},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self) -> Chromium:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.call("Browser.close")
            self._process.wait(10)
        except (OSError, RuntimeError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._read)
        os.close(self._write)
        shutil.rmtree(self._profile, ignore_errors=True)

    def call(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        self._count += 1
        message = {"id": self._count, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            answer = self._next(deadline)
            if answer.get("id") == self._count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def _next(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._read], [], [], left)[0]:
                raise RuntimeError(f"the browser has not answered for {TIMEOUT_S:.0f} s")
            part = os.read(self._read, 1 << 20)
            if not part:
                raise RuntimeError("the browser has ended")
            self._buffer += part
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)


class Page:
    """A tab."""

    def __init__(self, browser: Chromium, width: int = 1280, height: int = 900, dark: bool = False,
                 scripts: bool = True, before: str = ""):
        self._browser = browser
        self._first_event = len(browser.events)
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        attached = browser.call("Target.attachToTarget", targetId=target, flatten=True)
        self._target, self._session = target, attached["sessionId"]
        self._call("Performance.setTimeDomain", timeDomain="threadTicks")
        for domain in ("Page", "Runtime", "Network", "Log", "Performance"):
            self._call(f"{domain}.enable")
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                   deviceScaleFactor=1, mobile=False)
        self._call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self._call("Emulation.setScriptExecutionDisabled", value=not scripts)
        if before:
            self._call("Page.addScriptToEvaluateOnNewDocument", source=before)

    def _call(self, method: str, **params: Any) -> dict[str, Any]:
        return self._browser.call(method, self._session, **params)

    def open(self, page: Path | str) -> None:
        """Opens a file, or an address, and waits until it has loaded."""
        self._call("Page.navigate", url=page if isinstance(page, str) else page.resolve().as_uri())
        deadline = time.monotonic() + TIMEOUT_S
        while not any(e["method"] == "Page.loadEventFired" for e in self.own_events()):
            if time.monotonic() > deadline:
                raise RuntimeError(f"{page} has not loaded in {TIMEOUT_S:.0f} s")
            self._call("Page.getFrameTree")  # collects events
            time.sleep(0.02)

    def own_events(self) -> list[dict[str, Any]]:
        return [e for e in self._browser.events[self._first_event:]
                if e.get("sessionId") == self._session]

    def problems(self) -> list[str]:
        """Exceptions, and errors that the page logged."""
        found = [e["params"]["exceptionDetails"].get("exception", {}).get("description", "exception")
                 for e in self.own_events() if e["method"] == "Runtime.exceptionThrown"]
        return found + [e["params"]["entry"]["text"] for e in self.own_events()
                        if e["method"] == "Log.entryAdded" and e["params"]["entry"]["level"] == "error"]

    def requests(self) -> list[str]:
        urls = (e["params"]["request"]["url"] for e in self.own_events()
                if e["method"] == "Network.requestWillBeSent")
        return [url for url in urls if not url.startswith("data:")]

    def run(self, expression: str) -> Any:
        """The value of an expression, which is awaited if it is a promise."""
        result = self._call("Runtime.evaluate", expression=expression, returnByValue=True,
                            awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"].get("exception", {}).get("description"))
        return result["result"].get("value")

    def busy_s(self) -> float:
        """Processor time, in seconds, of everything that the page has done so far."""
        metrics = self._call("Performance.getMetrics")["metrics"]
        return next(m["value"] for m in metrics if m["name"] == "TaskDuration")

    def drag(self, begin: tuple[float, float], end: tuple[float, float]) -> None:
        def mouse(kind: str, at: tuple[float, float], buttons: int) -> None:
            self._call("Input.dispatchMouseEvent", type=kind, x=at[0], y=at[1], button="left",
                       buttons=buttons, clickCount=1)

        mouse("mouseMoved", begin, 0)
        mouse("mousePressed", begin, 1)
        mouse("mouseMoved", end, 1)
        mouse("mouseReleased", end, 0)

    def hover(self, at: tuple[float, float]) -> None:
        self._call("Input.dispatchMouseEvent", type="mouseMoved", x=at[0], y=at[1])

    def press(self, key: str, shift: bool = False) -> None:
        """Presses and releases "Tab", "Enter" or " "."""
        code = {"Tab": 9, "Enter": 13, " ": 32}[key]
        text = {"Enter": "\r", " ": " "}.get(key, "")
        for kind in ("keyDown", "keyUp"):
            self._call("Input.dispatchKeyEvent", type=kind, key=key, code="Space" if key == " " else key,
                       windowsVirtualKeyCode=code, modifiers=8 if shift else 0,
                       text=text if kind == "keyDown" else "")

    def screenshot(self, path: Path, **clip: float) -> None:
        options = {"clip": clip | {"scale": 1}, "captureBeyondViewport": True} if clip else {}
        data = self._call("Page.captureScreenshot", format="png", **options)["data"]
        path.write_bytes(base64.b64decode(data))

    def close(self) -> None:
        self._browser.call("Target.closeTarget", targetId=self._target)
