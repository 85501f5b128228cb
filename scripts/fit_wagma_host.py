#!/usr/bin/env python3
"""Fits host_bandwidth of piz_daint.json, the rate of averaging models on hosts, to WAGMA-SGD's Transformer on 4 nodes.

    scripts/fit_wagma_host.py --trigram build/release/experiments/trigram

For several rates, and for 4, 16 and 64 nodes, the script prints the simulated tokens per second of each of the six
systems, divided by the published value, and the root mean square of the logarithms of these ratios. The fit is the rate
with the smallest root mean square on 4 nodes; the results on 16 and 64 nodes are predictions and do not affect it.
"""
import argparse
import math
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CONFIG = ROOT / "configs" / "papers" / "wagma_transformer.json"
# In GB/s. With the last rate, averaging takes practically no time.
RATES = (0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0, 16.0, 1000.0)

sys.path.insert(0, str(ROOT / "analysis"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trigram", required=True, help="the program")
    parser.add_argument("--rates", type=float, nargs="+", default=RATES, help="in GB/s")
    arguments = parser.parse_args()
    names = None
    best = {}
    for rate in arguments.rates:
        ratios = ratios_at(arguments.trigram, rate)
        if names is None:
            names = sorted({name for _, name in ratios})
            print("GB/s   nodes  " + "  ".join(f"{name:>9}" for name in names) + "    rms")
        for nodes in sorted({nodes for nodes, _ in ratios}, key=int):
            row = [ratios[nodes, name] for name in names]
            rms = math.sqrt(sum(math.log(ratio) ** 2 for ratio in row) / len(row))
            print(f"{rate:<7g}{nodes:<7}" + "  ".join(f"{ratio:9.3f}" for ratio in row) + f"  {rms:.3f}")
            if nodes == "4":
                best[rate] = rms
    print(f"fitted on 4 nodes: accelerator.host_bandwidth = {min(best, key=best.get):g} GB/s")


def ratios_at(trigram, rate):
    """{(nodes, system): simulated / published}."""
    from trigram_analysis import claims, results

    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [trigram, "run", CONFIG, "-o", folder, "--no-table", "--set",
             f"/cluster/accelerator/host_bandwidth={rate}GB/s"],
            check=True, stdout=subprocess.DEVNULL)
        (claim,) = [c for c in claims.load(results.load(pathlib.Path(folder))) if c.id == "wagma_transformer"]
        return {(cell.key["ranks"], cell.key["algorithm"]): cell.ratio for cell in claim.cells}


if __name__ == "__main__":
    main()
