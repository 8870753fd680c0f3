"""What libhvd.so needs, exports and is called: library_test.py LIBRARY."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from command import expect, run  # noqa: E402

ALLOWED = re.compile(
    r"(libc|libm|libpthread|libstdc\+\+|libgcc_s|ld-linux[-\w]*)\.so(\.\d+)*$")
EXPORTED = re.compile(
    r"(hvd_\w+|HVD_0|hvd::.+|(typeinfo|typeinfo name|vtable) for"
    r" hvd::(CommError|HostsUpdated))$")


def main():
    library = sys.argv[1]
    dynamic = run(["readelf", "-d", library])
    for needed in re.findall(r"NEEDED.*\[(.*)\]", dynamic):
        expect(ALLOWED.match(needed), f"{library} needs {needed}")
    soname = re.findall(r"SONAME.*\[(.*)\]", dynamic)
    expect(soname == ["libhvd.so.0"], f"soname is {soname}")
    names = []
    for line in run(["nm", "-DC", "--defined-only", library]).splitlines():
        name = line.split(" ", 2)[2].split("@@")[0]
        expect(EXPORTED.match(name), f"{library} exports {name}")
        expect(name == "HVD_0" or "@@HVD_0" in line, f"{name} has no version")
        names.append(name)
    for wanted in ("hvd_init", "hvd_last_error", "hvd::Init()",
                   "typeinfo for hvd::CommError", "typeinfo for hvd::HostsUpdated"):
        expect(wanted in names, f"{library} does not export {wanted}")


main()
