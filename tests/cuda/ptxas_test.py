#!/usr/bin/env python3
"""Checks that the kernels that hold data in registers do not spill them to memory.

Compiles their files as the library does, for both architectures, and reads what ptxas reports about
every kernel. The environment variables NVCC and SOURCE give the compiler and the root of the project;
without a compiler the test is skipped.
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ.get("SOURCE", Path(__file__).resolve().parents[2]))
NVCC = os.environ.get("NVCC", "")
# Files with performance-critical kernels, and the number of kernels in each.
HOT = {
    "cuda/kernels/codecs/minmax_uint8_clusters.cu": 4,
    "cuda/kernels/codecs/minmax_uint8_decode.cu": 1,
    "cuda/kernels/codecs/minmax_uint8_tiles.cu": 4,
    "cuda/kernels/codecs/minmax_uint8_warps.cu": 2,
    "cuda/kernels/codecs/qsgd.cu": 5,
    "cuda/kernels/codecs/sign.cu": 5,
    "cuda/kernels/norm.cu": 2,
}
# The output of ptxas: the kernel's name on one line, its memory on the next.
KERNEL = re.compile(
    r"Function properties for (\S+)\s+(\d+) bytes stack frame, (\d+) bytes spill stores, "
    r"(\d+) bytes spill loads")


def memory_of_kernels(file, architecture):
    """{name: (stack bytes, spill stores, spill loads)} of the kernels in a file."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [NVCC, "-std=c++20", f"-arch={architecture}", "-O3", "--expt-relaxed-constexpr",
             "-fmad=false", "-Xptxas", "-v", "-I", SOURCE, "-cubin", "-o", f"{folder}/x.cubin",
             SOURCE / file],
            capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return {name: tuple(map(int, numbers)) for name, *numbers in KERNEL.findall(done.stderr)}


@unittest.skipUnless(NVCC, "no nvcc here")
class Registers(unittest.TestCase):
    def test_hot_kernels_keep_everything_in_registers(self):
        for file, count in HOT.items():
            for architecture in ("sm_80", "sm_90"):
                with self.subTest(file=file, architecture=architecture):
                    kernels = memory_of_kernels(file, architecture)
                    self.assertEqual(count, len(kernels), f"kernels found: {sorted(kernels)}")
                    spilling = {name: n for name, n in kernels.items() if n != (0, 0, 0)}
                    self.assertEqual({}, spilling)


class Reading(unittest.TestCase):
    """The check must be able to fail."""

    def test_a_spill_is_seen(self):
        text = ("ptxas info    : Function properties for _Z6kernelv\n"
                "    8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads\n")
        self.assertEqual([("_Z6kernelv", "8", "12", "16")], KERNEL.findall(text))


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
