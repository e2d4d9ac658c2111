"""The comments of a YAML file."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from mfsdp_lint.inputs.suppression import CommentPlace, comment_places


def yaml_comments(text: str) -> list[CommentPlace]:
    """Return every comment, as far as the text can be scanned."""
    return comment_places(text, _comments(text))


def _comments(text: str) -> Iterator[tuple[int, str]]:
    """Yield the comments that may be ours: where `#` follows white space outside of every scalar."""
    import yaml

    scalars: list[tuple[int, int]] = []
    try:
        for token in yaml.scan(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            if isinstance(token, yaml.ScalarToken):
                start, end = token.start_mark.index, token.end_mark.index
                if token.style in ("|", ">"):
                    # The line that begins a block scalar may end in a comment.
                    head = re.compile(r"[^\r\n]*").match(text, start)
                    start = head.end() if head else start
                scalars.append((start, end))
    except yaml.YAMLError:
        pass
    starts = [start for start, _ in scalars]
    for match in re.finditer(r"(?<!\S)#[^\r\n]*", text):
        index = bisect_right(starts, match.start()) - 1
        if index < 0 or match.start() >= scalars[index][1]:
            yield match.start(), match.group()
