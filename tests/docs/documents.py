"""The Markdown files of this project, and the fenced blocks in them."""
import dataclasses
import re

# Not ours, or made by a build.
SKIPPED = {"build", ".git"}


@dataclasses.dataclass
class Block:
    language: str
    name: str  # the word behind the language; often empty
    text: str
    line: int  # of its first line of text


def documents(root):
    return sorted(p for p in root.rglob("*.md")
                  if not SKIPPED & set(p.relative_to(root).parts))


def blocks(text):
    """Every fenced block, in order."""
    found, fence = [], None
    for number, line in enumerate(text.splitlines(), 1):
        opening = re.match(r"```+(\w*) *(.*)$", line)
        if fence is None and opening:
            fence = Block(opening[1], opening[2].strip(), "", number + 1)
        elif fence is not None and line.startswith("```"):
            found.append(fence)
            fence = None
        elif fence is not None:
            fence.text += line + "\n"
    return found


def without_blocks(text):
    return re.sub(r"^```.*?^```[^\n]*$", "", text, flags=re.M | re.S)
