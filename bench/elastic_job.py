"""An elastic job of recovery_probe workers, and the moments that they tell.

All times are nanoseconds of the monotonic clock, which the processes of one
machine share.
"""
import calendar
import json
import os
import pathlib
import re
import selectors
import signal
import subprocess
import tempfile
import time

STEP_MS = 5  # between two allreduces of a training probe
LIMIT_S = 30  # for each thing that is waited for


class Job:
    """A running hvdrun; `with` ends it and leaves nothing."""

    def __init__(self, build, flags, probe, there=lambda words: words):
        """`there`: the words that run others where hvdrun is to run."""
        # In the build, which hosts of a bed see as well.
        self.directory = tempfile.TemporaryDirectory(dir=build)
        self.report_file = pathlib.Path(self.directory.name) / "report.json"
        command = [build / "bin/hvdrun", "--stop-grace-secs", "1", "--report",
                   self.report_file, *flags, build / "bench/recovery_probe", *probe]
        self.process = subprocess.Popen(
            there([str(word) for word in command]), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.text = b""
        self.up = []  # when each process started
        self.worlds = []  # what each worker told of each world, as a dict

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()
        self.directory.cleanup()

    def wait_for(self, what, is_there):
        """Reads what the workers tell until `is_there()`."""
        end = time.monotonic() + LIMIT_S
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while not is_there():
                if not selector.select(max(0, end - time.monotonic())):
                    self.process.kill()
                    self._give_up(f"{what}: not within {LIMIT_S} s")
                text = os.read(self.process.stdout.fileno(), 1 << 16)
                if not text:
                    self._give_up(f"{what}: hvdrun ended")
                self._take(text)

    def _give_up(self, why):
        _, stderr = self.process.communicate()
        raise SystemExit(f"{why}\n{stderr.decode()}")

    def _take(self, text):
        *lines, self.text = (self.text + text).split(b"\n")
        for line in lines:
            fields = {key.decode(): int(value) for key, value in
                      re.findall(rb"(\w+)=(-?\d+)", line)}
            if "up" in fields:
                self.up.append(fields["up"])
            elif "world" in fields:
                self.worlds.append(fields)

    def wait_for_size(self, size):
        """What all members of the first world of that size have told of it."""
        def members():
            all_told = [told for told in self.worlds if told["size"] == size]
            return [told for told in all_told if told["world"] == all_told[0]["world"]]
        self.wait_for(f"a world of {size}", lambda: len(members()) == size)
        return members()

    def wait_for_survivors(self, pids):
        """What each of these has told of the first world after the first."""
        def first():
            next_worlds = [told for told in reversed(self.worlds) if told["world"] > 1]
            return {told["pid"]: told for told in next_worlds if told["pid"] in pids}
        self.wait_for("all survivors in a new world", lambda: len(first()) == len(pids))
        return list(first().values())

    def end(self):
        """Ends the job; the resets of its report, with `seen` and `published`."""
        behind = time.time_ns() - time.monotonic_ns()
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=LIMIT_S)
        report = json.loads(self.report_file.read_text())
        date, micro = re.fullmatch(r"(.*)\.(\d{6})Z", report["started"]).groups()
        seconds = calendar.timegm(time.strptime(date, "%Y-%m-%dT%H:%M:%S"))
        started = seconds * 10**9 + int(micro) * 1000 - behind
        for reset in report["resets"]:
            for moment in ("seen", "published"):
                reset[moment] = started + int(reset[moment + "_ms"] * 1e6)
        return report["resets"]
