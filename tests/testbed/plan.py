"""What a bed is to be: its hosts and its traps. Pure: no process, no file."""
import dataclasses
import string

from errors import BedError

MOST_HOSTS = 26 + 26 * 26


@dataclasses.dataclass(frozen=True)
class Plan:
    hosts: tuple  # names, a b c ... z aa ab ...
    home: tuple  # where the bed's user key lies, so where hvdrun can run
    nics: tuple = ("eth0",)  # the hosts name theirs after these in turn
    ipv6: bool = False
    docker0: bool = False
    dead_network: bool = False
    loopback_name: bool = False
    unknown_hosts: bool = False
    no_route: tuple = ()  # of (host, to host)
    slow: tuple = ()  # of (host, rate)
    startups: tuple = ()  # of (host, number)
    share: tuple = ()  # seen at the same path by all

    def nic(self, host):
        return self.nics[self.hosts.index(host) % len(self.nics)]

    def address(self, host):
        number = self.hosts.index(host)
        if self.ipv6:
            return f"fd77::{number + 1:x}"
        return f"10.77.{number // 250}.{number % 250 + 1}"

    def mac(self, host):
        """The same after a new start: others remember it for a while."""
        number = self.hosts.index(host) + 1
        return f"02:77:00:00:{number >> 8:02x}:{number & 255:02x}"

    def prefix(self):
        return 64 if self.ipv6 else 16

    def dead_address(self, host):
        return f"10.99.{self.hosts.index(host) // 250}.{self.hosts.index(host) % 250 + 1}"

    def hosts_file(self, reader):
        """/etc/hosts as `reader` has it."""
        lines = ["127.0.0.1 localhost", "::1 localhost ip6-localhost ip6-loopback"]
        for host in self.hosts:
            loopback = self.loopback_name and host == reader
            lines.append(f"{'127.0.1.1' if loopback else self.address(host)} {host}")
        return "\n".join(lines) + "\n"


def host_names(count):
    letters = string.ascii_lowercase
    return tuple((*letters, *(a + b for a in letters for b in letters))[:count])


def read_plan(words, share):
    """The plan that the words of `up` ask for; BedError names the word that is wrong."""
    if not 1 <= words.hosts <= MOST_HOSTS:
        raise BedError(f"hosts: 1 to {MOST_HOSTS}, got {words.hosts}")
    hosts = host_names(words.hosts)
    home = hosts if words.home == "all" else tuple(words.home.split(","))
    for host in home:
        _known(hosts, host, "--home")
    nics = tuple(words.nics.split(","))
    for nic in nics:
        if not 1 <= len(nic) <= 15 or not nic.isalnum() or nic in ("lo", "docker0", "ib0"):
            raise BedError(f"--nics: \"{nic}\" cannot be the name of a NIC")
    return Plan(hosts, home, nics, words.ipv6, words.docker0, words.dead_network,
                words.loopback_name, words.unknown_hosts,
                tuple(_pair(hosts, text, ":", "--no-route") for text in words.no_route),
                tuple(_pair(hosts, text, "=", "--slow") for text in words.slow),
                tuple(_pair(hosts, text, "=", "--startups") for text in words.startups),
                tuple(share))


def _known(hosts, host, flag):
    if host not in hosts:
        raise BedError(f"{flag}: no host is called \"{host}\"; there are {' '.join(hosts)}")


def _pair(hosts, text, mark, flag):
    host, found, value = text.partition(mark)
    if not found or not value:
        raise BedError(f"{flag}: \"{text}\" is not HOST{mark}VALUE")
    _known(hosts, host, flag)
    if flag == "--no-route":
        _known(hosts, value, flag)
        if value == host:
            raise BedError(f"{flag}: {host} always reaches itself")
    if flag == "--startups" and not (value.isdigit() and int(value) > 0):
        raise BedError(f"{flag}: \"{text}\" must give a number of 1 or more")
    return host, value
