#!/usr/bin/env python3
"""hvdrun with real Horovod workers: horovod_test.py CASE SOURCE_DIR BUILD_DIR.

Exits with 77, which is "not run", where tests/interop/prepare has made no Horovod.
"""
import os
import signal
import subprocess
import time

from interop import ONE, TWO, Bed, Hosts, Job, Tools, not_run, run_case


def make_tools(source, build):
    prepared = subprocess.run([os.path.join(source, "tests/interop/prepare"), "--check"],
                              capture_output=True, text=True, check=False)
    if prepared.returncode != 0:
        not_run(prepared.stderr)
    return Tools(source, build, prepared.stdout.strip())


def static(tools, folder, size, flags, there=()):
    with Job(tools, flags, "horovod_static.py", folder, there=there) as job:
        job.check(job.end() == 0, "hvdrun's exit code is not 0")
        for rank in range(size):
            job.check(any(f"rank={rank} size={size} " in line and "right=True" in line
                          for line in job.lines), f"rank {rank} did not say its sum")
        return job


def static_two(tools, folder):
    static(tools, folder, 2, ["-np", "2"])


def static_four(tools, folder):
    static(tools, folder, 4, ["-np", "4"])


def static_two_hosts(tools, folder):
    job = static(tools, folder, 4, ["-np", "4", "-H", f"{ONE}:2,{TWO}:2"])
    job.check(any("rank=3 size=4 local=1/2 cross=1/2" in line for line in job.lines),
              "rank 3 is not the second one of the second host")


def static_two_machines(tools, folder):
    """They cannot sign, and find their store all the same: at their own loopback."""
    with Bed(tools, folder) as bed:
        job = static(tools, folder, 4, ["-np", "4", "-H", "a:2,b:2"], bed.on("a"))
        job.check(any("rank=3 size=4 local=1/2 cross=1/2" in line for line in job.lines),
                  "rank 3 is not the second one of the second host")


def elastic_two_machines(tools, folder):
    """Rank 0 is told over the network that a machine has come."""
    hosts = Hosts(folder, "a:2")
    with Bed(tools, folder) as bed, \
            elastic(tools, folder, hosts, 2, ["--min-np", "1"], there=bed.on("a")) as job:
        before = job.batch(2, after=5)
        hosts.put("a:2,b:1")
        grown = job.batch(3, after=before["batch"])
        job.check(grown["pid"] == before["pid"], "rank 0 is another process")
        job.batch(3, rank=2, host="b")
        hosts.put("b:1")
        job.batch(1, host="b")
        job.check(job.finish() == 0, "hvdrun's exit code is not 0")


def elastic(tools, folder, hosts, size, flags=(), env=None, there=()):
    return Job(tools, ["-np", str(size), "--watch-hosts", hosts.path, *flags],
               "horovod_elastic.py", folder, env, there)


def grow(tools, folder):
    hosts = Hosts(folder, f"{ONE}:2")
    with elastic(tools, folder, hosts, 2) as job:
        before = job.batch(2, after=5)
        hosts.put(f"{ONE}:2,{TWO}:1")
        grown = job.batch(3, after=before["batch"])
        job.check(grown["pid"] == before["pid"], "rank 0 is another process")
        job.batch(3, rank=2, host=TWO)
        job.check(job.finish() == 0, "hvdrun's exit code is not 0")
        job.check_batches()


def grow_before_rank_0_listens(tools, folder):
    """A host that appears while rank 0 still imports is announced later, not lost."""
    hosts = Hosts(folder, f"{ONE}:1")
    with elastic(tools, folder, hosts, 1) as job:
        job.wait_for(lambda s: s["what"] == "started", "the first worker")
        hosts.put(f"{ONE}:1,{TWO}:1")
        job.batch(2)
        job.check(job.finish() == 0, "hvdrun's exit code is not 0")
        job.check_batches()


def shrink(tools, folder):
    hosts = Hosts(folder, f"{ONE}:2,{TWO}:1")
    with elastic(tools, folder, hosts, 3, ["--min-np", "1"]) as job:
        before = job.batch(3, after=5)
        hosts.put(f"{ONE}:2")
        job.batch(2, after=before["batch"])
        job.check(job.finish() == 0, "hvdrun's exit code is not 0")
        job.check_batches()


def lose_rank_0s_host(tools, folder):
    hosts = Hosts(folder, f"{ONE}:1,{TWO}:2")
    with elastic(tools, folder, hosts, 3, ["--min-np", "1"]) as job:
        before = job.batch(3, rank=1, after=5)
        hosts.put(f"{TWO}:2")
        after = job.batch(2, after=before["batch"], host=TWO)
        job.check(after["pid"] == before["pid"], "rank 0 is not the oldest survivor")
        job.check(job.finish() == 0, "hvdrun's exit code is not 0")
        job.check_batches()


def kill(tools, folder, rank, size):
    """Its slot is started again: the world shrinks and grows."""
    hosts = Hosts(folder, f"{ONE}:{size}")
    with elastic(tools, folder, hosts, size, ["--min-np", "1"]) as job:
        victim = job.batch(size, rank=rank, after=5)
        os.kill(victim["pid"], signal.SIGKILL)
        killed = time.monotonic()
        smaller = job.batch(size - 1, after=victim["batch"] - 1)
        print(f"back at work {smaller['time'] - killed:.2f} s after the kill")
        job.batch(size, after=smaller["batch"])
        job.check(job.finish() == 0, "hvdrun's exit code is not 0")
        job.check_batches()


def slow_newcomer(tools, folder):
    fifo = os.path.join(folder, "fifo")
    os.mkfifo(fifo)
    hosts = Hosts(folder, f"{ONE}:2")
    with elastic(tools, folder, hosts, 2,
                 env={"SLOW_HOST": TWO, "SLOW_FIFO": fifo}) as job:
        job.batch(2, after=5)
        hosts.put(f"{ONE}:2,{TWO}:1")
        job.wait_for(lambda s: s["what"] == "started" and s["host"] == TWO, "the newcomer")
        started = job.batch(2)
        job.batch(2, after=started["batch"] + 50)
        with open(fifo, "w", encoding="ascii"):
            pass
        grown = job.batch(3)
        times = [s["time"] for s in job.said if s["what"] == "batch" and s["rank"] == 0]
        still = max(b - a for a, b in zip(times, times[1:]))
        print(f"training stood still for {still:.2f} s at most")
        job.check(grown["batch"] > started["batch"] + 50, "training waited for the newcomer")
        job.check(job.finish() == 0, "hvdrun's exit code is not 0")
        job.check_batches()


CASES = {
    "static_two": static_two,
    "static_four": static_four,
    "static_two_hosts": static_two_hosts,
    "static_two_machines": static_two_machines,
    "elastic_two_machines": elastic_two_machines,
    "grow": grow,
    "grow_before_rank_0_listens": grow_before_rank_0_listens,
    "shrink": shrink,
    "lose_rank_0s_host": lose_rank_0s_host,
    "kill_rank_0": lambda tools, folder: kill(tools, folder, 0, 2),
    "kill_another": lambda tools, folder: kill(tools, folder, 1, 2),
    "kill_one_of_three": lambda tools, folder: kill(tools, folder, 2, 3),
    "slow_newcomer": slow_newcomer,
}


run_case(CASES, make_tools)
