"""A command on a host: runs it there and ends as it did.

The command is a child, since a pid namespace is entered by children only; this
process stays outside, so that it keeps nothing of the bed alive. What signal it
gets, the command gets, SIGKILL included.
"""
import os
import signal
import sys

import namespaces as ns

PASSED_ON = {signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1,
             signal.SIGUSR2}
SI_KERNEL = 128  # a terminal's doing: the command got it too


def run_on(host, init, words):
    """Never returns."""
    place = os.getcwd()
    signal.pthread_sigmask(signal.SIG_BLOCK, PASSED_ON | {signal.SIGCHLD})
    ns.setns(init, ns.NEWPID)
    child = os.fork()
    if child == 0:
        ns.die_with_parent(signal.SIGKILL)
        become(host, init, place, words or ["/bin/bash"])
    end_like(wait_for(child))


def become(host, init, place, words):
    # Python ignores these two; a command should not.
    for signo in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(signo, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, PASSED_ON | {signal.SIGCHLD})
    try:
        ns.setns(init, ns.HOST & ~ns.NEWPID)
        try:
            os.chdir(place)
        except OSError:
            os.chdir("/root")
        os.execvpe(words[0], words, environment(host))
    except OSError as failure:
        print(f"testbed: host {host}: {words[0]}: {failure.strerror}", file=sys.stderr, flush=True)
        os._exit(127 if isinstance(failure, FileNotFoundError) else 126)


def environment(host):
    """The caller's, but for what belongs to the caller's own machine."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SSH_")}
    return {**kept, "HOME": "/root", "HOSTNAME": host}


def wait_for(child):
    while True:
        news = signal.sigwaitinfo(PASSED_ON | {signal.SIGCHLD})
        if news.si_signo != signal.SIGCHLD:
            if news.si_code != SI_KERNEL:
                os.kill(child, news.si_signo)
            continue
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid == child:
            return status


def end_like(status):
    if os.WIFSIGNALED(status):
        signo = os.WTERMSIG(status)
        if signo not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(signo, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signo})
        os.kill(os.getpid(), signo)
    os._exit(os.waitstatus_to_exitcode(status))
