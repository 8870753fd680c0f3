"""Checks that the documents say what is so.

usage: docs_test.py CASE ROOT BUILD_DIR

links     every relative link leads to a file.
folders   every folder has a README of at most 60 lines that begins with its
          name and one sentence, and the source files it names exist.
reports   every test that docs/public_reports.md names exists.
messages  every message that docs/troubleshooting.md explains stands in the source.
commands  every ```sh block runs. In each document, in order and in one scratch
          directory: a block with a file name behind its language is written to
          that file, a ```sh block is run with an installed hvdrun in PATH, and an
          ```output block after it holds lines that it must have printed ("..."
          stands for any text). What cannot be run here is a ```text block.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from documents import blocks, documents, without_blocks

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from command import expect, run  # noqa: E402

FOLDERS = ("base", "bench", "cmake", "cmd", "collectives", "discovery", "docs", "driver",
           "examples", "launcher", "rendezvous", "scripts", "simulation", "tests", "worker")
BLOCK_LIMIT_SECONDS = 60


def links(root, _build):
    broken, seen = [], 0
    for document in documents(root):
        for target in re.findall(r"\]\(([^)\s]+)\)", without_blocks(document.read_text())):
            if re.match(r"[a-z]+:|#", target):
                continue
            seen += 1
            if not (document.parent / target.partition("#")[0]).exists():
                broken.append(f"{document}: {target}")
    expect(not broken, "\n".join(broken))
    expect(seen > 0, "no document has a link")


def folders(root, _build):
    complaints = []
    for folder in FOLDERS:
        readme = root / folder / "README.md"
        if not readme.exists():
            complaints.append(f"{readme} is missing")
            continue
        text = readme.read_text()
        if len(text.splitlines()) > 60 and folder != "bench":  # it holds the tables
            complaints.append(f"{readme}: more than 60 lines")
        if not re.match(rf"# {folder}/?\n\n\S[^\n]*", text):
            complaints.append(f"{readme}: must begin with \"# {folder}/\" and a sentence")
        for name in re.findall(r"`([\w./-]+\.(?:h|cc|c|py|sh|cmake|txt|map))`", text):
            if not any((base / name).exists() for base in (root, root / folder)):
                complaints.append(f"{readme}: {name} does not exist")
    expect(not complaints, "\n".join(complaints))


def messages(root, _build):
    """A heading is a message with "..." for what varies; each fixed part of it must be
    in a string of the product."""
    source = ""
    for folder in ("base", "cmd", "collectives", "discovery", "driver", "launcher", "rendezvous",
                   "simulation", "worker"):
        for path in sorted((root / folder).rglob("*.cc")):
            source += path.read_text()
    source = re.sub(r'"\s*\n\s*"', "", source).replace('\\"', '"')
    headings = re.findall(r"^### .*`.*$", (root / "docs/troubleshooting.md").read_text(), re.M)
    unknown = [f"{message}: nothing says \"{part.strip()}\""
               for heading in headings for message in re.findall("`([^`]+)`", heading)
               for part in message.split("...") if len(part.strip()) > 1 and part.strip() not in source]
    expect(not unknown, "\n".join(unknown))
    expect(headings, "docs/troubleshooting.md explains no message")


def reports(root, _build):
    """A row is: report, what went wrong, the "tests" that show otherwise or why there is none."""
    source = ""
    for path in sorted((root / "tests").rglob("*.cc")):
        source += re.sub(r'"\s*\n\s*"', "", path.read_text())
    rows = [line.split(" | ") for line in (root / "docs/public_reports.md").read_text().splitlines()
            if line.startswith("| ") and not line.startswith(("| report |", "| --- "))]
    complaints = []
    for row in rows:
        if len(row) != 3:
            complaints.append(f"not three columns: {row}")
            continue
        complaints += [f"no test is called \"{name}\"" for name in re.findall(r'"([^"]+)"', row[2])
                       if f'TEST_CASE("{name}"' not in source]
    expect(not complaints, "\n".join(complaints))
    expect(len(rows) > 0, "docs/public_reports.md has no row")


def commands(root, build):
    with tempfile.TemporaryDirectory() as scratch:
        prefix = pathlib.Path(scratch) / "prefix"
        run(["cmake", "--install", build, "--prefix", prefix])
        env = dict(os.environ,
                   PATH=f"{prefix / 'bin'}:{build / 'bin'}:{os.environ['PATH']}",
                   LD_LIBRARY_PATH=str(prefix / "lib"),
                   PKG_CONFIG_PATH=str(prefix / "lib/pkgconfig"),
                   CMAKE_PREFIX_PATH=str(prefix),
                   HVDRUN_SOURCE=str(root))
        count = 0
        for document in documents(root):
            with tempfile.TemporaryDirectory(dir=scratch) as place:
                count += run_document(document, pathlib.Path(place), env)
    print(f"{count} blocks ran")
    expect(count > 0, "no document has a command")


def run_document(document, place, env):
    count, printed = 0, None
    for block in blocks(document.read_text()):
        where = f"{document}:{block.line}"
        if block.name:
            (place / block.name).write_text(block.text)
        elif block.language == "sh":
            printed = run_block(where, block.text, place, env)
            count += 1
        elif block.language == "output":
            expect(printed is not None, f"{where}: no command stands before this output")
            for line in block.text.splitlines():
                pattern = ".*".join(re.escape(part) for part in line.split("..."))
                expect(re.search(rf"^{pattern}$", printed, re.M),
                       f"{where}: no line \"{line}\" in\n{printed}")
    return count


def run_block(where, text, place, env):
    try:
        done = subprocess.run(["bash", "-eu", "-o", "pipefail", "-c", text], cwd=place, env=env,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=BLOCK_LIMIT_SECONDS)
    except subprocess.TimeoutExpired as late:
        sys.exit(f"{where}: did not end within {BLOCK_LIMIT_SECONDS} s\n{late.stdout}")
    expect(done.returncode == 0, f"{where}: ended with {done.returncode}\n{text}\n{done.stdout}")
    return done.stdout


def main():
    case, root, build = sys.argv[1:]
    cases = {f.__name__: f for f in (links, folders, reports, messages, commands)}
    cases[case](pathlib.Path(root).resolve(), pathlib.Path(build).resolve())


if __name__ == "__main__":
    main()
