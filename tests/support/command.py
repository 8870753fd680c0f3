"""Runs a command of a test: with a deadline, and with all it said on a failure."""
import subprocess
import sys


def run(argv, *, limit_seconds=120, env=None, cwd=None):
    """Its standard output. Ends the test when it fails or takes too long."""
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=limit_seconds, env=env, cwd=cwd)
    except subprocess.TimeoutExpired as late:
        sys.exit(f"{argv} did not end within {limit_seconds} s\n{late.stdout}\n{late.stderr}")
    if done.returncode != 0:
        sys.exit(f"{argv} ended with {done.returncode}\n"
                 f"--- stdout\n{done.stdout}\n--- stderr\n{done.stderr}")
    return done.stdout


def expect(condition, complaint):
    if not condition:
        sys.exit(complaint)
