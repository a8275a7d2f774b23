"""Make the table of the space `emoji` from the npm package emojibase-data (MIT licence):

    npm pack emojibase-data@17.0.0 && tar xzf emojibase-data-17.0.0.tgz
    python examples/make_emoji.py package/en/data.json src/implicature/spaces/emoji.tsv

A line is an emoji, its name, and its keywords. Kept are keywords that at least two emoji share, and of emoji with the
same keywords the first; repeated until nothing changes. Components (skin tones, regional indicators) are left out.
"""

import json
import sys
from collections import Counter
from pathlib import Path

COMPONENTS = (None, 2)

Emoji = tuple[str, str, frozenset[str]]


def shared_keywords(emoji: list[Emoji]) -> list[Emoji]:
    """Emoji that differ in keywords which at least two of them have."""
    times = Counter(word for _, _, words in emoji for word in words)
    shared = [(text, name, frozenset(w for w in words if times[w] > 1)) for text, name, words in emoji]
    first: dict[frozenset[str], Emoji] = {}
    for one in shared:
        if one[2]:
            first.setdefault(one[2], one)
    kept = list(first.values())
    return kept if kept == emoji else shared_keywords(kept)


def main(source: str, out: str) -> None:
    data = sorted(json.loads(Path(source).read_text("utf-8")), key=lambda one: one.get("order", 0))
    every = [
        (one["emoji"], one["label"], frozenset(word.lower() for word in one.get("tags", [])))
        for one in data
        if one.get("group") not in COMPONENTS
    ]
    kept = shared_keywords(every)
    lines = ["\t".join((text, name, ",".join(sorted(words)))) for text, name, words in kept]
    Path(out).write_text("\n".join(lines) + "\n", "utf-8")
    print(f"{len(kept)} emoji, {len({word for _, _, words in kept for word in words})} words")


if __name__ == "__main__":
    main(*sys.argv[1:])
