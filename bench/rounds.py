#!/usr/bin/env python3
"""Times commands in turn, so that all of them meet the same machine.

usage: bench/rounds.py < JSON

Reads {"rounds": R, "limit_s": S, "ways": {name: [command, ...]}}; the commands
of one way run at the same time. Prints {name: [ms or null, ...]}, null where one
did not end in time. The first round warms the page cache and is not told.
hosts.py runs this on a host of a bed, so that the way there is not timed.
"""
import json
import subprocess
import sys
import time


def milliseconds(commands, limit_s):
    """How long they took together; None if one did not end."""
    begin = time.perf_counter()
    running = [subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE) for command in commands]
    try:
        for process in running:
            _, stderr = process.communicate(timeout=begin + limit_s - time.perf_counter())
            if process.returncode != 0:
                sys.exit(f"{' '.join(process.args)}: exit {process.returncode}: "
                         f"{stderr.decode()}")
    except subprocess.TimeoutExpired:
        return None
    finally:
        for process in running:
            process.kill()
            process.communicate()
    return (time.perf_counter() - begin) * 1000


def main():
    asked = json.load(sys.stdin)
    taken = {name: [] for name in asked["ways"]}
    for number in range(asked["rounds"] + 1):
        for name, commands in asked["ways"].items():
            took = milliseconds(commands, asked["limit_s"])
            if number > 0:
                taken[name].append(took)
    json.dump(taken, sys.stdout)


if __name__ == "__main__":
    main()
