#!/usr/bin/python3
"""The commands of a test bed; which one it is, the name it is called by says.

up N          makes a bed of N hosts          cut, mend HOST      its cable
host HOST     a shell, or a command, there    off, on HOST        its power
down          the end of a bed                freeze, thaw HOST   all its processes
"""
import argparse
import os
import pathlib
import shutil
import signal
import sys
import time

import control
import enter
from errors import BedError, NotHere

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOT_HERE = 77  # to a test: not run, this machine cannot do it
NEEDED = {"ip": "iproute2", "tc": "iproute2", "sshd": "openssh-server",
          "ssh-keygen": "openssh-client"}


class Words(argparse.ArgumentParser):
    def error(self, message):
        raise BedError(f"{message} (--help has them all)")


def parser(command, about):
    words = Words(prog=f"tests/testbed/{command}", description=about, allow_abbrev=False)
    words.add_argument("--bed", metavar="NAME", default=os.environ.get("HVD_BED"),
                       help="which bed; default: $HVD_BED, else the one of the calling process")
    return words


def up(arguments):
    # Half of the start of the other commands, which need neither.
    from begin import begin
    from plan import read_plan

    words = parser("up", "Makes a bed of hosts on this machine. It ends with its owner.")
    words.add_argument("hosts", type=int, help="how many; they are called a, b, c, ...")
    words.add_argument("--owner", metavar="PID", type=int, default=os.getppid(),
                       help="the process with which the bed ends; default: the caller; 0: none")
    words.add_argument("--share", metavar="PATH", action="append", default=[],
                       help="a folder that all hosts see, besides this tree")
    words.add_argument("--home", metavar="HOSTS", default="a",
                       help="where the user's key lies: a,b,... or all (default a)")
    trap = words.add_argument_group("traps").add_argument
    trap("--nics", metavar="NAMES", default="eth0",
         help="of the hosts in turn: eth0,ens5 (default eth0)")
    trap("--ipv6", action="store_true", help="IPv6 only")
    trap("--docker0", action="store_true", help="a docker0 with 172.17.0.1/16 on every host")
    trap("--dead-network", action="store_true", help="a first NIC, ib0, that reaches nobody")
    trap("--loopback-name", action="store_true", help="a host knows itself as 127.0.1.1")
    trap("--unknown-hosts", action="store_true", help="known_hosts is empty")
    trap("--no-route", metavar="A:B", action="append", default=[], help="a has no route to b")
    trap("--slow", metavar="HOST=RATE", action="append", default=[],
         help="its NIC is that slow (as tc says it: b=1mbit), both ways")
    trap("--startups", metavar="HOST=N", action="append", default=[],
         help="its sshd lets so many connections log in at once")
    given = words.parse_args(arguments)
    start = time.monotonic()
    share = dict.fromkeys(shared_folder(path) for path in (ROOT, *given.share))
    plan = read_plan(given, share)
    name = control.check_name(given.bed or str(os.getppid()))
    check_machine()
    os.environ["HVD_BED"] = name  # so whoever looks at a process of the bed knows
    if begin(name, plan, given.owner):
        verdict = f"up in {time.monotonic() - start:.1f} s"
    else:
        verdict = "was up already"
    print(f"bed {name}: {' '.join(plan.hosts)} ({verdict})")


def shared_folder(path):
    folder = pathlib.Path(path).resolve()
    if not folder.is_dir():
        raise BedError(f"--share: {path} is no folder")
    if str(folder) in ("/root", "/tmp", "/run", "/dev/shm"):
        raise BedError(f"{folder} cannot be shared: it is what each host has for itself")
    return str(folder)


def check_machine():
    if os.geteuid() != 0:
        raise NotHere("a bed is made of namespaces, which takes root")
    os.environ["PATH"] = os.environ.get("PATH", "/usr/bin:/bin") + ":/usr/sbin:/sbin"
    missing = {package for program, package in NEEDED.items() if not shutil.which(program)}
    if missing:
        raise BedError(f"install {' '.join(sorted(missing))}: the hosts need it")


def host(arguments):
    words = parser("host", "Runs a command, or a shell, on a host and ends as it did.")
    words.add_argument("host")
    words.add_argument("command", nargs=argparse.REMAINDER)
    given = words.parse_args(arguments)
    _, init = control.ask(bed_of(given), {"do": "enter", "host": given.host})
    enter.run_on(given.host, init, given.command)


def turn(command, about):
    def run(arguments):
        words = parser(command, about)
        words.add_argument("host")
        given = words.parse_args(arguments)
        control.ask(bed_of(given), {"do": command, "host": given.host})
    return run


def down(arguments):
    words = parser("down", "Ends a bed: its processes, namespaces, interfaces and mounts.")
    words.add_argument("--all", action="store_true", help="every bed of this machine")
    given = words.parse_args(arguments)
    if given.all:
        ending = control.names()
    else:
        ending = {given.bed or control.nearest_bed()} & set(control.names())
    for name in ending:
        control.end(name)


def bed_of(given):
    name = given.bed or control.nearest_bed()
    if name is None:
        raise BedError(f"no bed was made from here (--bed NAME); {control.others()}")
    return control.check_name(name)


COMMANDS = {
    "up": up, "host": host, "down": down,
    "cut": turn("cut", "Cuts the cable of a host: no packet passes, nobody is told."),
    "mend": turn("mend", "Mends the cable of a host."),
    "off": turn("off", "Takes the power from a host: all on it is dead, nobody is told."),
    "on": turn("on", "Starts a host that is off, with the same keys and address."),
    "freeze": turn("freeze", "Stops all processes of a host; its kernel still answers."),
    "thaw": turn("thaw", "Lets the processes of a frozen host go on."),
}


def main():
    command = pathlib.Path(sys.argv[0]).name
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends it without a traceback
    try:
        if command not in COMMANDS:
            raise BedError(f"call it as one of {' '.join(COMMANDS)}")
        COMMANDS[command](sys.argv[1:])
    except NotHere as failure:
        print(f"testbed: not run: {failure}", file=sys.stderr)
        return NOT_HERE
    except (BedError, OSError) as failure:
        print(f"testbed: error: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
