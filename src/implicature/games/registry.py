"""The one place where a name becomes a space or a game."""

from pathlib import Path

from implicature.extensions import import_object, is_own_object
from implicature.games.parsing import quote
from implicature.games.rules import Contexts, Rules
from implicature.spaces import SPACES, Space
from implicature.spaces.concepts import FAMILIES
from implicature.spaces.io import read_space
from implicature.spaces.space import with_images

APPOINTMENT = "appointment"
"""A game of another kind: both players know something (appointment.py)."""
GAMES: dict[str, tuple[str, int]] = {
    "numbers-4": ("numbers-10", 4),
    "numbers-7": ("numbers-12", 7),
    "objects-4": ("objects", 4),
    "objects-7": ("objects", 7),
}
"""The paper's four games: space and number of candidates."""
NEAR_GAMES: dict[str, tuple[str, int]] = {
    "emoji-7": ("emoji", 7),
    "emoji-16": ("emoji", 16),
    "emoji-50": ("emoji", 50),
}
"""Games with near contexts."""


def load_space(space: str | Path) -> Space:
    """What can be talked about: "numbers-10", "numbers-12", "objects", "emoji", a concept class such as "intervals-5",
    a .csv or .json file, a folder of images with a .csv file, or module:object, a space that a program makes.

    >>> kitchen = implicature.load_space("examples/kitchen.csv")
    >>> kitchen.instances, len(kitchen.attributes)
    (12, 16)
    >>> kitchen.label(0), kitchen.names(0)
    ('saucepan', ['metal', 'cooking', 'hot', 'cupboard'])
    """
    if str(space) in SPACES:
        return SPACES[str(space)]()
    path = Path(space)
    if is_own_object(str(space)) and not path.exists():
        return own_space(str(space))
    if path.name == str(space) and not path.suffix and not path.is_dir():
        raise ValueError(
            f"No space is called {quote(str(space))}: choose {space_names()}, a .csv or .json file, or a folder of "
            "images with a .csv file."
        )
    return read_space(path)


def space_names() -> str:
    """The named spaces; a family of concept classes as its first and last."""
    single = [name for name in SPACES if name.rpartition("-")[0] not in FAMILIES]
    families = [f"{family}-{sizes[0]} … {sizes[-1]}" for family, (_, sizes) in FAMILIES.items()]
    return ", ".join([*single, *families])


def own_space(name: str) -> Space:
    """A space that a program makes: module:object, a Space or a function that gives one."""
    space = import_object(name, "a space")
    try:
        space = space() if callable(space) else space
    except Exception as error:
        raise ValueError(f"{name} cannot be called ({type(error).__name__}: {error}): correct it there.") from None
    if not isinstance(space, Space):
        raise ValueError(f"{name} is {type(space).__name__}, not a space: give an implicature.spaces.Space.")
    return space


def load_images(space: Space, name: str) -> Space:
    """The space with other images of its instances: a folder's, or those of a space of the package."""
    return with_images(space, load_space(name))


def load_game(
    game: str = "numbers-4", space: Space | Path | str | None = None, candidates: int | None = None
) -> tuple[Space, int]:
    """The space and the number of candidates of a named game, or of a space of one's own."""
    if space is None:
        games = GAMES | NEAR_GAMES
        if game == APPOINTMENT:
            raise ValueError(
                "The appointment game has no candidates: train, evaluate and reproduce take it, and  implicature play "
                "--game appointment  is its page."
            )
        if game not in games:
            raise ValueError(f"No game is called {game!r}: choose one of {', '.join(games)}, {APPOINTMENT}.")
        name, default = games[game]
        space, candidates = SPACES[name](), default if candidates is None else candidates
    elif not isinstance(space, Space):
        space = load_space(space)
    if candidates is None:
        raise ValueError(f"How many candidates of {space.name} make a game? Say it with --candidates (candidates=…).")
    check_candidates(space, candidates)
    return space, candidates


def default_contexts(game: str, space: object = None) -> Contexts:
    """How the candidates of a named game are drawn; those of a space of one's own at random."""
    return "near" if space is None and game in NEAR_GAMES else "random"


def check_candidates(space: Space, candidates: int, instances: int | None = None) -> None:
    """Raise an error where the space has too few instances for such games."""
    number = space.instances if instances is None else instances
    if candidates > number:
        raise ValueError(
            f"{candidates} candidates, but this space has only {number} instances: ask for {number} or fewer."
        )
    Rules(candidates)
