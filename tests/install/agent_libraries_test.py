"""What the dynamic loader has to find for an agent: agent_libraries_test.py AGENT."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from command import expect, run  # noqa: E402

# The C library and what is part of it.
ALLOWED = re.compile(r"(libc|libm|libdl|libpthread|librt|libresolv|ld-linux-[a-z0-9-]+)\.so\.\d+")

needed = re.findall(r"NEEDED.*\[(.*)\]", run(["readelf", "-d", sys.argv[1]]))
expect(needed, "it needs nothing at all: is this the agent?")
others = [name for name in needed if not ALLOWED.fullmatch(name)]
expect(not others, f"it needs {others} too")
