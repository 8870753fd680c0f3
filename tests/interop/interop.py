"""hvdrun with real programs of others: a job of them, its hosts, and how a case is run.

Nothing here sleeps: what the workers print is what is waited for.
"""
import json
import os
import select
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
            env={**os.environ, "PYTHONPATH": tools.python_path,
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
    """What a case needs; `python_path` is where the workers find more packages."""

    def __init__(self, source, build, python_path=""):
        self.source = source
        self.hvdrun = os.path.join(build, "bin", "hvdrun")
        self.python_path = python_path


def not_run(why):
    print(why, "not run", sep="\n")
    sys.exit(77)


class Bed:
    """Two machines, a and b: see tests/testbed/."""

    def __init__(self, tools, folder):
        self.commands = os.path.join(tools.source, "tests/testbed")
        self.name = f"interop-{os.getpid()}"
        shared = [word for path in (tools.python_path, folder) if path
                  for word in ("--share", path)]
        self.call("up", "2", "--owner", str(os.getpid()), *shared)

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


class Hosts:
    """A watched list of hosts, replaced as a whole."""

    def __init__(self, folder, text):
        self.path = os.path.join(folder, "hosts")
        self.put(text)

    def put(self, text):
        with open(self.path + ".new", "w", encoding="ascii") as file:
            file.write(text.replace(",", "\n") + "\n")
        os.replace(self.path + ".new", self.path)


def run_case(cases, make_tools):
    """Of the command line: CASE SOURCE_DIR BUILD_DIR."""
    case, source, build = sys.argv[1:]
    tools = make_tools(source, build)
    jobs = []
    made = Job.__init__

    def remember(self, *args, **kwargs):
        jobs.append(self)
        made(self, *args, **kwargs)

    Job.__init__ = remember
    with tempfile.TemporaryDirectory(prefix="hvdrun-interop-") as folder:
        try:
            cases[case](tools, folder)
        except AssertionError as wrong:
            for job in jobs:
                print("\n".join(job.lines[-60:]))
            print(f"{case}: {wrong}")
            sys.exit(1)
