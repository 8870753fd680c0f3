#!/usr/bin/env python3
"""hvdrun with real Horovod workers: horovod_test.py CASE SOURCE_DIR BUILD_DIR.

Exits with 77, which is "not run", where tests/interop/prepare has made no Horovod.
Nothing here sleeps: what the workers print is what is waited for.
"""
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time

LIMIT = 120  # seconds for anything that is waited for, on a busy machine
ONE = "localhost"
TWO = "127.0.0.2"
THREE = "127.0.0.3"


class Job:
    """hvdrun, what its workers said, and a folder for both."""

    def __init__(self, tools, flags, program, folder, env=None, there=()):
        """`there`: the words that run others where hvdrun is to run."""
        self.folder = folder
        self.stop_file = os.path.join(folder, "stop")
        worker = os.path.join(tools.source, "tests/interop/workers", program)
        self.said = []  # JSON objects of workers
        self.lines = []  # all lines, of hvdrun too
        self.process = subprocess.Popen(
            [*there, tools.hvdrun, *flags, "/usr/bin/python3", worker],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": tools.horovod, "OMP_NUM_THREADS": "1",
                 "STOP_FILE": self.stop_file, **(env or {})})
        self.rest = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.stdout.close()

    def read(self, until):
        """Takes in what comes next; False at the end of all output."""
        ready, _, _ = select.select([self.process.stdout], [], [],
                                    max(0.0, until - time.monotonic()))
        if not ready:
            raise AssertionError(f"nothing new within {LIMIT} s")
        data = os.read(self.process.stdout.fileno(), 65536)
        *whole, self.rest = (self.rest + data).split(b"\n")
        for line in whole:
            text = line.decode("utf-8", "replace")
            self.lines.append(text)
            start = text.find(">:{")
            if start >= 0:
                self.said.append(json.loads(text[start + 2:]))
        return bool(data)

    def wait_for(self, wanted, what):
        """The first object for which wanted(object) holds, from now on."""
        looked_at = len(self.said)
        until = time.monotonic() + LIMIT
        while True:
            for said in self.said[looked_at:]:
                looked_at += 1
                if wanted(said):
                    return said
            if not self.read(until):
                raise AssertionError(f"hvdrun ended while {what} was waited for")

    def batch(self, size, rank=0, after=-1, host=None):
        return self.wait_for(
            lambda s: s["what"] == "batch" and s["size"] == size and s["rank"] == rank
            and s["batch"] > after and host in (None, s["host"]),
            f"a batch of {size} ranks")

    def finish(self):
        """All the rest of the output, and the exit code."""
        open(self.stop_file, "w", encoding="ascii").close()
        return self.end()

    def end(self):
        until = time.monotonic() + LIMIT
        while self.read(until):
            pass
        return self.process.wait(LIMIT)

    def check(self, holds, what):
        if not holds:
            raise AssertionError(what)

    def check_batches(self):
        """Sums were right, and no rank ever went back behind a commit."""
        last = {}
        for said in self.said:
            if said["what"] != "batch":
                continue
            self.check(said["right"], f"a sum was wrong: {said}")
            self.check(said["batch"] >= last.get(said["pid"], 0),
                       f"training went back: {said} after batch {last.get(said['pid'])}")
            last[said["pid"]] = said["batch"]


class Tools:
    def __init__(self, source, build):
        self.source = source
        self.hvdrun = os.path.join(build, "bin", "hvdrun")
        prepared = subprocess.run([os.path.join(source, "tests/interop/prepare"), "--check"],
                                  capture_output=True, text=True, check=False)
        if prepared.returncode != 0:
            print(prepared.stderr, "not run", sep="")
            sys.exit(77)
        self.horovod = prepared.stdout.strip()


class Bed:
    """Two machines, a and b: see tests/testbed/."""

    def __init__(self, tools, folder):
        self.commands = os.path.join(tools.source, "tests/testbed")
        self.name = f"interop-{os.getpid()}"
        self.call("up", "2", "--owner", str(os.getpid()), "--share", tools.horovod,
                  "--share", folder)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.call("down")

    def on(self, host):
        return (os.path.join(self.commands, "host"), "--bed", self.name, host)

    def call(self, command, *words):
        done = subprocess.run([os.path.join(self.commands, command), "--bed", self.name, *words],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(done.stderr, end="")
            sys.exit(77 if command == "up" and done.returncode == 77 else 1)


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


class Hosts:
    """A watched list of hosts, replaced as a whole."""

    def __init__(self, folder, text):
        self.path = os.path.join(folder, "hosts")
        self.put(text)

    def put(self, text):
        with open(self.path + ".new", "w", encoding="ascii") as file:
            file.write(text.replace(",", "\n") + "\n")
        os.replace(self.path + ".new", self.path)


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


def main():
    case, source, build = sys.argv[1:]
    tools = Tools(source, build)
    jobs = []
    made = Job.__init__

    def remember(self, *args, **kwargs):
        jobs.append(self)
        made(self, *args, **kwargs)

    Job.__init__ = remember
    with tempfile.TemporaryDirectory(prefix="hvdrun-interop-") as folder:
        try:
            CASES[case](tools, folder)
        except AssertionError as wrong:
            for job in jobs:
                print("\n".join(job.lines[-60:]))
            print(f"{case}: {wrong}")
            sys.exit(1)


main()
