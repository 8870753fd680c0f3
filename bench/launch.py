#!/usr/bin/env python3
"""How long `hvdrun -np N /bin/true` takes, beside its peers.

usage: bench/launch.py [--build DIR] [--rounds R] [--np N,N,...]

Runs hvdrun, MPICH's mpiexec (Hydra), Open MPI's mpirun and a bare posix_spawn
loop in turn, R rounds for each N, in one machine state, and prints medians and
ratios. A peer that is not installed is left out and said so (Debian packages:
mpich, openmpi-bin). Needs: scripts/build release.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def commands(build, np):
    """name -> command line, those that exist on this machine"""
    n = str(np)
    all_commands = {
        "spawn loop": [build / "bench/spawn_loop", n, "/bin/true"],
        "hvdrun": [build / "bin/hvdrun", "-np", n, "/bin/true"],
        "mpiexec": ["mpiexec.hydra", "-n", n, "/bin/true"],
        "mpirun": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe",
                   "-n", n, "/bin/true"],
    }
    return {name: [str(word) for word in words]
            for name, words in all_commands.items() if shutil.which(str(words[0]))}


LIMIT_S = 5  # a run that takes longer does not end


def seconds(command):
    """How long it took; None if it did not end."""
    begin = time.perf_counter()
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, check=False, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        return None
    took = time.perf_counter() - begin
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}: {done.stderr.decode()}")
    return took


def measure(build, np, rounds):
    """name -> milliseconds of each round that ended"""
    peers = commands(build, np)
    runs = {name: [] for name in peers}
    for round_number in range(rounds + 1):
        for name, command in peers.items():
            took = seconds(command)
            # The first round warms the page cache.
            if round_number > 0 and took is not None:
                runs[name].append(took * 1000)
    return runs


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--np", default="1,8,64")
    options = parser.parse_args()

    missing = {"hvdrun", "spawn loop", "mpiexec", "mpirun"} - set(commands(options.build, 1))
    if missing & {"hvdrun", "spawn loop"}:
        sys.exit(f"{options.build}: no {', '.join(sorted(missing))}; run scripts/build release")
    for name in sorted(missing):
        print(f"not installed, left out: {name}")
    print(f"launch of N x /bin/true, {options.rounds} rounds interleaved, "
          f"{os.cpu_count()} cores; ms")
    print(f"{'N':>4} {'':12} {'min':>8} {'median':>8} {'max':>8}  ratio to hvdrun (median)")
    for np in (int(word) for word in options.np.split(",")):
        runs = measure(options.build, np, options.rounds)
        ours = statistics.median(runs["hvdrun"])
        for name, times in runs.items():
            hung = options.rounds - len(times)
            note = f"  ({hung} of {options.rounds} did not end within {LIMIT_S} s)" if hung else ""
            if not times:
                print(f"{np:>4} {name:12}{note}")
                continue
            median = statistics.median(times)
            print(f"{np:>4} {name:12} {min(times):8.1f} {median:8.1f} {max(times):8.1f}"
                  f"  {median / ours:.2f}{note}")


if __name__ == "__main__":
    main()
