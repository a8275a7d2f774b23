"""The figure of one game."""

from implicature.experiments.paper.example_games import has_glyphs, wrap_names


def test_a_label_that_the_font_cannot_write_is_shown_by_its_words():
    assert has_glyphs("blue sphere, β")
    assert not has_glyphs("🦑")
    # 14 letters a line: "purple, square" has exactly 14.
    assert wrap_names(["purple", "square", "geometric"]) == ["purple, square,", "geometric"]
