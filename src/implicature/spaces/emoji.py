"""Emoji and their English keywords, from emojibase-data 17 (MIT licence, emoji-LICENSE.txt): 1,493 emoji, each with one
to twenty of 1,506 words that at least two emoji share. No two emoji have the same words. examples/make_emoji.py makes
the table."""

from importlib.resources import files

from implicature.spaces.space import Space, space_from_sets

TABLE = "emoji.tsv"


def emoji() -> Space:
    """An instance is called by the emoji itself."""
    text = (files("implicature.spaces") / TABLE).read_text("utf-8")
    labels, _, words = zip(*(line.split("\t") for line in text.splitlines()), strict=True)
    space = space_from_sets("emoji", [line.split(",") for line in words])
    return Space("emoji", space.attributes, space.table, labels=labels)
