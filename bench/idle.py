"""Whether this machine has nothing else to do."""
import time

LOOK_S = 0.05
BUSY_AT_MOST = 0.10  # of all cores


def _ticks():
    """Busy and all clock ticks since boot, over all cores."""
    with open("/proc/stat", encoding="ascii") as stat:
        user, nice, system, idle, iowait, *rest = map(int, stat.readline().split()[1:9])
    busy = user + nice + system + sum(rest)
    return busy, busy + idle + iowait


def busy_share(seconds=LOOK_S):
    """The share of the cores' time that was used, over the next moment."""
    busy, all_ticks = _ticks()
    time.sleep(seconds)
    busy_after, all_after = _ticks()
    return (busy_after - busy) / max(1, all_after - all_ticks)


def wait_until_idle(limit_s):
    """True once little is going on; False after `limit_s` of something going on."""
    end = time.monotonic() + limit_s
    while busy_share() > BUSY_AT_MOST:
        if time.monotonic() > end:
            return False
    return True
