#!/usr/bin/env python3
"""How long an elastic job stands still when workers die and come.

usage: bench/elastic.py [--build DIR] [--tries N] [--only FIGURE,...]

Each try is a job of its own, on a machine that has nothing else to do; how long a
figure waits for that is bounded, and it says how many tries had it. Figures:
  kill2, kill3, kill4, kill16   kill -9 of one training worker, until the last
                                survivor has done its first allreduce in the new
                                world
  kill64                        the same of 64 workers that do nothing, until all
                                hold the new world
  join                          a slot is added to the watched list of hosts,
                                until all have done an allreduce at the new size
  still                         of the same: how long training stood still
Beside them: the least a death can cost (bench/death_floor.cc), and Horovod
0.28.1. Needs: scripts/build release.
"""
import argparse
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import time

from elastic_job import STEP_MS, Job
from idle import wait_until_idle

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Milliseconds. Horovod 0.28.1 with Gloo and PyTorch on a like machine: medians,
# batches of 50 ms; at 3 -> 2 with a wait of its own of 30 s in most tries.
GOAL = {"kill4": 50, "kill16": 150, "kill64": 300, "join": 200, "still": 50}
HOROVOD = {"kill2": 350, "kill3": 30_000, "join": 5_330, "still": 4_250}


def kill(job, size, victim, settle_s):
    """Kills a worker of the first world; when, and what the survivors told."""
    pids = {told["rank"]: told["pid"] for told in job.wait_for_size(size)}
    time.sleep(settle_s)
    begin = time.monotonic_ns()
    os.kill(pids.pop(victim), 9)
    # Not of a certain world: where the victim is started again very soon, the
    # others go to the world with its successor at once.
    return begin, job.wait_for_survivors(set(pids.values()))


def try_kill(build, size, probe=None):
    """Of training workers, or of those of another `probe`, which never train."""
    victim = random.randrange(size)
    words = ["train", STEP_MS] if probe is None else [probe, victim]
    settle_s = random.uniform(0.05, 0.05 + STEP_MS / 1000)
    with Job(build, ["-np", size, "--min-np", 1], words) as job:
        begin, after = kill(job, size, victim, settle_s)
        reset = job.end()[0]
    points = {"hvdrun sees it": reset["seen"], "published": reset["published"]}
    for name, field in (("all have their error", "failed"), ("all hold the world", "joined"),
                        ("all have the state", "entered"), ("first allreduce", "first")):
        points[name] = max(told[field] for told in after)
    if probe is not None:
        del points["all have the state"], points["first allreduce"]
    return {name: (when - begin) / 1e6 for name, when in points.items()}


def try_join(build):
    """Two figures from one job."""
    directory = pathlib.Path(os.environ.get("TMPDIR", "/tmp")) / f"hosts.{os.getpid()}"
    hosts, new = directory.with_suffix(".now"), directory.with_suffix(".new")
    hosts.write_text("localhost:2\n")
    new.write_text("localhost:3\n")
    try:
        with Job(build, ["-np", 2, "--watch-hosts", hosts], ["train", STEP_MS]) as job:
            job.wait_for_size(2)
            time.sleep(0.05)
            begin = time.monotonic_ns()
            new.rename(hosts)
            after = job.wait_for_size(3)
            started = max(job.up)
            reset = job.end()[0]
    finally:
        hosts.unlink(missing_ok=True)
        new.unlink(missing_ok=True)
    first = max(told["first"] for told in after)
    points = {"its process runs": started, "its request is seen": reset["seen"],
              "published": reset["published"],
              "all hold the world": max(told["joined"] for told in after),
              "first allreduce": first}
    taken = {name: (when - begin) / 1e6 for name, when in points.items()}
    taken["stood still"] = max(told["gap"] for told in after) / 1e6
    return taken


FIGURES = {
    "kill2": lambda build: try_kill(build, 2),
    "kill3": lambda build: try_kill(build, 3),
    "kill4": lambda build: try_kill(build, 4),
    "kill16": lambda build: try_kill(build, 16),
    "kill64": lambda build: try_kill(build, 64, "wait"),
    "join": try_join,
}


def p99(values):
    """The value that one of a hundred exceeds."""
    return sorted(values)[min(len(values) - 1, int(len(values) * 0.99))]


def print_row(name, values, note=""):
    print(f"  {name:22} {statistics.median(values):9.2f} {p99(values):9.2f}"
          f" {min(values):9.2f} {max(values):9.2f}  {note}")


def note_of(figure, values):
    notes = []
    if figure in GOAL:
        goal = GOAL[figure]
        median, last = statistics.median(values), p99(values)
        met = "met, at p99 too" if last <= goal else "met" if median <= goal else "MISSED"
        notes.append(f"goal {goal} ms: {met}")
    if figure in HOROVOD:
        notes.append(f"Horovod {HOROVOD[figure] / 1000:g} s: "
                     f"{HOROVOD[figure] / statistics.median(values):.0f} x")
    return "; ".join(notes)


def floor(build, size, tries):
    done = subprocess.run([build / "bench/death_floor", str(size), str(tries)], check=True,
                          capture_output=True, text=True)
    return [float(line.split()[1]) / 1000 for line in done.stdout.splitlines()]


def measure(figure, options):
    """Prints one figure, by phase; all times from the event on."""
    tries, idle, patience = [], 0, options.patience
    for _ in range(options.tries):
        begin = time.monotonic()
        idle += wait_until_idle(patience)
        patience = max(0, patience - (time.monotonic() - begin))
        tries.append(FIGURES[figure](options.build))
    print(f"{figure}: {len(tries)} tries, {idle} of them began on an idle machine")
    for name in tries[0]:
        values = [one[name] for one in tries]
        last = "first allreduce" if figure != "kill64" else "all hold the world"
        shown = {last: figure, "stood still": "still"}.get(name, "")
        print_row(name, values, note_of(shown, values))
    if figure.startswith("kill"):
        print_row("floor", floor(options.build, int(figure[4:]), options.tries),
                  "a bare pidfd-and-pipe loop")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--tries", type=int, default=200, help="per figure")
    parser.add_argument("--only", default=",".join(FIGURES), help="figures")
    parser.add_argument("--patience", type=float, default=300,
                        help="seconds that a figure waits for an idle machine")
    options = parser.parse_args()
    wrong = [name for name in options.only.split(",") if name not in FIGURES]
    if wrong or options.tries < 1:
        sys.exit(f"bench/elastic.py: --only is of {', '.join(FIGURES)}; --tries is 1 or more")
    if not (options.build / "bench/recovery_probe").exists():
        sys.exit(f"{options.build}: no bench/recovery_probe; run scripts/build release")

    # An exception, so that the job of the try ends with us.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.2f}, a step of {STEP_MS} ms; "
          "milliseconds from the event")
    print(f"  {'':22} {'median':>9} {'p99':>9} {'min':>9} {'max':>9}")
    for figure in options.only.split(","):
        measure(figure, options)


if __name__ == "__main__":
    main()
