#!/usr/bin/env python3
"""Checks that no kernel contains a trap. The compiler emits one where a kernel would do what is undefined, for example
read a variable of the host by reference; it gives no warning, and an emulation on the host runs the right code.

The environment variables NVCC and SOURCE give the compiler and the root of the project; without a compiler the test
is skipped.
"""

import os
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SOURCE = Path(os.environ.get("SOURCE", Path(__file__).resolve().parents[2]))
NVCC = os.environ.get("NVCC", "")
A_KERNEL_THAT_TRAPS = """
#include <algorithm>
#include <cstddef>
inline constexpr std::size_t kMost = 512;
constexpr std::size_t range_of(std::size_t n) { return n / std::clamp<std::size_t>(n / 4, 1, kMost); }
__global__ void range_kernel(std::size_t* x) { *x = range_of(*x); }
"""


def traps(file):
    """The number of traps in the kernels of a file."""
    with tempfile.TemporaryDirectory() as folder:
        code = Path(folder) / "x.ptx"
        done = subprocess.run(
            [NVCC, "-std=c++20", "-arch=compute_90", "-O3", "-DNDEBUG", "--expt-relaxed-constexpr", "-fmad=false",
             "-DFMT_SHARED", "-I", SOURCE, "-ptx", "-o", code, file], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return code.read_text().count("trap;")


@unittest.skipUnless(NVCC, "no nvcc here")
class Traps(unittest.TestCase):
    def test_no_kernel_contains_a_trap(self):
        files = sorted(SOURCE.glob("cuda/**/*.cu"))
        self.assertTrue(files)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            found = dict(zip(files, pool.map(traps, files)))
        self.assertEqual({}, {str(file): count for file, count in found.items() if count})

    def test_a_trap_is_seen(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "range.cu"
            file.write_text(A_KERNEL_THAT_TRAPS)
            self.assertGreater(traps(file), 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
