#!/usr/bin/env python3
"""Trains the language model of configs/language_model.json and prints its loss beside that of a unigram model.

    scripts/language_model.py --trigram PROGRAM            print the table
    scripts/language_model.py --trigram PROGRAM --check    exit with 3 if the loss is 2.6 bits per byte or more
    scripts/language_model.py ... --set POINTER=VALUE      change the configuration, as trigram run does

All losses are means over the bytes of the held-out lines, with their ends. The script makes the split itself: a line is
held out if its CRC-32 is a multiple of the workload's option held_out. The unigram model predicts every byte with its
share in the training lines.
"""

import argparse
import collections
import json
import math
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONFIG = ROOT / "configs" / "language_model.json"
BIBLE = "/usr/lib/bible.data"
MOST_BITS = 2.6


def lines_of(data):
    """The samples of the workload's option `data`, as bytes."""
    if data != BIBLE:
        return [line for line in Path(data).read_bytes().split(b"\n") if line]
    verses = subprocess.run(["bible", "-f", "-p", "/usr/lib", "gen1:1-rev22:21"], check=True, capture_output=True,
                            stdin=subprocess.DEVNULL).stdout
    return [verse.partition(b" ")[2] for verse in verses.splitlines()]


def split(lines, held_out):
    """(training lines, held-out lines)"""
    parts = [], []
    for line in lines:
        parts[zlib.crc32(line) % held_out == 0].append(line)
    return parts


def unigram_bits(train, held_out):
    """Bits per byte of the held-out lines under the frequencies of bytes in the training lines, with add-one
    smoothing."""
    counts = collections.Counter(b"\n" * len(train) + b"".join(train))
    total = sum(counts.values()) + 256
    tested = collections.Counter(b"\n" * len(held_out) + b"".join(held_out))
    bits = sum(count * -math.log2((counts[byte] + 1) / total) for byte, count in tested.items())
    return bits / sum(tested.values())


def train(trigram, settings):
    """Makes the run; returns its resolved experiment, its last record and its seconds."""
    with tempfile.TemporaryDirectory() as folder:
        command = [trigram, "run", str(CONFIG), "-o", folder, "--no-table"]
        for setting in settings:
            command += ["--set", setting]
        started = time.monotonic()
        subprocess.run(command, check=True, stdout=sys.stderr)
        seconds = time.monotonic() - started
        (done,) = Path(folder).glob("**/DONE")
        manifest = json.loads((done.parent / "manifest.json").read_text())
        *_, last = (done.parent / "metrics.jsonl").read_text().splitlines()
    return manifest["experiment"], json.loads(last), seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trigram", required=True)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--set", action="append", default=[], metavar="POINTER=VALUE")
    arguments = parser.parse_args()
    config, last, seconds = train(arguments.trigram, arguments.set)
    workload = config["workload"]
    training, tested = split(lines_of(workload["data"]), workload["held_out"])
    workers = config["cluster"]["nodes"] * config["cluster"]["workers_per_node"]
    print("| model | bits per byte | correct bytes |")
    print("|---|---:|---:|")
    print(f"| unigram | {unigram_bits(training, tested):.2f} | |")
    print(f"| `{workload['model']}` after {config['steps']} steps of {workers} workers, {workload['batch']} lines each "
          f"| {last['eval_loss']:.2f} | {100 * last['accuracy']:.1f} % |")
    print(f"\n{len(training):,} training lines, {len(tested):,} held-out lines; {seconds:.0f} s")
    if arguments.check and not last["eval_loss"] < MOST_BITS:
        sys.exit(3)


if __name__ == "__main__":
    main()
