"""The page of `trigram serve` in headless Chromium: its forms, its report, axe's rules, the keyboard, hostile texts."""

from __future__ import annotations

import json
import sys
import time
import unittest
from typing import Any

from harness import SOURCE, CommandTest, experiment
from serving import CAN_SERVE, Server

sys.path.insert(0, str(SOURCE / "analysis/tests/browser"))
import chromium  # noqa: E402

AXE = SOURCE / "analysis/node_modules/axe-core/axe.min.js"
LONG = experiment(steps=3000, eval_every=0, sweep={"/seed": list(range(1, 99))})
ERRORS = """axe.run(document, {resultTypes: ['violations'], iframes: false}).then(found => found.violations.flatMap(v =>
  v.nodes.map(node => `${v.id}: ${node.html.slice(0, 200)}`)))"""
# Says so on the console if a part of it runs as a script, be it inside an element, an attribute or a script.
ATTACK = "\"'></script><script>console.log('ran')</script><img src=x onerror=\"console.log('ran')\">"


def setUpModule() -> None:
    for there, missing in ((CAN_SERVE, "this build has no HTTP server"),
                           (chromium.find(), "chromium is missing: run scripts/setup --browser"),
                           (AXE.is_file(), "axe-core is missing: run scripts/setup --browser")):
        if not there:
            print(missing, file=sys.stderr)
            sys.exit(77)


class Browsed(CommandTest):
    browser: chromium.Chromium

    @classmethod
    def setUpClass(cls) -> None:
        cls.browser = chromium.Chromium(chromium.find())
        cls.addClassCleanup(cls.browser.__exit__)

    def serve(self) -> Server:
        server = Server(self.folder)
        self.addCleanup(server.close)
        return server

    def open(self, address: str, **options: Any) -> chromium.Page:
        page = chromium.Page(self.browser, **options)
        self.addCleanup(page.close)
        page.open(address)
        return page

    def wait(self, page: chromium.Page, condition: str, timeout_s: float = 100) -> None:
        deadline = time.monotonic() + timeout_s
        while not page.run(f"Boolean({condition})"):
            self.assertLess(time.monotonic(), deadline, f"never true: {condition}; {page.problems()}")
            time.sleep(0.1)

    def fill(self, page: chromium.Page, form: str, **values: str) -> None:
        for name, value in values.items():
            page.run(f"document.querySelector('#{form} [name={name}]').value = {json.dumps(value)}")
        page.run(f"document.querySelector('#{form} > button').click()")


class Page(Browsed):
    def test_an_experiment_is_started_and_its_report_shown(self) -> None:
        server = self.serve()
        page = self.open(server.url)
        self.wait(page, "document.querySelector('#start select').options.length > 1")
        self.assertNotIn("token", page.run("location.href"))
        self.assertIn("quickstart", page.run("document.querySelector('#start [name=experiment]').textContent"))
        self.fill(page, "start", name="mine", config=json.dumps(experiment(sweep={"/seed": [1, 2]})))
        self.wait(page, "document.querySelector('.command p')?.textContent === 'has ended, 2 of 2 runs'")
        self.wait(page, "document.querySelector('#sweeps td.key')?.textContent === 'mine'")
        page.run("document.querySelector('#sweeps button').click()")
        self.wait(page, "document.querySelector('iframe').getAttribute('src')?.endsWith('/report?sweep=mine')")
        self.assertTrue(page.run("document.querySelector('#report').checkVisibility()"))
        first = page.run("document.querySelector('iframe').src")
        self.wait(page, "document.querySelector('iframe').contentDocument === null")  # of another origin: the sandbox
        self.assertEqual(page.problems(), [])
        report = self.open(first)
        self.assertIn("gradient_allreduce", report.run("document.querySelector('main').innerText"))
        self.assertEqual(report.problems(), [])

    def test_mistakes_are_shown_and_lose_nothing(self) -> None:
        page = self.open(self.serve().url)
        self.wait(page, "document.querySelector('#ask [name=profile]').options.length > 1")
        self.fill(page, "start", name="mine", config=json.dumps(experiment(algorithm="gradient_allreduse")))
        self.wait(page, "document.querySelector('.command p')?.textContent === 'failed with exit code 2'")
        self.assertIn("gradient_allreduce", page.run("document.querySelector('.command pre').textContent"))
        self.fill(page, "ask", bandwidth="25Gbqs")
        self.wait(page, "document.querySelector('.command p').textContent === 'failed with exit code 2'"
                        " && document.querySelectorAll('.command').length === 2")
        self.assertIn("25Gbqs", page.run("document.querySelector('.command pre').textContent"))
        # The server refuses a name that the form would not have sent.
        page.run("document.querySelector('#start [name=name]').pattern = '.*'")
        self.fill(page, "start", name="../mine", config="{}")
        self.wait(page, "document.querySelector('#start [role=status].bad')")
        self.assertIn("/name: expected 1 to 64 letters",
                      page.run("document.querySelector('#start [role=status]').textContent"))
        self.assertFalse((self.folder / "results/mine").exists())

    def test_axe_finds_no_error(self) -> None:
        server = self.serve()
        for number, name, changes in ((1, "mine", {}), (2, "other", {}), (3, "wrong", {"algorithm": "unknown"})):
            server.post("/api/run", {"name": name, "config": json.dumps(experiment(**changes))})
            self.assertEqual(server.ended(number)["exit_code"], 2 if number == 3 else 0)
        server.post("/api/run", {"name": "long", "config": json.dumps(LONG)})
        for options in ({"width": 1400}, {"width": 1400, "dark": True}, {"width": 390}, {"width": 390, "dark": True}):
            with self.subTest(**options):
                page = self.open(server.url, **options)
                self.wait(page, "document.querySelector('#compare').checkVisibility()"
                                " && document.querySelectorAll('.command').length === 4")
                page.run("document.querySelector('#start [name=name]').pattern = '.*'")
                self.fill(page, "start", name="../mine", config="{}")
                self.wait(page, "document.querySelector('#start [role=status].bad')")
                page.run("document.querySelector('[aria-label=\"Show the report of mine\"]').click()")
                self.wait(page, "document.querySelector('iframe').src !== ''")
                self.assertTrue(page.run("document.querySelector('.command progress').checkVisibility()"))
                page.run(AXE.read_text(encoding="utf-8"))
                self.assertEqual(page.run(ERRORS), [])
                self.assertLessEqual(page.run("document.documentElement.scrollWidth"), options["width"])
        page.run("document.querySelector('main').append(document.createElement('button'))")
        self.assertEqual([error.split(":")[0] for error in page.run(ERRORS)], ["button-name"])

    def tab_to(self, page: chromium.Page, wanted: str) -> list[str]:
        """Presses Tab until the element of this name or text has the focus. Returns those that had it before."""
        passed = []
        while (focused := page.run("document.activeElement.name || document.activeElement.textContent")) != wanted:
            passed.append(focused)
            self.assertLess(len(passed), 40, passed)
            page.press("Tab")
        return passed

    def test_the_keyboard_starts_stops_and_shows(self) -> None:
        page = self.open(self.serve().url)
        self.wait(page, "document.querySelector('#start select').options.length > 1")
        page.run(f"document.querySelector('#start textarea').value = {json.dumps(json.dumps(LONG))}")
        page.run("document.querySelector('#start [name=name]').value = 'long'")
        passed = self.tab_to(page, "Start")[1:]
        self.assertEqual(passed, ["nodes", "workers", "accelerator", "bandwidth", "latency", "inside", "profile", "target",
                                  "Ask", "experiment", "name", "config"])
        page.press("Enter")
        self.wait(page, "/^is running, [1-9]/.test(document.querySelector('.command p')?.textContent)")
        self.tab_to(page, "Stop")
        page.press("Enter")
        self.wait(page, "document.querySelector('.command p').textContent.startsWith('was stopped')")
        self.wait(page, "document.querySelector('#sweeps button')?.disabled === false")
        self.tab_to(page, "Show")
        page.run("new Promise(done => setTimeout(done, 3500))")  # the page has asked for news twice
        self.assertEqual(page.run("document.activeElement.textContent"), "Show")
        page.press("Enter")
        self.wait(page, "document.querySelector('#report').checkVisibility()")
        self.tab_to(page, "Close")
        page.press(" ")
        self.wait(page, "!document.querySelector('#report').checkVisibility()")


class HostileTexts(Browsed):
    """Results can come from strangers."""

    def ran(self, page: chromium.Page) -> list[str]:
        """What scripts of texts have said, after all charts were drawn."""
        page.run("window.dispatchEvent(new Event('beforeprint'))")
        page.run("new Promise(done => setTimeout(done, 500))")
        return [str(argument.get("value")) for event in page.own_events()
                if event["method"] == "Runtime.consoleAPICalled" for argument in event["params"]["args"]]

    def test_no_text_of_results_runs_as_a_script(self) -> None:
        server = self.serve()
        name = ATTACK.replace("/", "")  # a name of a folder
        config = experiment(description=ATTACK, sweep={"/seed": [1, 2], "/optimizer/lr": [0.01, 0.02]})
        server.post("/api/run", {"name": "mine", "config": json.dumps(config)})
        self.assertEqual(server.ended(1)["exit_code"], 0)
        server.post("/api/run", {"name": "wrong", "config": json.dumps(experiment(algorithm=ATTACK))})
        self.assertEqual(server.ended(2)["exit_code"], 2)
        folder = self.folder / "results" / "mine"
        folder = folder.rename(folder.with_name(name))
        for i, file in enumerate(sorted(folder.glob("*/manifest.json"))):
            manifest = json.loads(file.read_text())
            manifest |= {"warnings": ["careful"]} | ({"status": "failed", "error": "no"} if i == 0 else {})
            self.assertGreater(spoil(manifest), 20)
            manifest["status"] = manifest["status"].removesuffix(ATTACK)
            file.write_text(json.dumps(manifest))
        page = self.open(server.url)
        self.wait(page, "document.querySelector('#sweeps td.key')")
        page.run("document.querySelector('#sweeps button').click()")
        self.wait(page, "document.querySelector('iframe').src !== ''")
        self.assertIn(ATTACK, page.run("document.querySelector('.command pre').textContent"))
        for part in ("#sweeps td.key", "#report-title"):
            self.assertEqual(page.run(f"document.querySelector('{part}').textContent"), name)
        self.assertEqual(page.run("document.querySelectorAll('main img, main script').length"), 0)
        report = self.open(page.run("document.querySelector('iframe').src"))
        text = report.run("document.querySelector('main').innerText")
        for shown in ("gradient_allreduce", "careful", "no", "quadratic"):
            self.assertIn(shown + ATTACK, text)
        self.assertEqual(self.ran(page) + self.ran(report), [])
        self.assertEqual(page.problems() + report.problems(), [])

    def test_the_test_sees_scripts_that_run(self) -> None:
        server = self.serve()
        server.post("/api/run", {"name": "mine", "config": json.dumps(experiment())})
        server.ended(1)
        page, report = self.open(server.url), self.open(f"{server.url.split('?')[0]}report?sweep=mine")
        for shown in (page, report):
            shown.run(f"document.querySelector('main').innerHTML = {json.dumps(ATTACK)}")
        self.assertEqual(self.ran(report), ["ran"])
        self.assertEqual(self.ran(page), [])  # the policy of the page refuses it
        self.assertTrue(any("Content Security Policy" in problem for problem in page.problems()))


def spoil(value: Any) -> int:
    """Appends the attack to every text of an object or a list, at any depth, and returns how many there are."""
    count = 0
    for key, part in list(value.items()) if isinstance(value, dict) else list(enumerate(value)):
        if isinstance(part, str):
            value[key] = part + ATTACK
            count += 1
        elif isinstance(part, (dict, list)):
            count += spoil(part)
    return count


if __name__ == "__main__":
    unittest.main()
