"""Completion of command lines in shells, and manual pages, both from the tables of commands."""

from __future__ import annotations

import re
import shutil
import subprocess
import unittest
from pathlib import Path

from harness import SOURCE, TRIGRAM, CommandTest, listed

# Sources the completion, sets what Bash sets when a user presses TAB at the end of the words, and prints the answer.
ASK = """source "$1"
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
[[ $(complete -p trigram) == *"-F _trigram trigram" ]] || exit 9
_trigram
printf '%s\\n' "${COMPREPLY[@]}"
"""


def help_of(*command: str) -> str:
    return subprocess.run([TRIGRAM, *command, "--help"], capture_output=True, text=True, check=True).stdout


def commands() -> list[str]:
    return re.findall(r"^  ([a-z-]+) +[A-Z]", help_of().split("Subcommands:")[-1], re.MULTILINE)


class Completion(CommandTest):
    def bash(self, *words: str) -> list[str]:
        script = SOURCE / "scripts" / "completion" / "trigram.bash"
        done = subprocess.run(["bash", "-c", ASK, "bash", script, TRIGRAM, *words], cwd=self.folder,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()

    def test_commands(self) -> None:
        self.assertEqual(self.bash(""), commands())
        self.assertEqual(self.bash("--quiet", "re"), ["replay", "report"])
        self.assertEqual(self.bash("show", ""), ["network"])
        self.assertEqual(self.bash("--log-level", "e"), ["error"])
        self.assertEqual(self.bash("nonsense"), [])

    def test_options_are_those_of_the_help(self) -> None:
        for command in commands():
            shown = re.findall(r"^ +(?:-\w,)?(--[\w-]+)", help_of(command), re.MULTILINE)
            self.assertEqual(set(self.bash(command, "--")), {*shown, "--version", "--quiet", "--log-level"}, command)
        self.assertEqual(self.bash("advise", "--pro"), ["--profile"])

    def test_presets_and_profiles(self) -> None:
        presets = {path.stem for path in (SOURCE / "configs" / "clusters").glob("*.json")}
        self.assertEqual(set(self.bash("advise", "--cluster", "")), presets)
        self.assertEqual(set(self.bash("show", "network", "")), presets)
        self.assertIn("vgg16", self.bash("advise", "--cluster", "ethernet_10g", "--profile", "v"))
        self.assertEqual(self.bash("advise", "--profile", "=", "bert_l"), ["bert_large"])  # as Bash splits it

    def test_names_and_lists(self) -> None:
        self.assertEqual(self.bash("bench", "--runtime", "th"), ["threads"])
        self.assertEqual(set(self.bash("bench", "--algorithm", "")), {entry["name"] for entry in listed("algorithms")})
        self.assertEqual(self.bash("advise", "--only", "sync,f"), ["sync,full"])
        self.assertEqual(self.bash("list", "co"), ["codecs"])
        self.assertEqual(self.bash("list", "codecs", ""), [])
        self.assertEqual(self.bash("run", "--jobs", ""), [])  # a number

    def test_files(self) -> None:
        self.write({}, "mine one.json")
        self.assertEqual(self.bash("run", "mi"), ["mine", "one.json"])  # one answer with a space
        self.assertEqual(self.bash("run", "--output", "m"), ["mine", "one.json"])

    def test_words_that_are_no_option_values(self) -> None:
        for words in ([], ["--"], ["--", "-"], ["=", "="], ["run", "--set"], ["\x07", "é"], ["run", "--jobs=", ""]):
            done = subprocess.run([TRIGRAM, "--complete", *words], cwd=self.folder, capture_output=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, b""), words)

    def test_descriptions_for_zsh_and_fish(self) -> None:
        lines = self.trigram("--complete", "doc").stdout.splitlines()
        self.assertEqual(lines, ["doctor\t" + re.findall(r"^  doctor +(.*)$", help_of(), re.MULTILINE)[0]])
        self.assertEqual(self.trigram("--complete", "advise", "--profile=bert_l").stdout.split("\t")[0],
                         "--profile=bert_large")

    def test_the_scripts_are_well_formed(self) -> None:
        folder = SOURCE / "scripts" / "completion"
        for shell, name in (("bash", "trigram.bash"), ("zsh", "_trigram"), ("fish", "trigram.fish")):
            if shutil.which(shell):
                done = subprocess.run([shell, "-n", folder / name], capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""), name)


class ManPages(CommandTest):
    def pages(self) -> dict[str, str]:
        (self.folder / "man").mkdir(exist_ok=True)
        self.trigram("--man-pages", self.folder / "man")
        return {path.name: path.read_text() for path in Path(self.folder, "man").iterdir()}

    def test_there_is_one_for_each_command(self) -> None:
        self.assertEqual(set(self.pages()), {"trigram.1"} | {f"trigram-{command}.1" for command in commands()})

    @unittest.skipUnless(shutil.which("groff"), "groff is not here")
    def test_they_render_without_warnings_and_have_all_options(self) -> None:
        pages = self.pages()
        for name in pages:
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", name], cwd=self.folder / "man",
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""), name)
        for command in ("run", "advise", "show"):
            # Plain text in wide lines: no overstriking, hyphenation or folding.
            done = subprocess.run(["groff", "-man", "-Tascii", "-P-c", "-P-b", "-P-u", "-rLL=1000n", "-rHY=0",
                                   f"trigram-{command}.1"], cwd=self.folder / "man", capture_output=True, text=True)
            text = " ".join(re.sub(r"\x1b\[[0-9;]*m", "", done.stdout).split())
            part = ["network"] if command == "show" else []
            for option, doc in re.findall(r"^ +(?:-\w,)?(--[\w-]+)[^\n]*?(?:  +|\n +)([A-Z][^\n]+)$",
                                          help_of(command, *part), re.MULTILINE):
                self.assertIn(option, text)
                self.assertIn(" ".join(doc.split()), text)

    def test_a_folder_that_does_not_exist(self) -> None:
        self.assertIn("expected a folder that exists", self.refusal("--man-pages", "nowhere"))
