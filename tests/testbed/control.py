"""How commands reach a bed: a socket with an abstract name, which is gone with the bed.

A request and its answer are one JSON message each; an answer may carry a pidfd.
"""
import array
import json
import os
import re
import select
import signal
import socket
import struct
import time

from errors import BedError

PREFIX = "hvd-testbed/"
MOST_BYTES = 65536
LIMIT_SECONDS = 60  # the longest that a bed needs for an answer
END_LIMIT_SECONDS = 20


def check_name(name):
    if not re.fullmatch(r"[\w.-]{1,64}", name):
        raise BedError(f"--bed: \"{name}\" is not a name of letters, digits, \".\", \"_\", \"-\"")
    return name


def open_listener(name):
    """None: a bed of this name is up."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        listener.bind("\0" + PREFIX + name)
    except OSError:
        listener.close()
        return None
    return listener


def names():
    """Of the beds that are up."""
    with open("/proc/net/unix", encoding="utf-8", errors="replace") as table:
        words = [line.split()[-1] for line in table]
    return sorted({word[1 + len(PREFIX):] for word in words if word.startswith("@" + PREFIX)})


def ask(name, request):
    """-> the answer, and the descriptor that came with it or None."""
    with _connect(name) as door:
        door.send(json.dumps(request).encode())
        data, extra, _, _ = door.recvmsg(MOST_BYTES, socket.CMSG_SPACE(4),
                                       socket.MSG_CMSG_CLOEXEC)
    if not data:
        raise BedError(f"bed {name} has ended")
    answer = json.loads(data)
    if "error" in answer:
        raise BedError(answer["error"])
    fds = array.array("i")
    for _, _, content in extra:
        fds.frombytes(content[:4])
    return answer, fds[0] if fds else None


def end(name):
    """Kills the bed's first process, and all others are dead when it has ended."""
    with _connect(name) as door:
        pid, _, _ = _peer(door)
        warden = os.pidfd_open(pid)
    try:
        signal.pidfd_send_signal(warden, signal.SIGKILL)
        if not select.select([warden], [], [], END_LIMIT_SECONDS)[0]:
            raise BedError(f"bed {name} is killed and has not ended within {END_LIMIT_SECONDS} s")
    except ProcessLookupError:
        pass  # it has ended by itself
    finally:
        os.close(warden)


def take_request(door):
    """What was asked, or None: nothing, or by somebody with no right to ask."""
    door.settimeout(2)
    _, uid, _ = _peer(door)
    if uid != os.geteuid():
        return None
    data = door.recv(MOST_BYTES)
    return json.loads(data) if data else None


def give_answer(door, answer, fd=None):
    rights = [] if fd is None else [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))]
    door.sendmsg([json.dumps(answer).encode()], rights)


def _connect(name):
    door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    door.settimeout(LIMIT_SECONDS)
    deadline = time.monotonic() + LIMIT_SECONDS
    while True:
        try:
            door.connect("\0" + PREFIX + name)
            return door
        except OSError:
            # A bed that is being made has its name already, and answers soon.
            if name not in names() or time.monotonic() > deadline:
                door.close()
                raise BedError(f"no bed \"{name}\" is up; {others()}") from None
        time.sleep(0.01)


def others():
    """Words for a message that says that a bed is not up."""
    return f"up are: {' '.join(names())}" if names() else "none is: tests/testbed/up makes one"


def _peer(door):
    return struct.unpack("3i", door.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))


def nearest_bed():
    """The bed that was named after this process's parent, or after one further up;
    None: there is none."""
    up, pid = set(names()), os.getppid()
    while pid > 0:
        if str(pid) in up:
            return str(pid)
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
            pid = int(stat.read().rpartition(")")[2].split()[1])
    return None
