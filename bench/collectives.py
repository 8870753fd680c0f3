#!/usr/bin/env python3
"""Allreduce of f32 beside Open MPI and Gloo.

usage: bench/collectives.py [--build DIR] [--np N] [--via shm|tcp] [--min B] [--max B]
                            [--factor F] [--rounds R] [--registered] [--type f32|f16] [--bind]

Runs the programs in turn, R rounds, in one machine state: each is short, times every
operation by itself after a barrier, and rewrites its buffer before each. Prints, for each
size, the least and the median time of each program, and the ratio to the best of the
others (above 1: ours is faster). The round trip of a flag between two cores, before and
after, says in which state the machine was; a run in which it changes much is no good.
mpirun binds each rank to a core as long as there are enough, hvdrun leaves that to the
kernel, which at times puts two ranks on one; --bind gives ours a core each as well.
With --via tcp every rank is a host of its own. A program that is not there is left out
and said so (Debian packages: openmpi-bin libopenmpi-dev libgloo-dev). Needs:
scripts/build release.
"""
import argparse
import collections
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIMIT_S = 300
MALLOC = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 31),
          "MALLOC_TOP_PAD_": str(1 << 28)}


def size(text):
    return int(text.rstrip("KMG")) << {"K": 10, "M": 20, "G": 30}.get(text[-1], 0)


def run(command, env=None):
    """What it printed; ends this program if it fails."""
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          timeout=LIMIT_S, env={**os.environ, **(env or {})})
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}: "
                 f"{done.stderr.decode()[-400:]}")
    return done.stdout.decode()


def hosts(args):
    """hvdrun's -H: each rank a host of its own, or all on one."""
    if args.via == "shm":
        return f"localhost:{args.np}"
    return ",".join(f"127.0.0.{i + 1}:1" for i in range(args.np))


def bound(args):
    """what is put before a program of ours so that each rank has a core"""
    if not args.bind:
        return []
    core = f"$((HVD_LOCAL_RANK % {os.cpu_count()}))"
    return ["sh", "-c", f'exec taskset -c {core} "$@"', "sh"]


def ours(args):
    """(size, min, median) of hvd-perf, in place"""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "perf.json"
        run([args.build / "bin/hvdrun", "-np", args.np, "-H", hosts(args), "--output", "none",
             *bound(args), args.build / "bin/hvd-perf", "--min", args.min, "--max", args.max,
             "--factor", args.factor, "--type", args.type, "--json", report,
             *(["--registered"] if args.registered else [])])
        for row in json.loads(report.read_text())["sizes"]:
            times = row["in_place"]
            yield "hvd", row["bytes"], times["min_us"], times["median_us"]


def lines_of(text, name=None):
    for line in text.splitlines():
        start = line.find("{")
        if start < 0:
            continue
        row = json.loads(line[start:])
        yield name or row["way"], row["bytes"], row["min"], row["median"]


def mpi(args, name, env, options=()):
    transport = ["--mca", "btl", "self,tcp"] if args.via == "tcp" else []
    text = run(["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", *transport,
                *options, *(word for key in env for word in ("-x", key)), "-n", args.np,
                args.build / "bench/collectives_mpi", args.min, args.max, args.factor], env)
    return lines_of(text, name)


def gloo(args):
    with tempfile.TemporaryDirectory() as folder:
        text = run([args.build / "bin/hvdrun", "--output", "raw", "-np", args.np,
                    args.build / "bench/collectives_gloo", folder, args.type, args.min,
                    args.max, args.factor])
        yield from lines_of(text)


def programs(args):
    """those that are there, and make sense for what is asked"""
    found = [lambda: ours(args)]
    if (args.build / "bench/collectives_mpi").exists() and args.type == "f32":
        found.append(lambda: mpi(args, "mpi", {}))
        found.append(lambda: mpi(args, "mpi malloc-tuned", MALLOC))
        if args.via == "shm":
            found.append(lambda: mpi(args, "mpi no-cma", MALLOC,
                                     ["--mca", "btl_vader_single_copy_mechanism", "none"]))
    else:
        print("Open MPI: left out (not built, or not for this type)")
    if (args.build / "bench/collectives_gloo").exists():
        found.append(lambda: gloo(args))
    else:
        print("Gloo: left out (not built)")
    return found


def state(args):
    """us of a flag's round trip: that of the smallest allreduce on two ranks"""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "perf.json"
        run([args.build / "bin/hvdrun", "-np", 2, "--output", "none", *bound(args),
             args.build / "bin/hvd-perf", "--max", 4, "--json", report])
        return json.loads(report.read_text())["sizes"][0]["in_place"]["min_us"]


def table(times):
    others = sorted({way for way, _ in times} - {"hvd"})
    print(f"{'bytes':>10} {'hvd min':>10} {'median':>10}  {'best other (min)':<28}"
          f"{'min':>10} {'median':>10} {'ratio min':>10} {'median':>8}")
    for _, count in sorted(key for key in times if key[0] == "hvd"):
        mine = times["hvd", count]
        best_min = min((min(t[0] for t in times[way, count]), way)
                       for way in others if (way, count) in times)
        best_median = min(statistics.median(t[1] for t in times[way, count])
                          for way in others if (way, count) in times)
        my_min = min(t[0] for t in mine)
        my_median = statistics.median(t[1] for t in mine)
        print(f"{count:>10} {my_min:>10.2f} {my_median:>10.2f}  {best_min[1]:<28}"
              f"{best_min[0]:>10.2f} {best_median:>10.2f} {best_min[0] / my_min:>10.2f} "
              f"{best_median / my_median:>8.2f}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--np", type=int, default=2)
    parser.add_argument("--via", choices=("shm", "tcp"), default="shm")
    parser.add_argument("--min", type=size, default=4)
    parser.add_argument("--max", type=size, default=64 << 20)
    parser.add_argument("--factor", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--registered", action="store_true")
    parser.add_argument("--bind", action="store_true")
    parser.add_argument("--type", choices=("f32", "f16"), default="f32")
    args = parser.parse_args()
    before = state(args)
    times = collections.defaultdict(list)
    runs = programs(args)
    for _ in range(args.rounds):
        for program in runs:
            for way, count, least, median in program():
                times[way, count].append((least, median))
    print(f"{args.np} ranks by {args.via}, {args.type}, "
          f"{'registered' if args.registered else 'private'} buffers, {args.rounds} rounds; "
          f"times in us; flag {before:.2f} us before, {state(args):.2f} after")
    if len({way for way, _ in times}) < 2:
        sys.exit("nothing to compare with")
    table(times)


main()
