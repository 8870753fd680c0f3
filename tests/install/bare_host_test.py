"""Runs workers on a host that has nothing but what debootstrap puts there.

usage: bare_host_test.py BUILD_DIR

The host is a folder on this machine, and `chroot` stands in for ssh: only what
the agent needs of its host is looked at. Needs root, debootstrap and a mirror;
exits with 77, which is "not run", without.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from command import expect, run  # noqa: E402

DEBOOTSTRAP_LIMIT_S = 400

# Called as ssh is: a host, and words that a shell there joins.
SHELL = """#!/bin/sh
shift
exec unshare --mount sh -c \\
  'mount -t proc proc "$0/proc" && exec chroot "$0" /bin/sh -c "$*"' {tree} "$@"
"""


def mirror():
    """The one that apt has here."""
    policy = subprocess.run(["apt-get", "indextargets", "--format", "$(SITE) $(CODENAME)"],
                            capture_output=True, text=True, check=True).stdout
    return policy.split("\n", maxsplit=1)[0].split()


def make_tree(tree):
    site, codename = mirror()
    print(f"debootstrap {codename} from {site}", flush=True)
    run(["debootstrap", "--variant=minbase", codename, tree, site],
        limit_seconds=DEBOOTSTRAP_LIMIT_S)


def files_of(tree):
    return {path for top in ("tmp", "root", "var/tmp", "dev/shm")
            for path in (tree / top).rglob("*")}


def main():
    build = pathlib.Path(sys.argv[1])
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        print("not run: needs root and debootstrap")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="hvdrun-bare-") as scratch:
        tree = pathlib.Path(scratch) / "host"
        make_tree(tree)
        before = files_of(tree)
        shell = pathlib.Path(scratch) / "shell"
        shell.write_text(SHELL.format(tree=tree))
        shell.chmod(0o755)
        out = run([build / "bin/hvdrun", "-np", "2", "-H", "bare:2", "--remote-shell", shell,
                   "--install-agent", "--start-timeout", "60",
                   "sh", "-c", "echo $HOROVOD_RANK of $HOROVOD_SIZE"],
                  cwd="/", limit_seconds=100)
        ranks = sorted(re.findall(r"\d of \d", out))
        expect(ranks == ["0 of 2", "1 of 2"], f"printed {out!r}")
        expect(files_of(tree) == before, f"left {files_of(tree) - before}")


main()
