#!/usr/bin/env python3
"""Prints how fast the network plugin for NCCL is beside sockets, as the tables of docs/nccl-plugin.md.

  scripts/net_plugin.py --bench build/release/tests/bench_net --plugin build/release/cuda/net/libnccl-net-trigram.so

The first table compares the plugin with one blocking socket over loopback. The second table, which needs root, is
measured between two network namespaces whose veth has four transmit queues. Each queue has a token bucket of a quarter
of the link's rate, and the kernel chooses a flow's queue by the hash of its addresses and ports, so one flow gets a
quarter at most. It compares the plugin with one socket, and with the best number of sockets with a thread each.

Each cell is the median of --repeats connections; the range is in brackets.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

LOOPBACK = {1: 400_000, 64: 400_000, 1024: 200_000, 4096: 100_000, 16384: 50_000, 65536: 20_000, 131072: 10_000,
            524288: 3_000, 1048576: 2_000, 4 << 20: 400, 16 << 20: 120, 256 << 20: 12}
LIMITED = {131072: 1_000, 524288: 250, 1048576: 125}
SOCKETS = (2, 4, 8, 16)
QUEUE_MBPS = 250
SENDER, RECEIVER = "trigram-net-a", "trigram-net-b"


def measure(options, transport, sizes, address, interface, prefixes=((), ())):
    """Rates in bytes/s by message size, over one connection."""
    environment = {**os.environ, "TRIGRAM_NET_PLUGIN": str(options.plugin), "TRIGRAM_NET_SECRET": "benchmark",
                   "NCCL_SOCKET_IFNAME": f"={interface}", "NCCL_SOCKET_FAMILY": "AF_INET"}
    with tempfile.TemporaryDirectory() as folder:
        words = [transport, f"{folder}/handle", address, *(f"{size}:{count}" for size, count in sizes.items())]
        sender = subprocess.Popen([*prefixes[0], options.bench, "send", *words], env=environment)
        try:
            done = subprocess.run([*prefixes[1], options.bench, "recv", *words], env=environment, check=True,
                                  stdout=subprocess.PIPE, text=True, timeout=600)
            sender.wait(timeout=60)
        finally:
            sender.kill()
            sender.wait()
    return {int(size): float(rate) for size, rate in map(str.split, done.stdout.splitlines())}


def medians(options, transports, sizes, *where):
    """By transport and size: all measured rates. The transports take turns, so that all see the same machine."""
    found = {transport: {size: [] for size in sizes} for transport in transports}
    for _ in range(options.repeats):
        for transport in transports:
            for size, rate in measure(options, transport, sizes, *where).items():
                found[transport][size].append(rate)
    return found


def cell(rates):
    low, middle, high = (x / 1e6 for x in (min(rates), statistics.median(rates), max(rates)))
    return f"{middle:.4g} ({low:.4g} to {high:.4g})"


def ratio(one, other):
    return f"{statistics.median(one) / statistics.median(other):.2f}"


def print_loopback(options):
    found = medians(options, ("plain", "plugin"), LOOPBACK, "127.0.0.1", "lo")
    print("| bytes | one socket, MB/s | plugin, MB/s | ratio |\n|--:|--:|--:|--:|")
    for size in LOOPBACK:
        plain, plugin = found["plain"][size], found["plugin"][size]
        print(f"| {size:,} | {cell(plain)} | {cell(plugin)} | {ratio(plugin, plain)} |")


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def make_namespaces():
    ip("netns", "add", SENDER)
    ip("netns", "add", RECEIVER)
    queues = ("numtxqueues", "4", "numrxqueues", "4")
    ip("link", "add", "net0", *queues, "netns", SENDER, "type", "veth", "peer", "name", "net0", *queues,
       "netns", RECEIVER)
    for name, host in ((SENDER, 1), (RECEIVER, 2)):
        ip("-n", name, "addr", "add", f"10.77.0.{host}/24", "dev", "net0")
        ip("-n", name, "link", "set", "net0", "up")
    for qdisc in ("root handle 1: mq", *(f"parent 1:{q} tbf rate {QUEUE_MBPS}mbit burst 128kb latency 50ms"
                                         for q in range(1, 5))):
        subprocess.run(["tc", "-n", SENDER, "qdisc", "replace", "dev", "net0", *qdisc.split()], check=True)


def print_limited(options):
    try:
        make_namespaces()
        inside = [("ip", "netns", "exec", name) for name in (SENDER, RECEIVER)]
        threads = [f"threads={count}" for count in SOCKETS]
        found = medians(options, ["plain", "plugin", *threads], LIMITED, "10.77.0.2", "net0", inside)
    finally:
        for name in (SENDER, RECEIVER):
            subprocess.run(["ip", "netns", "delete", name], capture_output=True)
    print("\n| bytes | one socket, MB/s | plugin, MB/s | ratio | best of 2 to 16 sockets with threads, MB/s | its ratio |")
    print("|--:|--:|--:|--:|--:|--:|")
    for size in LIMITED:
        plain, plugin = found["plain"][size], found["plugin"][size]
        best = max(threads, key=lambda name: statistics.median(found[name][size]))
        print(f"| {size:,} | {cell(plain)} | {cell(plugin)} | {ratio(plugin, plain)} | "
              f"{best.split('=')[1]}: {cell(found[best][size])} | {ratio(found[best][size], plain)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", type=Path, required=True, help="the program bench_net")
    parser.add_argument("--plugin", type=Path, required=True, help="libnccl-net-trigram.so")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", choices=("loopback", "limited"))
    options = parser.parse_args()
    options.bench, options.plugin = options.bench.resolve(), options.plugin.resolve()
    if options.only != "limited":
        print_loopback(options)
    if options.only != "loopback":
        if os.geteuid() != 0:
            print("net_plugin: the second table needs root, for network namespaces", file=sys.stderr)
            return 1
        print_limited(options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
