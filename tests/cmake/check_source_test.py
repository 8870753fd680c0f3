"""Proves that each rule of cmake/check_source.py and check_layers.py finds what
it is there to find.

usage: check_source_test.py CMAKE_FOLDER
"""
import pathlib
import subprocess
import sys
import tempfile

# file, its text, a word of the complaint that must come; None: none may come
CASES = [
    ("base/good.h", "// Good: a header.\n#pragma once\n", None),
    ("base/long.cc", "\n" * 401, "more than 400 lines"),
    ("base/util.h", "// Util: what?\n#pragma once\n", "name says nothing"),
    ("driver/later.cc", "// TODO: think\n", "unfinished"),
    ("base/bare.h", "int f();\n", "begins with what it is"),
    ("base/twice.h", "// Twice: read twice.\n", "no include guard"),
    ("base/heavy.h", "// H: h.\n#pragma once\n#include <boost/asio.hpp>\n", "heavy headers"),
    ("base/open.h", "// O: o.\n#pragma once\nusing namespace std;\n", "in a header"),
    ("driver/now.cc", "auto t = std::chrono::steady_clock::now();\n", "asks for the time"),
    ("base/clock.cc", "auto t = std::chrono::steady_clock::now();\n", None),
    ("driver/said.cc", "// steady_clock::now() is not called here.\n", None),
    ("driver/pure.h", "// P: p. Pure.\n#pragma once\n#include \"base/event_loop.h\"\n", "pure"),
    ("tests/base/nap_test.cc", "std::this_thread::sleep_for(1s);\n", "in a test"),
    ("tests/base/a_test.cc", 'TEST_CASE("it works", "[a]") {}\nTEST_CASE("it "\n  "works") {}\n',
     "more than one test"),
    ("tests/base/b_test.cc", 'TEST_CASE("this; that") {}\n', "semicolon"),
]
LAYERS = "base:\ndriver: base\n"
LAYER_CASES = [
    (LAYERS, "driver/a.cc", '#include "base/b.h"\n', None),
    (LAYERS, "base/a.cc", '#include "driver/b.h"\n', "base/ may not include driver/"),
    ("base: driver\ndriver:\n", "base/a.cc", "", "not above it"),
]


def check(script, files, wanted):
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = pathlib.Path(root, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, script, root], capture_output=True, text=True,
                              timeout=30)
    failed = done.returncode != 0
    if failed != (wanted is not None) or (wanted and wanted not in done.stdout):
        sys.exit(f"{script}: {files}\nwanted: {wanted}\n{done.stdout}{done.stderr}")


def main():
    folder = pathlib.Path(sys.argv[1])
    for name, text, wanted in CASES:
        check(folder / "check_source.py", {name: text}, wanted)
    for layers, name, text, wanted in LAYER_CASES:
        check(folder / "check_layers.py", {"cmake/layers.txt": layers, name: text}, wanted)


if __name__ == "__main__":
    main()
