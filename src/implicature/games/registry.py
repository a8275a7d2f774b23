"""The one place where a name becomes a space or a game."""

from pathlib import Path

from implicature.games.parsing import quote
from implicature.games.rules import Rules
from implicature.spaces import SPACES, Space
from implicature.spaces.io import read_space
from implicature.spaces.space import with_images

GAMES: dict[str, tuple[str, int]] = {
    "numbers-4": ("numbers-10", 4),
    "numbers-7": ("numbers-12", 7),
    "objects-4": ("objects", 4),
    "objects-7": ("objects", 7),
}
"""The paper's four games: space and number of candidates."""


def load_space(space: str | Path) -> Space:
    """What can be talked about: "numbers-10", "numbers-12", "objects", a .csv or .json file, or a folder of images with
    a .csv file.

    >>> kitchen = implicature.load_space("examples/kitchen.csv")
    >>> kitchen.instances, len(kitchen.attributes)
    (12, 16)
    >>> kitchen.label(0), kitchen.names(0)
    ('saucepan', ['metal', 'cooking', 'hot', 'cupboard'])
    """
    if str(space) in SPACES:
        return SPACES[str(space)]()
    path = Path(space)
    if path.name == str(space) and not path.suffix and not path.is_dir():
        raise ValueError(
            f"No space is called {quote(str(space))}: choose {', '.join(SPACES)}, a .csv or .json file, or a folder of "
            "images with a .csv file."
        )
    return read_space(path)


def load_images(space: Space, name: str) -> Space:
    """The space with other images of its instances: a folder's, or those of a space of the package."""
    return with_images(space, load_space(name))


def load_game(
    game: str = "numbers-4", space: Space | Path | str | None = None, candidates: int | None = None
) -> tuple[Space, int]:
    """The space and the number of candidates of a named game, or of a space of one's own."""
    if space is None:
        if game not in GAMES:
            raise ValueError(f"No game is called {game!r}: choose one of {', '.join(GAMES)}.")
        name, default = GAMES[game]
        space, candidates = SPACES[name](), default if candidates is None else candidates
    elif not isinstance(space, Space):
        space = load_space(space)
    if candidates is None:
        raise ValueError(f"How many candidates of {space.name} make a game? Say it with --candidates (candidates=…).")
    check_candidates(space, candidates)
    return space, candidates


def check_candidates(space: Space, candidates: int, instances: int | None = None) -> None:
    """Raise an error where the space has too few instances for such games."""
    number = space.instances if instances is None else instances
    if candidates > number:
        raise ValueError(
            f"{candidates} candidates, but this space has only {number} instances: ask for {number} or fewer."
        )
    Rules(candidates)
