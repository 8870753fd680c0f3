"""A bed of hosts (tests/testbed/) for a measurement; `with` ends it."""
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TESTBED = ROOT / "tests/testbed"
LIMIT_S = 600  # for all rounds of one figure


class Bed:
    def __init__(self, hosts, *traps):
        self.name = f"bench-{os.getpid()}"
        self._call("up", str(hosts), "--owner", str(os.getpid()), *traps)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._call("down")

    def on(self, host, command):
        """The words that run `command` there."""
        return [str(word) for word in
                (TESTBED / "host", "--bed", self.name, host, *command)]

    def run(self, host, command, text=""):
        """What it prints."""
        done = subprocess.run(self.on(host, command), input=text.encode(), check=False,
                              capture_output=True, timeout=LIMIT_S)
        if done.returncode != 0:
            sys.exit(f"host {host}: {' '.join(map(str, command))}: {done.stderr.decode()}")
        return done.stdout.decode()

    def time(self, host, ways, rounds, limit_s):
        """name -> milliseconds, None where it did not end: see rounds.py"""
        asked = {"rounds": rounds, "limit_s": limit_s, "ways": ways}
        return json.loads(self.run(host, [ROOT / "bench/rounds.py"], json.dumps(asked)))

    def cut(self, host):
        self._call("cut", host)

    def mend(self, host):
        self._call("mend", host)

    def _call(self, command, *words):
        done = subprocess.run([TESTBED / command, "--bed", self.name, *words], check=False,
                              capture_output=True, timeout=LIMIT_S)
        if done.returncode != 0:
            sys.exit(done.stderr.decode().strip())
