"""Linux namespaces and mounts, as far as a bed needs them.

Python gets unshare and setns in 3.12; Debian 12 has 3.11.
"""
import ctypes
import os

NEWNS = 0x00020000
NEWUTS = 0x04000000
NEWIPC = 0x08000000
NEWPID = 0x20000000
NEWNET = 0x40000000
HOST = NEWNS | NEWUTS | NEWIPC | NEWPID | NEWNET

MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 0x40000

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


def _call(name, *args):
    if getattr(_libc, name)(*args) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")


def unshare(flags):
    _call("unshare", flags)


def setns(pidfd, flags):
    """Into the namespaces of a process; the pid namespace counts for children only."""
    _call("setns", pidfd, flags)


def mount(source, target, kind, flags=0, options=""):
    _call("mount", source.encode(), target.encode(), kind.encode(), flags, options.encode())


def die_with_parent(signo):
    _call("prctl", _PR_SET_PDEATHSIG, signo, 0, 0, 0)


def spawn_init(flags, main, keep):
    """Runs main() as the first process of new namespaces; returns its pid. It has
    0, 1, 2 and the descriptors `keep`, and no other.

    The process between, which has to be there because unshare makes a new pid
    namespace for children only, ends at once: the caller, if it is an init
    itself, becomes the parent.
    """
    told, tell = os.pipe()
    helper = os.fork()
    if helper == 0:
        try:
            unshare(flags)
            init = os.fork()
            if init == 0:
                _close_all_but(keep)
                run_and_exit(main)
            os.write(tell, str(init).encode())
        except OSError as failure:
            os.write(tell, f"-{failure.errno}".encode())
        os._exit(0)
    os.close(tell)
    with os.fdopen(told) as answer:
        pid = int(answer.read() or "0")
    os.waitpid(helper, 0)
    if pid <= 0:
        raise OSError(-pid, f"new namespaces: {os.strerror(-pid)}")
    return pid


def _close_all_but(keep):
    begin = 3
    for fd in sorted(keep):
        os.closerange(begin, fd)
        begin = fd + 1
    os.closerange(begin, os.sysconf("SC_OPEN_MAX"))


def run_and_exit(main):
    """The end of a forked child: nothing of its parent's stack goes on."""
    code = 1
    try:
        main()
        code = 0
    finally:
        os._exit(code)
