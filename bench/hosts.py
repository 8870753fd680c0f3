#!/usr/bin/env python3
"""What other hosts cost: starting them, losing one, reading what they print.

usage: bench/hosts.py [--build DIR] [--rounds N] [--only FIGURE,...]

The hosts are namespaces of this machine (tests/testbed/, needs root), so all of
them share its cores, and so do the peers. Peers take turns with hvdrun, in the
same rounds; medians. Figures:
  launch  32 x /bin/true on 16 hosts, beside MPICH's mpiexec and Open MPI's
          mpirun, both through ssh, and beside the bare ssh logins that it takes
  many    256 hosts that are this machine, through --remote-shell, until all
          agents are proved: a tree in which hosts start hosts, and all started
          by hvdrun
  cut     the cable of one of three training hosts is cut: from the last that was
          heard of it until the others train on, without it
  output  what one worker of another host prints, beside one of this host and
          beside the same through ssh alone
Needs: scripts/build release; Debian's mpich and openmpi-bin for the peers.
"""
import argparse
import os
import pathlib
import re
import shutil
import signal
import statistics
import string
import sys
import time

from elastic_job import STEP_MS, Job
from host_bed import ROOT, Bed

HOSTS = tuple(string.ascii_lowercase[:16])
MANY = 256
HOST_TIMEOUT_S = 2
BLOCK_LINES = 6_000_000  # of 100 bytes: the start is a small part
LIMIT_S = 60  # a run that takes longer does not end


def installed(ways):
    """Those whose programs are on this machine; says which are not."""
    for name, commands in ways.items():
        if not shutil.which(str(commands[0][0])):
            print(f"  not installed, left out: {name}")
    return {name: [[str(word) for word in command] for command in commands]
            for name, commands in ways.items() if shutil.which(str(commands[0][0]))}


def medians(taken):
    """name -> median of the rounds that ended, None if none did; prints them."""
    middle = {}
    for name, times in taken.items():
        ended = [took for took in times if took is not None]
        middle[name] = statistics.median(ended) if ended else None
        hung = len(times) - len(ended)
        note = f"  ({hung} of {len(times)} did not end within {LIMIT_S} s)" if hung else ""
        if ended:
            print(f"  {name:22} {min(ended):9.1f} {middle[name]:9.1f} {max(ended):9.1f}{note}")
        else:
            print(f"  {name:22}{note}")
    return middle


def verdict(what, value, met, goal):
    print(f"  {what}: {value:.2f}; must be {goal}: {'met' if met else 'MISSED'}")


def launch(options):
    slots = ",".join(f"{host}:2" for host in HOSTS)
    ways = {
        "hvdrun": [[options.build / "bin/hvdrun", "-np", 32, "-H", slots, "/bin/true"]],
        "mpiexec (Hydra)": [["mpiexec.hydra", "-launcher", "ssh", "-hosts", slots, "-n", 32,
                             "/bin/true"]],
        "mpirun (Open MPI)": [["mpirun.openmpi", "--allow-run-as-root", "--host", slots,
                               "-n", 32, "/bin/true"]],
        "bare ssh": [["ssh", "-T", "-o", "BatchMode=yes", host, "true"] for host in HOSTS[1:]],
    }
    with Bed(len(HOSTS)) as bed:
        took = medians(bed.time(HOSTS[0], installed(ways), options.rounds, LIMIT_S))
    for peer, most in (("mpirun (Open MPI)", 1), ("mpiexec (Hydra)", 1.35)):
        if took.get(peer):
            ratio = took["hvdrun"] / took[peer]
            verdict(f"hvdrun / {peer}", ratio, ratio <= most, f"at most {most}")


# Stands for ssh: the agent runs here, in the session of its own that hvdrun's
# keeper gives to every command.
HERE = "exec /bin/sh -c \"$2\""


def many(options):
    names = [f"h{number}" for number in range(MANY)]
    # Addresses that nobody has, so that the names are no names of this machine.
    known = "".join(f"192.0.2.{number} {name}\n" for number, name in enumerate(names))

    def hvdrun(fan_out):
        return [[options.build / "bin/hvdrun", "-np", 1, "--start-timeout", LIMIT_S,
                 "--fan-out", fan_out, "--remote-shell", f"sh -c '{HERE}' here", "-H",
                 ",".join(f"{name}:1" for name in names), "/bin/true"]]

    ways = {"hvdrun, tree": hvdrun(32), "hvdrun, flat": hvdrun(MANY)}
    rounds = max(1, options.rounds // 8)
    with Bed(1) as bed:
        bed.run("a", ["sh", "-c", "cat >> /etc/hosts"], known)
        took = medians(bed.time("a", installed(ways), rounds, LIMIT_S))
    ended = [milliseconds for milliseconds in took.values() if milliseconds]
    if ended:
        seconds = min(ended) / 1000
        verdict("seconds to the end of the first worker, the better of the two", seconds,
                seconds <= 10, "at most 10 on two cores")


def last_heard(bed, address):
    """When hvdrun's machine last got anything for hvdrun from there, ns."""
    looked = time.monotonic_ns()
    text = bed.run("a", ["ss", "-tniHOp", "dst", address])
    ages = [int(age) for line in text.splitlines() if '"hvdrun"' in line
            for age in re.findall(r"lastrcv:(\d+)", line)]
    if not ages:
        sys.exit(f"cut: hvdrun has no connection with {address}:\n{text}")
    return looked - min(ages) * 1_000_000


def try_cut(bed, build):
    """Points in time after the last that hvdrun heard of the host, ms."""
    flags = ["-np", 3, "-H", "a:1,b:1,c:1", "--min-np", 1, "--host-timeout", HOST_TIMEOUT_S]
    with Job(build, flags, ["train", STEP_MS], lambda words: bed.on("a", words)) as job:
        members = job.wait_for_size(3)
        bed.cut("c")
        heard = last_heard(bed, "10.77.0.3")
        after = job.wait_for_survivors({told["pid"] for told in members if told["rank"] < 2})
        bed.mend("c")
        reset = job.end()[0]
    points = {"hvdrun takes it for lost": reset["seen"],
              "all hold the world": max(told["joined"] for told in after),
              "first allreduce": max(told["first"] for told in after)}
    return {name: (when - heard) / 1e6 for name, when in points.items()}


def cut(options):
    with Bed(3) as bed:
        tries = [try_cut(bed, options.build) for _ in range(max(1, options.rounds // 4))]
    took = medians({name: [one[name] for one in tries] for name in tries[0]})
    beyond = took["first allreduce"] - HOST_TIMEOUT_S * 1000
    verdict("ms beyond --host-timeout", beyond, beyond <= 300, "at most 300")


def output(options):
    worker = [options.build / "bench/output", "worker", "0", "block", str(BLOCK_LINES)]

    def read(words):
        return [["sh", "-c", '"$@" | cat >/dev/null', "sh", *words]]

    def hvdrun(host):
        return read([options.build / "bin/hvdrun", "-np", 1, "-H", host, *worker])

    ways = {"hvdrun, other host": hvdrun("b"), "hvdrun, this host": hvdrun("a"),
            "ssh alone": read(["ssh", "-T", "b", *worker])}
    with Bed(2) as bed:
        took = medians(bed.time("a", installed(ways), max(1, options.rounds // 4), LIMIT_S))
    for name, milliseconds in took.items():
        print(f"  {name:22} {BLOCK_LINES / 10 / milliseconds:9.0f} MB/s")
    rate = took["hvdrun, this host"] / took["hvdrun, other host"]
    verdict("other host / this host", rate, rate >= 0.3, "at least 0.3")


FIGURES = {"launch": launch, "many": many, "cut": cut, "output": output}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--rounds", type=int, default=20,
                        help="of launch; the others, which take longer, have fewer")
    parser.add_argument("--only", default=",".join(FIGURES), help="figures")
    options = parser.parse_args()
    wrong = [name for name in options.only.split(",") if name not in FIGURES]
    if wrong or options.rounds < 1:
        sys.exit(f"bench/hosts.py: --only is of {', '.join(FIGURES)}; --rounds is 1 or more")
    if not (options.build / "bench/recovery_probe").exists():
        sys.exit(f"{options.build}: no bench/recovery_probe; run scripts/build release")

    # An exception, so that the bed ends before us.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.2f}; milliseconds")
    print(f"  {'':22} {'min':>9} {'median':>9} {'max':>9}")
    for figure in options.only.split(","):
        print(f"{figure}:")
        FIGURES[figure](options)


if __name__ == "__main__":
    main()
