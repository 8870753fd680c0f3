"""Installs the build and uses it as somebody outside would.

usage: install_test.py CASE BUILD_DIR SANITIZE

CASE is one of the functions below. SANITIZE: what the build was made with, since
a program must be linked with the same sanitizer as the library it loads.
"""
import os
import pathlib
import shlex
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from command import expect, run  # noqa: E402


def install(build, scratch):
    """The tree is moved after it was made: it may not know where it was."""
    run(["cmake", "--install", build, "--prefix", scratch / "made-here"])
    return (scratch / "made-here").rename(scratch / "moved here")


def sanitizer_flags(sanitize):
    return [f"-fsanitize={sanitize}"] if sanitize else []


def build_with_cmake(prefix, scratch, sanitize):
    flags = " ".join(sanitizer_flags(sanitize))
    run(["cmake", "-S", HERE / "with_cmake", "-B", scratch / "outside", "-G", "Ninja",
         f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_FLAGS={flags}"])
    run(["cmake", "--build", scratch / "outside"])
    return scratch / "outside/outside"


def cmake_project(build, scratch, sanitize):
    program = build_with_cmake(install(build, scratch), scratch, sanitize)
    out = run([program])
    expect(out == "outside size=1 sum=1\n", f"printed {out!r}")


def pkg_config_program(build, scratch, sanitize):
    prefix = install(build, scratch)
    env = dict(os.environ, PKG_CONFIG_PATH=str(prefix / "lib/pkgconfig"))
    flags = shlex.split(run(["pkg-config", "--cflags", "--libs", "hvd"], env=env))
    run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", HERE / "with_pkg_config/main.c",
         *flags, *sanitizer_flags(sanitize), "-o", scratch / "outside"])
    out = run([scratch / "outside"], env=dict(os.environ, LD_LIBRARY_PATH=str(prefix / "lib")))
    expect(out == "outside size=1 sum=1\n", f"printed {out!r}")


def moved_hvdrun(build, scratch, sanitize):
    prefix = install(build, scratch)
    program = build_with_cmake(prefix, scratch, sanitize)
    out = run([prefix / "bin/hvdrun", "-np", "2", program], limit_seconds=40)
    lines = sorted(out.splitlines())
    expect(lines == [f"[{rank}]<stdout>:outside size=2 sum=3" for rank in (0, 1)],
           f"printed {out!r}")


def tree(build, scratch, sanitize):
    """What a packager finds; nothing of ours beside it."""
    prefix = install(build, scratch)
    found = {str(p.relative_to(prefix)) for p in prefix.rglob("*") if not p.is_dir()}
    wanted = {"bin/hvdrun", "bin/hvd-perf", "libexec/hvdrun/hvdrun-keeper",
              "libexec/hvdrun/hvdrun-agent",
              "libexec/hvdrun/libhvdrun_remote.so",
              "libexec/hvdrun/ssh_config", "lib/libhvd.so",
              "include/hvd/hvd.h", "include/hvd/hvd_c.h", "include/hvd/data_type.h",
              "include/hvd/call.h", "include/hvd/tensor.h",
              "include/hvd/elastic.h", "include/hvd/elastic_sampler.h",
              "lib/cmake/hvd/hvdConfig.cmake", "lib/pkgconfig/hvd.pc",
              "share/doc/hvdrun/README.md", "share/doc/hvdrun/examples/hello.c"}
    expect(wanted <= found, f"missing: {sorted(wanted - found)}")
    stray = [f for f in found if not f.startswith(("share/doc/", "include/hvd/", "lib/cmake/hvd/"))
             and f not in wanted and not f.startswith("lib/libhvd.so.")]
    expect(not stray, f"should not be installed: {stray}")
    for name in ("lib/pkgconfig/hvd.pc", "lib/cmake/hvd/hvdTargets.cmake"):
        expect(str(build) not in (prefix / name).read_text(), f"{name} names the build tree")


def main():
    case, build, sanitize = sys.argv[1:]
    cases = {f.__name__: f for f in (cmake_project, pkg_config_program, moved_hvdrun, tree)}
    with tempfile.TemporaryDirectory() as scratch:
        cases[case](pathlib.Path(build), pathlib.Path(scratch), sanitize)


if __name__ == "__main__":
    main()
