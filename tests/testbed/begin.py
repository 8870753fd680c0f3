"""The beginning of a bed, as its caller sees it."""
import os
import select
import signal

import control
from errors import BedError, NotHere
from warden import Warden

UP_LIMIT_SECONDS = 60


def begin(name, plan, owner):
    """False: it is up already, and is what was asked for."""
    listener = control.open_listener(name)
    if listener is None:
        told, _ = control.ask(name, {"do": "tell"})
        if told["plan"] != repr(plan):
            raise BedError(f"bed {name} is up and is another: tests/testbed/down first")
        return False
    told, tell = os.pipe()
    try:
        pid = Warden(plan, listener, open_owner(owner)).start(tell)
    except PermissionError as failure:
        raise NotHere(f"{failure.strerror}: a container without the right to it?") from None
    os.close(tell)
    if not select.select([told], [], [], UP_LIMIT_SECONDS)[0]:
        os.kill(pid, signal.SIGKILL)
        raise BedError(f"bed {name} was not up within {UP_LIMIT_SECONDS} s")
    answer = os.read(told, 4096).decode()
    if answer != "ready":
        raise BedError(answer or f"bed {name} ended while it started")
    return True


def open_owner(owner):
    if owner == 0:
        return None
    try:
        return os.pidfd_open(owner)
    except OSError:
        raise BedError(f"--owner: there is no process {owner}") from None
