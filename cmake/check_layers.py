"""Fails if a folder includes one that layers.txt does not allow it.

usage: check_layers.py ROOT

A line of layers.txt names only folders of the lines above it, so the allowed
arrows cannot form a circle.
"""
import pathlib
import re
import sys


def allowed_arrows(layers):
    """layers.txt -> ({folder: folders it may include}, complaints)"""
    arrows, complaints = {}, []
    for line in layers.read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        name, _, deps = line.partition(":")
        for dep in deps.split():
            if dep not in arrows:
                complaints.append(f"{layers}: {name} names {dep}, which is not above it")
        arrows[name.strip()] = set(deps.split()) | {name.strip()}
    return arrows, complaints


def broken_arrows(root, arrows):
    for folder, ok in arrows.items():
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in {".h", ".cc", ".c"}:
                continue
            for number, text in enumerate(path.read_text().splitlines(), 1):
                include = re.match(r'\s*#\s*include\s+"([a-z_]+)/', text)
                if include and include[1] in arrows and include[1] not in ok:
                    yield f"{path}:{number}: {folder}/ may not include {include[1]}/"


def main():
    root = pathlib.Path(sys.argv[1])
    arrows, complaints = allowed_arrows(root / "cmake/layers.txt")
    complaints += broken_arrows(root, arrows)
    print("\n".join(complaints) or f"{len(arrows)} folders, arrows as in layers.txt")
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main())
