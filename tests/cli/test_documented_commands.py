"""Every `trigram` command that README or a page of the documentation shows is run. If it takes long or needs other
machines, a short form of it is run: an experiment is planned but not run, or all options are parsed. Files and results
that a page does not make stand for small ones. Of `make`, the project's scripts and batch scripts, names and options
are checked; commands of other programs are not run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from harness import CLUSTER, SOURCE, CommandTest, experiment, needs_simulator

PAGES = [SOURCE / "README.md", *sorted((SOURCE / "docs").rglob("*.md"))]
PROGRAMS = ("trigram", "make", "ctest", "cmake", "mpirun", "sbatch", "docker", "python3", "scripts/", "build/")
# Commands that run as they are.
SHORT = ("list", "show", "validate", "doctor", "init", "table", "report", "plot", "export", "status", "schema", "why")
# What makes these commands short.
SHORTENED = {
    "run": ["--dry-run"],
    "bandwidth": ["--points", "2", "--utilisation", "0.5"],
    "advise": ["--ranking-only", "--set", "/steps=1"],
}
UNKNOWN = "no-such-option"
# Placeholders of the pages, and what stands for them.
OWN_EXPERIMENTS = ("mine.json", "experiment.json", "sweep.json", "gpus.json", "torchscript.json", "ddp.json")
OWN_CLUSTERS = ("cluster.json", "calibrated.json")
# Files of other contents on some pages.
MEANT = {"/cluster=mine.json": "/cluster=calibrated.json", "init mine.json": "init new.json"}
# Options that do not fit the experiment that stands for the reader's, and what makes it fit.
FITTING = {
    "/until_steady=true": ["--set", "/workload=resnet50"],
    "/target_accuracy=0.85": ["--set", "/workload=fashion_mnist"],
}


def commands(page: Path) -> list[str]:
    """The commands of a page's code blocks, without comments and without what the commands print."""
    found = []
    for block in re.findall(r"^```(?:sh|bash)?\n(.*?)^```", page.read_text(), re.M | re.S):
        lines = re.sub(r"\\\n\s*", " ", block).splitlines()
        prompt = any(line.startswith("$ ") for line in lines)
        for line in lines:
            if found and found[-1].count("'") % 2:  # within quotation marks
                found[-1] += " " + line.strip()
            elif not prompt or line.startswith("$ "):
                found += [re.split(r"\s+#\s", part)[0].strip() for part in line.removeprefix("$ ").split(" && ")]
    # The outputs of some commands begin with "trigram", too.
    return [line for line in found if line.startswith(PROGRAMS) and not re.match(r"trigram(  |:|/)", line)]


@needs_simulator
class DocumentedCommands(CommandTest):
    def setUp(self) -> None:
        super().setUp()
        for name in ("configs", "scripts", "experiments", "docs", "analysis"):
            (self.folder / name).symlink_to(SOURCE / name)
        sweep = {"/algorithm": ["gradient_allreduce", "bytegrad"], "/cluster/inter/bandwidth": ["1Gbps", "10Gbps"]}
        self.write(experiment(name="sample", steps=2, eval_every=1, sweep=sweep), "sample.json")
        self.trigram("run", "sample.json")
        self.ids = sorted(path.name for path in (self.folder / "results/sample").iterdir() if path.is_dir())
        for name in OWN_EXPERIMENTS:
            self.write(experiment(name=name.split(".")[0]), name)
        for name in OWN_CLUSTERS:
            self.write(CLUSTER, name)
        self.write("tensor,numel,forward_s,backward_s\nfirst,1000,1e-3,2e-3\n", "net.csv")

    def real(self, word: str) -> str:
        """What stands for a placeholder. Results of any name are those of the sample."""
        folder = self.folder / "results" / "sample"
        if word in ("A", "B"):
            return str(folder / self.ids["AB".index(word)])
        if found := re.fullmatch(r"results/(<name>|[\w-]+)", word):
            name = found[1].replace("<name>", "NAME")
            if not (self.folder / "results" / name).exists():
                (self.folder / "results" / name).symlink_to(folder)
            return f"results/{name}"
        return word

    def check(self, line: str) -> None:
        for shown, meant in MEANT.items():
            line = line.replace(shown, meant)
        words = [self.real(word) for word in shlex.split(re.split(r" [>|] ", line)[0])]
        if "trigram" in words:
            at = words.index("trigram")
            self.check_trigram(words[at + 1 :], in_a_job="mpirun" in words[:at])
        elif words[0] == "make":
            for target in (word for word in words[1:] if "=" not in word):
                self.assertRegex((SOURCE / "Makefile").read_text(), rf"(?m)^{target}:.*##", "the Makefile's target")
        elif words[0].startswith("scripts/"):
            text = (SOURCE / words[0]).read_text()
            for option in (word for word in words[1:] if word.startswith("--")):
                self.assertIn(option, text, "the script's option")
        elif words[0] == "sbatch":
            files = [word for word in words if word.endswith(".sbatch")]
            self.assertTrue(files and all((SOURCE / file).exists() for file in files), "the batch script")

    def check_trigram(self, words: list[str], in_a_job: bool) -> None:
        command, arguments = words[0], [word for word in words[1:] if not word.startswith("[")]
        needs_more = in_a_job or {"--resume-from", "--check"} & set(arguments)
        if command in (*SHORT, *SHORTENED) and not needs_more:
            for option, more in FITTING.items():
                arguments += more * (option in arguments)
            self.trigram(command, *arguments, *SHORTENED.get(command, []), table=True)
        else:  # An unknown option is reported only if all others are known and their values are allowed.
            refused = self.refusal(command, *arguments, f"--{UNKNOWN}")
            self.assertEqual(refused, f"trigram: --{UNKNOWN}: no such option of trigram {command}\n")

    def test_every_command_of_every_page(self) -> None:
        checked = 0
        for page in PAGES:
            for line in commands(page):
                checked += 1
                with self.subTest(page=page.name, command=line):
                    self.check(line)
        self.assertGreater(checked, 100)
