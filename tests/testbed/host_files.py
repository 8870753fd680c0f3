"""What a host has for itself in the file system: the rest is the machine's, shared.

Run inside the new mount namespace of the host; all of it is in memory and ends
with that namespace.
"""
import os
import pathlib
import re
import shutil
import uuid

import namespaces as ns

PRIVATE = (("/root", "0700"), ("/tmp", "1777"), ("/run", "0755"), ("/dev/shm", "1777"))


def make_private(plan, host, keys):
    # The shared folders are held open, since /tmp or /root may be above them.
    held = {path: os.open(path, os.O_PATH | os.O_CLOEXEC) for path in plan.share}
    ns.mount("proc", "/proc", "proc")
    ns.mount("sysfs", "/sys", "sysfs")
    for path, mode in PRIVATE:
        ns.mount("tmpfs", path, "tmpfs", options=f"mode={mode}")
    for path, fd in held.items():
        os.makedirs(path, exist_ok=True)
        ns.mount(f"/proc/self/fd/{fd}", path, "", ns.MS_BIND | ns.MS_REC)
        os.close(fd)
    _overlay_etc()
    _write_etc(plan, host, keys)
    _write_home(plan, host, keys)
    _identify()


def _overlay_etc():
    upper, work = "/run/etc/upper", "/run/etc/work"
    os.makedirs(upper)
    os.makedirs(work)
    os.chmod("/run/etc", 0o700)
    ns.mount("etc", "/etc", "overlay", options=f"lowerdir=/etc,upperdir={upper},workdir={work}")


def _write_etc(plan, host, keys):
    _write("/etc/hostname", host + "\n")
    _write("/etc/hosts", plan.hosts_file(host))
    _write("/etc/resolv.conf", "# A bed has no DNS.\n")
    # sshd lets nobody in whose password is locked with "!".
    shadow = pathlib.Path("/etc/shadow").read_text()
    _write("/etc/shadow", re.sub(r"^root:[^:]*", "root:*", shadow, flags=re.M), 0o600)
    shutil.rmtree("/etc/ssh")
    os.makedirs("/etc/ssh")
    _write("/etc/ssh/ssh_host_ed25519_key", keys.hosts[host].private, 0o600)
    _write("/etc/ssh/ssh_host_ed25519_key.pub", keys.hosts[host].public)
    _write("/etc/ssh/sshd_config", _sshd_config(plan, host))


def _sshd_config(plan, host):
    lines = ["HostKey /etc/ssh/ssh_host_ed25519_key", "PermitRootLogin prohibit-password",
             "PasswordAuthentication no", "KbdInteractiveAuthentication no", "UsePAM no",
             "PidFile /run/sshd.pid", "AcceptEnv LANG LC_*", "Subsystem sftp internal-sftp"]
    lines += [f"MaxStartups {number}" for few, number in plan.startups if few == host]
    return "\n".join(lines) + "\n"


def _write_home(plan, host, keys):
    os.mkdir("/root/.ssh", 0o700)
    _write("/root/.ssh/authorized_keys", keys.user.public, 0o600)
    if host in plan.home:
        _write("/root/.ssh/id_ed25519", keys.user.private, 0o600)
        if not plan.unknown_hosts:
            _write("/root/.ssh/known_hosts", "".join(
                f"{name},{plan.address(name)} {keys.hosts[name].public}" for name in plan.hosts))


def _identify():
    """Another machine says so: its id, and the id of its last boot."""
    _write("/etc/machine-id", uuid.uuid4().hex + "\n")
    _write("/run/boot_id", f"{uuid.uuid4()}\n")
    ns.mount("/run/boot_id", "/proc/sys/kernel/random/boot_id", "", ns.MS_BIND)


def _write(path, text, mode=0o644):
    file = pathlib.Path(path)
    file.unlink(missing_ok=True)  # a symbolic link would be followed
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    with os.fdopen(fd, "w") as out:
        out.write(text)
