#!/usr/bin/env python3
"""How long it takes from launch until all workers hold their world.

usage: bench/join.py [--build DIR] [--rounds R] [--np N]

Starts N light workers under hvdrun, and the same N programs from a bare
posix_spawn loop (each a world of one) in turn, R rounds, and prints both and
the difference: what forming the world costs. Needs: scripts/build release.
"""
import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def milliseconds_until_all_hold(command, np, size):
    """From the start of `command` to the last worker's "held"."""
    begin = time.monotonic()
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False)
    held = [(float(when), int(n)) for when, n in
            re.findall(r"held ([0-9.]+) size ([0-9]+)", done.stdout)]
    if done.returncode != 0 or len(held) != np or {n for _, n in held} != {size}:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}, {len(held)} of {np} "
                 f"workers held a world of {size}\n{done.stderr}")
    return (max(when for when, _ in held) - begin) * 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--np", type=int, default=64)
    options = parser.parse_args()

    worker = str(options.build / "bench/join")
    n = str(options.np)
    runs = {
        "spawn loop": ([str(options.build / "bench/spawn_loop"), n, worker], 1),
        "hvdrun": ([str(options.build / "bin/hvdrun"), "-np", n, worker], options.np),
    }
    times = {name: [] for name in runs}
    for round_number in range(options.rounds + 1):
        for name, (command, size) in runs.items():
            took = milliseconds_until_all_hold(command, options.np, size)
            if round_number > 0:  # the first warms the page cache
                times[name].append(took)

    print(f"launch to all of {n} workers holding their world, {options.rounds} rounds "
          f"interleaved, {os.cpu_count()} cores; ms")
    for name, values in times.items():
        print(f"{name:12} min {min(values):8.1f}  median {statistics.median(values):8.1f}"
              f"  max {max(values):8.1f}")
    over = statistics.median(times["hvdrun"]) - statistics.median(times["spawn loop"])
    print(f"hvdrun over the spawn loop: {over:.1f} (median)")


if __name__ == "__main__":
    main()
