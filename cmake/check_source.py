"""Fails if a source file breaks a house rule that a search can find.

usage: check_source.py ROOT

Each rule is a function that yields complaints about one file; the comment above
it says why the rule is there.
"""
import collections
import pathlib
import re
import sys

PRODUCT = ("base", "cmd", "collectives", "discovery", "driver", "launcher", "rendezvous", "simulation",
           "worker")
FOLDERS = (*PRODUCT, "bench", "examples", "tests")
MAX_LINES = 400


def code_of(text):
    """The text without comments and without what string literals hold."""
    text = re.sub(r'R"(\w*)\((.*?)\)\1"', '""', text, flags=re.S)
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"',
                  lambda m: '""' if m[0][0] == '"' else re.sub(r"[^\n]", "", m[0]), text,
                  flags=re.S)


def found(pattern, text, complaint):
    for match in re.finditer(pattern, text):
        line = text.count("\n", 0, match.start()) + 1
        yield f"{line}: {complaint}: {match[0].strip()}"


# What is longer holds more than one idea.
def length(path, text):
    if text.count("\n") > MAX_LINES:
        yield f"1: more than {MAX_LINES} lines"


# A file is named after the one thing it holds.
def name(path, text):
    if re.match(r"(util|utils|common|misc|helpers?|types)\.", path.name):
        yield "1: the name says nothing about what the file holds"


# Finish it, or write the gap into docs/decisions/.
def unfinished(path, text):
    yield from found(r"\b(TODO|FIXME|XXX|HACK)\b", text, "unfinished")


# A header can be used from its own first lines.
def header(path, text):
    if path.suffix == ".h":
        if not re.match(r"//|/\*|#pragma once", text):
            yield "1: a header begins with what it is"
        if "#pragma once" not in text and "#ifndef HVD_" not in text:
            yield "1: no include guard"
        yield from found(r"#include <(boost/|nlohmann/|CLI/)[^\n]*", text,
                         "heavy headers are included by .cc files only")
        yield from found(r"using namespace [^\n]*", code_of(text), "in a header")


# Decisions take `now` as an argument, so that a test can say what time it is.
def clock(path, text):
    if path.parts[0] in PRODUCT and path.stem != "clock":
        yield from found(r"\w+_clock::now\b", code_of(text), "only base/clock.h asks for the time")


# What calls itself pure has no way to the outside.
def pure(path, text):
    comment = re.match(r"(?://[^\n]*\n)*", text)[0]
    if path.suffix == ".h" and re.search(r"\bPure\b", comment):
        yield from found(r'#include "base/event_loop.h"', text, "a pure file")


# A condition and a deadline say why one waits, and are faster.
def sleeping(path, text):
    if path.parts[0] == "tests" and path.parts[1] not in ("support", "e2e", "fuzz"):
        yield from found(r"\b(sleep_for|usleep|nanosleep|::sleep)\b", code_of(text), "in a test")


RULES = (length, name, unfinished, header, clock, pure, sleeping)


def repeated_test_names(files):
    """Two tests with one name: ctest would run only one of them."""
    places = collections.defaultdict(list)
    for path, text in files.items():
        for match in re.finditer(r'TEST_CASE\(\s*((?:"(?:\\.|[^"\\])*"\s*)+)', text):
            title = "".join(re.findall(r'"((?:\\.|[^"\\])*)"', match[1]))
            places[title].append(str(path))
            if ";" in title:
                yield f"{path}: a test's name may not contain a semicolon: {title}"
    for title, where in places.items():
        if len(where) > 1:
            yield f"{', '.join(where)}: more than one test is called \"{title}\""


def main():
    root = pathlib.Path(sys.argv[1])
    files = {p.relative_to(root): p.read_text()
             for folder in FOLDERS for p in sorted((root / folder).rglob("*"))
             if p.suffix in {".h", ".cc", ".c"}}
    complaints = [f"{path}:{complaint}" for path, text in files.items()
                  for rule in RULES for complaint in rule(path, text)]
    complaints += repeated_test_names(files)
    print("\n".join(complaints) or f"{len(files)} files keep {len(RULES) + 1} rules")
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main())
