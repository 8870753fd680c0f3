"""The warden: the first process of a bed, which is all there is of it.

Everything of a bed lives in the warden's pid namespace, so whatever ends the
warden (`down`, the end of its owner, a SIGKILL) ends the bed: the kernel kills
every process in it, and namespaces, interfaces and mounts go with the last one
that used them. That is why a bed writes no file and has no clean-up to forget.
"""
import os
import pathlib
import selectors
import signal
import socket
import tempfile

import control
import host_init
import keys
import namespaces as ns
import network
from errors import BedError

FLAGS = ns.NEWPID | ns.NEWNS | ns.NEWNET
READY_LIMIT_SECONDS = 60
DEATH_LIMIT_SECONDS = 10


class Host:
    """A machine that is up, frozen or off; its cable may be cut in each state."""

    def __init__(self):
        self.pid = 0
        self.pidfd = -1
        self.state = "off"
        self.cut = False


class Warden:
    def __init__(self, plan, listener, owner):
        """`owner`: a pidfd, or None."""
        self.plan = plan
        self.listener = listener
        self.owner = owner
        self.keys = None
        self.hosts = {name: Host() for name in plan.hosts}
        self.events = None

    def start(self, ready):
        """Its pid."""
        kept = [fd for fd in (self.listener.fileno(), self.owner, ready) if fd is not None]
        return ns.spawn_init(FLAGS, lambda: self.main(ready), kept)

    def main(self, ready):
        """`ready`: a pipe that hears "ready" or what went wrong."""
        try:
            pathlib.Path("/proc/self/comm").write_text("testbed-warden")
            os.setsid()
            os.chdir("/")
            ns.mount("none", "/", "", ns.MS_REC | ns.MS_PRIVATE)
            ns.mount("proc", "/proc", "proc")
            ns.mount("tmpfs", "/run", "tmpfs", options="mode=0700")
            self.events = selectors.DefaultSelector()
            network.make_switch()
            with tempfile.TemporaryDirectory(dir="/run") as folder:
                self.keys = keys.make_keys(self.plan.hosts, folder)
            self.power_on(self.plan.hosts)
            self.listener.listen(64)
            os.write(ready, b"ready")
        except Exception as failure:  # whatever it is, who waits for the bed hears of it
            os.write(ready, str(failure).encode())
            return
        os.close(ready)
        self.serve()

    def serve(self):
        null = os.open("/dev/null", os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        os.close(null)
        self.events.register(self.listener, selectors.EVENT_READ, self.on_door)
        if self.owner is not None:
            # No owner, no bed.
            self.events.register(self.owner, selectors.EVENT_READ, lambda: os._exit(0))
        while True:
            for key, _ in self.events.select():
                key.data()

    def on_door(self):
        door, _ = self.listener.accept()
        with door:
            try:
                request = control.take_request(door)
                if request is not None:
                    control.give_answer(door, *self.answer(request))
            except BedError as refusal:
                control.give_answer(door, {"error": str(refusal)})
            except OSError:
                pass  # who asked is gone, or does not speak

    def answer(self, request):
        what = request["do"]
        if what == "tell":
            return {"plan": repr(self.plan), "hosts": self.plan.hosts}, None
        if request["host"] not in self.hosts:
            raise BedError(f"no host is called \"{request['host']}\"; there are "
                           + " ".join(self.hosts))
        return self.COMMANDS[what](self, request["host"])

    def enter(self, name):
        return {}, self.expect(name, "up").pidfd

    def cut(self, name):
        self.hosts[name].cut = True
        if self.hosts[name].state != "off":
            network.cut(name)
        return {}, None

    def mend(self, name):
        self.hosts[name].cut = False
        if self.hosts[name].state != "off":
            network.mend(name)
        return {}, None

    def off(self, name):
        host = self.hosts[name]
        if host.state != "off":
            # A machine without power says no good-bye; the kernel would, in the
            # name of the killed processes.
            network.cut(name)
            os.kill(host.pid, signal.SIGKILL)
            self.wait_for_death(name)
        return {}, None

    def on(self, name):
        if self.hosts[name].state == "off":
            self.power_on([name])
        return {}, None

    def freeze(self, name):
        host = self.hosts[name]
        if host.state != "frozen":
            self.expect(name, "up")
            signal_all(host.pidfd, signal.SIGSTOP)
            os.kill(host.pid, signal.SIGSTOP)
            host.state = "frozen"
        return {}, None

    def thaw(self, name):
        host = self.hosts[name]
        if host.state != "up":
            self.expect(name, "frozen")
            os.kill(host.pid, signal.SIGCONT)
            signal_all(host.pidfd, signal.SIGCONT)
            host.state = "up"
        return {}, None

    COMMANDS = {"enter": enter, "cut": cut, "mend": mend, "off": off, "on": on,
                "freeze": freeze, "thaw": thaw}

    def expect(self, name, state):
        host = self.hosts[name]
        if host.state != state:
            cure = {"off": "on", "frozen": "thaw"}.get(host.state)
            raise BedError(f"host {name} is {host.state}"
                           + (f": tests/testbed/{cure} {name} first" if cure else ""))
        return host

    def power_on(self, names):
        """All at once: each does its part while the others do theirs."""
        channels = {}
        for name in names:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            host = self.hosts[name]
            host.pid = ns.spawn_init(
                ns.HOST, lambda: host_init.main(self.plan, name, self.keys, theirs),
                {theirs.fileno()})
            theirs.close()
            host.pidfd = os.pidfd_open(host.pid)
            self.events.register(host.pidfd, selectors.EVENT_READ,
                                 lambda name=name: self.on_death(name))
            host.state = "up"
            channels[name] = ours
        network.plug_in(self.plan, {name: self.hosts[name].pid for name in names})
        for name, channel in channels.items():
            if self.hosts[name].cut:
                network.cut(name)
            channel.send(b"plugged in")
        for name, channel in channels.items():
            with channel:
                channel.settimeout(READY_LIMIT_SECONDS)
                answer = channel.recv(4096)
                if answer != b"ready":
                    raise BedError(answer.decode() or f"host {name} ended while it started")

    def wait_for_death(self, name):
        with selectors.DefaultSelector() as death:
            death.register(self.hosts[name].pidfd, selectors.EVENT_READ)
            if not death.select(DEATH_LIMIT_SECONDS):
                raise BedError(f"host {name} is killed and has not ended within "
                               f"{DEATH_LIMIT_SECONDS} s")
        self.on_death(name)

    def on_death(self, name):
        host = self.hosts[name]
        if host.state == "off":
            return  # off() was faster than the news
        os.waitid(os.P_PIDFD, host.pidfd, os.WEXITED)
        self.events.unregister(host.pidfd)
        os.close(host.pidfd)
        host.state = "off"
        network.pull_out(name)


def signal_all(init, signo):
    """To every process in the pid namespace of `init` but itself, in one step: no fork
    slips through."""
    def send():
        try:
            os.kill(-1, signo)
        except ProcessLookupError:
            pass  # it is alone there

    def enter_and_send():
        ns.setns(init, ns.NEWPID)
        sender = os.fork()
        if sender == 0:
            ns.run_and_exit(send)
        os.waitpid(sender, 0)

    helper = os.fork()
    if helper == 0:
        ns.run_and_exit(enter_and_send)
    _, status = os.waitpid(helper, 0)
    if status != 0:
        raise BedError(f"signal {signo} could not be sent")
