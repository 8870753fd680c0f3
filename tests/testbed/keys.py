"""The keys of a bed: one for the user, one for each host, made for this bed alone."""
import collections
import pathlib
import subprocess

LIMIT_SECONDS = 60

Key = collections.namedtuple("Key", "private public")
Keys = collections.namedtuple("Keys", "user hosts")


def make_keys(hosts, folder):
    """`folder` is in memory, and nobody else's."""
    names = ("user", *(f"host-{host}" for host in hosts))
    running = {name: subprocess.Popen(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "testbed", "-f", f"{folder}/{name}"],
        stdin=subprocess.DEVNULL) for name in names}
    made = {}
    for name, process in running.items():
        if process.wait(LIMIT_SECONDS) != 0:
            raise OSError(f"ssh-keygen ended with {process.returncode}")
        path = pathlib.Path(folder, name)
        made[name] = Key(path.read_text(), path.with_suffix(".pub").read_text())
    return Keys(made["user"], {host: made[f"host-{host}"] for host in hosts})
