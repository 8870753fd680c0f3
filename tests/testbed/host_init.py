"""The first process of a host: sets it up, starts its sshd, then reaps.

When it is killed, the kernel ends everything else on the host with it.
"""
import os
import pathlib
import signal
import socket
import subprocess
import time

import host_files
import network

SSHD_LIMIT_SECONDS = 30
SSHD = "/usr/sbin/sshd"


def main(plan, host, keys, channel):
    """`channel`: the warden says that the cables are plugged in, and hears "ready" or
    what went wrong."""
    try:
        # So that ps tells the hosts of a bed apart.
        pathlib.Path("/proc/self/comm").write_text(f"testbed-{host}")
        socket.sethostname(host)
        os.chdir("/")
        host_files.make_private(plan, host, keys)
        if channel.recv(16) != b"plugged in":
            return
        network.configure_host(plan, host)
        start_sshd()
        channel.send(b"ready")
    except Exception as failure:  # whatever it is, the warden hears of it
        channel.send(f"host {host}: {failure}"[:4000].encode())
        return
    channel.close()
    reap_for_ever()


def start_sshd():
    os.mkdir("/run/sshd", 0o755)
    # By its absolute path, which it wants in order to run itself again.
    sshd = subprocess.Popen([SSHD, "-D", "-E", "/run/sshd.log"], stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + SSHD_LIMIT_SECONDS
    # It writes its pid once it listens.
    while not os.path.exists("/run/sshd.pid"):
        if sshd.poll() is not None or time.monotonic() > deadline:
            raise OSError("sshd does not listen: " + pathlib.Path("/run/sshd.log").read_text())
        time.sleep(0.002)


def reap_for_ever():
    null = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.close(null)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    while True:
        try:
            while os.waitpid(-1, os.WNOHANG)[0] != 0:
                pass
        except ChildProcessError:
            pass
        signal.sigwait({signal.SIGCHLD})
