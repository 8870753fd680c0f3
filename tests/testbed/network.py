"""The network of a bed: one switch (a bridge) and a cable (a veth pair) to each host.

The switch is in a namespace of its own. A cable is cut at the switch's end, so
that the host's NIC loses its carrier and keeps its addresses, as a real one does.
"""
import pathlib
import subprocess

from errors import BedError

LIMIT_SECONDS = 30


def port(host):
    return f"sw-{host}"


def dead_port(host):
    return f"dead-{host}"


def make_switch():
    # It forwards frames and has no business to speak itself.
    for scope in ("all", "default"):
        pathlib.Path(f"/proc/sys/net/ipv6/conf/{scope}/disable_ipv6").write_text("1")
    _ip("link add switch type bridge forward_delay 0 mcast_snooping 0", "link set switch up")


def plug_in(plan, pids):
    """A cable from the switch to each host, whose init has this pid."""
    lines, queues = [], []
    for host, pid in pids.items():
        if plan.dead_network:  # first: what takes the first NIC it finds takes this one
            lines += [f"link add {dead_port(host)} type veth peer name ib0 netns {pid}",
                      f"link set {dead_port(host)} up"]
        lines += [f"link add {port(host)} type veth peer name {plan.nic(host)}"
                  f" address {plan.mac(host)} netns {pid}",
                  f"link set {port(host)} master switch up"]
        queues += _queue(plan, host, port(host))
    _ip(*lines)
    _tc(*queues)


def pull_out(host):
    """The cable is gone now, and not only when the kernel has cleaned up behind a host."""
    for device in (port(host), dead_port(host)):
        try:
            _ip(f"link del {device}")
        except BedError:
            pass  # the kernel was faster, or there was none; if it stays, plug_in says so


def cut(host):
    _ip(f"link set {port(host)} down")


def mend(host):
    _ip(f"link set {port(host)} up")


def configure_host(plan, host):
    """Run inside the host, once it is plugged in."""
    nic = plan.nic(host)
    lines = ["link set lo up"]
    if plan.dead_network:
        lines += [f"addr add {plan.dead_address(host)}/16 dev ib0", "link set ib0 up"]
    if plan.docker0:
        lines += ["link add docker0 type bridge", "addr add 172.17.0.1/16 dev docker0",
                  # A container that runs: docker0 is up and has a carrier.
                  "link add veth0c type veth peer name eth0c", "link set eth0c up",
                  "link set veth0c master docker0 up", "link set docker0 up"]
    # nodad: an address of IPv6 works at once and not after a second.
    lines += [f"addr add {plan.address(host)}/{plan.prefix()} dev {nic}"
              + (" nodad" if plan.ipv6 else ""), f"link set {nic} up"]
    lines += [f"route add unreachable {plan.address(to)}" for from_host, to in plan.no_route
              if from_host == host]
    _ip(*lines)
    _tc(*_queue(plan, host, nic))


def _queue(plan, host, device):
    return [f"qdisc add dev {device} root tbf rate {rate} burst 16kb latency 500ms"
            for slow_host, rate in plan.slow if slow_host == host]


def _ip(*lines):
    _batch("ip", lines)


def _tc(*lines):
    _batch("tc", lines)


def _batch(program, lines):
    if not lines:
        return
    try:
        done = subprocess.run([program, "-batch", "-"], input="\n".join(lines) + "\n", text=True,
                              capture_output=True, timeout=LIMIT_SECONDS)
    except subprocess.TimeoutExpired:
        raise BedError(f"{program} did not end within {LIMIT_SECONDS} s") from None
    if done.returncode != 0:
        raise BedError(f"{program}: {' '.join(done.stderr.split())}")
