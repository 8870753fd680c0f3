#!/usr/bin/env python3
"""How soon every survivor of a killed rank has its error.

usage: bench/deaths.py [--build DIR] [--tries N] [--np N,...] [--gib G,...]

One of N ranks of a host, which holds G GiB of memory besides, is killed (-9) in the
middle of all-reduces; each try is a job of its own. The figure is the time from the
kill until the last survivor's call has thrown. Promised are 20 ms, and 3 ms for each
GiB of the victim: the kernel takes back its memory before anybody can know. Beside
it, in turn: the kernel's own time until the pidfd of a process with as much memory is
readable (bench/death_floor.cc). Needs: scripts/build release.
"""
import argparse
import os
import pathlib
import random
import re
import signal
import statistics
import subprocess
import sys
import time

from idle import busy_share

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROMISED_MS = 20
PROMISED_MS_PER_GIB = 3
BYTES = 1 << 20  # of each all-reduce: large enough that a death falls into one
LIMIT_S = 60  # for one job


def fields_of(line):
    return {key.decode(): int(value) for key, value in re.findall(rb"(\w+)=(-?\d+)", line)}


def start(build, size, victim, gib):
    return subprocess.Popen(
        [build / "bin/hvdrun", "-np", str(size), "--timeout", str(LIMIT_S),
         build / "bench/death_probe", str(victim), str(int(gib * 1024)), str(BYTES)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def pid_of_victim(job, size, victim):
    """Once all ranks are in the middle of it."""
    pids = {}
    while len(pids) < size:
        line = job.stdout.readline()
        if not line:
            sys.exit(f"no death_probe got under way:\n{job.stderr.read().decode()}")
        told = fields_of(line)
        pids[told["rank"]] = told["pid"]
    return pids[victim]


def try_kill(build, size, gib):
    """Milliseconds until the last survivor knew."""
    victim = random.randrange(size)
    job = start(build, size, victim, gib)
    try:
        pid = pid_of_victim(job, size, victim)
        time.sleep(random.uniform(0, 0.02))
        begin = time.monotonic_ns()
        os.kill(pid, signal.SIGKILL)
        out, err = job.communicate(timeout=LIMIT_S)
    finally:
        job.kill()
        job.communicate()
    told = [fields_of(line) for line in out.splitlines() if b"failed=" in line]
    if len(told) != size - 1 or any(one["victim"] != victim for one in told):
        sys.exit(f"rank {victim} of {size} killed, but:\n{out.decode()}{err.decode()}")
    return (max(one["failed"] for one in told) - begin) / 1e6


def try_floor(build, size, gib):
    done = subprocess.run([build / "bench/death_floor", str(size), "1", str(int(gib * 1024))],
                          check=True, capture_output=True, text=True)
    return float(done.stdout.split()[0]) / 1000


def measure(size, gib, options):
    """Prints one row; whether it is what is promised."""
    ours, floor = [], []
    for _ in range(options.tries):
        ours.append(try_kill(options.build, size, gib))
        floor.append(try_floor(options.build, size, gib))
    promised = PROMISED_MS + PROMISED_MS_PER_GIB * gib
    met = max(ours) <= promised
    verdict = ("met" if met else "met by the median" if statistics.median(ours) <= promised
               else "MISSED, as by the kernel alone" if statistics.median(floor) > promised
               else "MISSED")
    print(f"  {size:5} {gib:8g} {statistics.median(ours):9.2f} {max(ours):9.2f}"
          f" {statistics.median(floor):13.2f} {max(floor):9.2f} {promised:9g}  {verdict}",
          flush=True)
    return met


def numbers(kind):
    return lambda text: [kind(word) for word in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--tries", type=int, default=20, help="per row")
    parser.add_argument("--np", type=numbers(int), default=[2, 4], help="ranks")
    parser.add_argument("--gib", type=numbers(float), default=[0, 1, 4], help="of the victim")
    options = parser.parse_args()
    if options.tries < 1 or min(options.np) < 2 or min(options.gib) < 0:
        sys.exit("bench/deaths.py: --tries is 1 or more, --np 2 or more, --gib 0 or more")
    if not (options.build / "bench/death_probe").exists():
        sys.exit(f"{options.build}: no bench/death_probe; run scripts/build release")

    # An exception, so that the job of the try ends with us.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    print(f"{os.cpu_count()} cores, {100 * busy_share(1):.0f} % of them busy with other things, "
          f"load {os.getloadavg()[0]:.2f}; {options.tries} tries a row, milliseconds from the kill")
    print(f"  {'ranks':>5} {'GiB':>8} {'median':>9} {'worst':>9} {'floor: median':>13} {'worst':>9}"
          f" {'promised':>9}")
    met = [measure(size, gib, options) for size in options.np for gib in options.gib]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
