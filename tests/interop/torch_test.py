#!/usr/bin/env python3
"""hvdrun with real PyTorch programs: torch_test.py CASE SOURCE_DIR BUILD_DIR.

Exits with 77, which is "not run", where there is no python3-torch.
"""
import os
import signal
import subprocess

from interop import ONE, TWO, Bed, Hosts, Job, Tools, not_run, run_case


def make_tools(source, build):
    torch = subprocess.run(["/usr/bin/python3", "-c", "import torch"], check=False,
                           capture_output=True, text=True)
    if torch.returncode != 0:
        not_run("/usr/bin/python3 has no torch (python3-torch)")
    return Tools(source, build)


def gradients(tools, folder, flags, there=()):
    with Job(tools, ["-np", "4", *flags], "ddp_gradients.py", folder, there=there) as job:
        job.check(job.end() == 0, "hvdrun's exit code is not 0")
        job.check(sorted(said["rank"] for said in job.said) == [0, 1, 2, 3],
                  f"not all four ranks spoke: {job.said}")
        job.check(all(said["same"] and said["size"] == 4 for said in job.said),
                  f"gradients differ: {job.said}")
        job.check(all(said["threads"] == 1 for said in job.said),
                  f"ranks of one host use more than a thread each: {job.said}")


def ddp_here(tools, folder):
    gradients(tools, folder, [])


def ddp_two_machines(tools, folder):
    with Bed(tools, folder) as bed:
        gradients(tools, folder, ["-H", "a:2,b:2"], bed.on("a"))


def exception_is_named(tools, folder):
    env = {"FAIL_RANK": "2"}
    with Job(tools, ["-np", "4"], "ddp_gradients.py", folder, env) as job:
        job.check(job.end() == 1, "hvdrun's exit code is not the worker's")
        report = [line for line in job.lines if line.startswith("hvdrun: ")]
        job.check(any("error: rank 2 " in line for line in report), "rank 2 is not named")
        job.check(any("ValueError: no such batch: 17" in line for line in report),
                  "the exception is not named")


def elastic(tools, folder, hosts, size):
    return Job(tools, ["-np", str(size), "--min-np", "1", "--elastic-mode", "restart",
                       "--watch-hosts", hosts.path],
               "ddp_restart.py", folder)


def restart_after_kill(tools, folder):
    hosts = Hosts(folder, f"{ONE}:3")
    with elastic(tools, folder, hosts, 3) as job:
        before = job.batch(3, rank=1, after=5)
        os.kill(before["pid"], signal.SIGKILL)
        after = job.batch(3, rank=0, after=before["batch"] + 1)
        job.check(after["restarts"] > 0, "TORCHELASTIC_RESTART_COUNT is 0 after a restart")
        job.check(job.finish() == 0, "hvdrun's exit code is not 0")
        job.check_batches()


def restart_on_more_hosts(tools, folder):
    hosts = Hosts(folder, f"{ONE}:2")
    with elastic(tools, folder, hosts, 2) as job:
        before = job.batch(2, after=5)
        hosts.put(f"{ONE}:2,{TWO}:1")
        after = job.batch(3, after=before["batch"])
        job.check(after["pid"] != before["pid"], "rank 0 was not started anew")
        job.check(job.finish() == 0, "hvdrun's exit code is not 0")
        job.check_batches()


run_case({
    "ddp_here": ddp_here,
    "ddp_two_machines": ddp_two_machines,
    "exception_is_named": exception_is_named,
    "restart_after_kill": restart_after_kill,
    "restart_on_more_hosts": restart_on_more_hosts,
}, make_tools)
