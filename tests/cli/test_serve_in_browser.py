"""The page of `trigram serve` in headless Chromium: its forms, its report, axe's rules, the keyboard and hostile texts."""

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
ERRORS = """axe.run(document, {resultTypes: ['violations'], iframes: false}).then(found => found.violations.flatMap(v =>
  v.nodes.map(node => `${v.id}: ${node.html.slice(0, 200)}`)))"""
# Each part says so on the console if it runs as a script.
ATTACK = "</script><script>console.log('ran')</script><img src=x onerror=\"console.log('ran')\">"


def setUpModule() -> None:
    missing = [text for text, there in (("this build has no HTTP server", CAN_SERVE),
                                        ("chromium is missing: run scripts/setup --browser", chromium.find()),
                                        ("axe-core is missing: run scripts/setup --browser", AXE.is_file())) if not there]
    if missing:
        print(missing[0], file=sys.stderr)
        sys.exit(77)


class Browsed(CommandTest):
    browser: chromium.Chromium

    @classmethod
    def setUpClass(cls) -> None:
        cls.browser = cls.enterClassContext(chromium.Chromium(chromium.find()))

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
        self.assertTrue(page.run("document.querySelector('#start [name=experiment]').textContent.includes('quickstart')"))
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

    def test_mistakes_stand_beside_the_form(self) -> None:
        page = self.open(self.serve().url)
        self.wait(page, "document.querySelector('#ask [name=profile]').options.length > 1")
        self.fill(page, "start", name="mine", config=json.dumps(experiment(algorithm="gradient_allreduse")))
        self.wait(page, "document.querySelector('.command p')?.textContent === 'failed with exit code 2'")
        self.assertIn("gradient_allreduce", page.run("document.querySelector('.command pre').textContent"))
        self.fill(page, "ask", bandwidth="25Gbqs")
        self.wait(page, "document.querySelector('.command p').textContent === 'failed with exit code 2'"
                        " && document.querySelectorAll('.command').length === 2")
        self.assertIn("25Gbqs", page.run("document.querySelector('.command pre').textContent"))
        self.assertFalse((self.folder / "results/mine").exists())

    def test_axe_finds_no_error(self) -> None:
        server = self.serve()
        server.post("/api/run", {"name": "mine", "config": json.dumps(experiment())})
        server.ended(1)
        for options in ({"width": 1400}, {"width": 1400, "dark": True}, {"width": 390}, {"width": 390, "dark": True}):
            with self.subTest(**options):
                page = self.open(server.url, **options)
                self.wait(page, "document.querySelector('#sweeps button') && document.querySelector('.command pre')")
                page.run("document.querySelector('#sweeps button').click()")
                self.wait(page, "document.querySelector('iframe').src !== ''")
                page.run(AXE.read_text(encoding="utf-8"))
                self.assertEqual(page.run(ERRORS), [])
                self.assertLessEqual(page.run("document.documentElement.scrollWidth"), options["width"])
        page.run("document.querySelector('main').append(document.createElement('button'))")
        self.assertEqual([error.split(":")[0] for error in page.run(ERRORS)], ["button-name"])

    def test_the_keyboard_starts_an_experiment(self) -> None:
        page = self.open(self.serve().url)
        self.wait(page, "document.querySelector('#start select').options.length > 1")
        page.run(f"document.querySelector('#start textarea').value = {json.dumps(json.dumps(experiment()))}")
        page.run("document.querySelector('#start [name=name]').value = 'mine'")
        reached = []
        while (focused := page.run("document.activeElement.name || document.activeElement.textContent.slice(0, 9)")) != "Start":
            reached.append(focused)
            self.assertLess(len(reached), 30)
            page.press("Tab")
        self.assertEqual(reached[1:], ["nodes", "workers", "accelerator", "bandwidth", "latency", "inside", "profile",
                                       "target", "Ask", "experiment", "name", "config"])
        page.press("Enter")
        self.wait(page, "document.querySelector('.command p')?.textContent.startsWith('has ended')")


class HostileTexts(Browsed):
    """Results can come from strangers."""

    def texts_of(self, page: chromium.Page) -> list[str]:
        return [str(argument.get("value")) for event in page.own_events() if event["method"] == "Runtime.consoleAPICalled"
                for argument in event["params"]["args"]]

    def test_no_text_of_results_runs_as_a_script(self) -> None:
        server = self.serve()
        name = ATTACK.replace("/", "")  # a name of a folder
        server.post("/api/run", {"name": "mine", "config": json.dumps(experiment(
            description=ATTACK, sweep={"/seed": [1, 2]}))})
        self.assertEqual(server.ended(1)["exit_code"], 0)
        folder = self.folder / "results" / "mine"
        folder = folder.rename(folder.with_name(name))
        attacked = 0
        for manifest in folder.glob("*/manifest.json"):
            value = json.loads(manifest.read_text())
            attacked += spoil(value)
            manifest.write_text(json.dumps(value))
        self.assertGreater(attacked, 10)
        page = self.open(server.url)
        self.wait(page, "document.querySelector('#sweeps td.key')")
        self.assertEqual(page.run("document.querySelector('#sweeps td.key').textContent"), name)
        page.run("document.querySelector('#sweeps button').click()")
        self.wait(page, "document.querySelector('iframe').src !== ''")
        report = self.open(page.run("document.querySelector('iframe').src"))
        self.assertIn("onerror", report.run("document.querySelector('main').innerText"))
        for shown in (page, report):
            shown.run("new Promise(done => setTimeout(done, 500))")
            self.assertEqual(self.texts_of(shown), [])
        page.run(f"document.querySelector('main').innerHTML = {json.dumps(ATTACK)}")  # the page's policy forbids it, too
        report.run("document.querySelector('main').innerHTML = '<img src=x onerror=\"console.log(\\'ran\\')\">'")
        for shown in (page, report):
            shown.run("new Promise(done => setTimeout(done, 500))")
        self.assertEqual(self.texts_of(page), [])
        self.assertEqual(self.texts_of(report), ["ran"])  # what this test looks for is seen


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
