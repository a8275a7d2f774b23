"""RUN/space.safetensors: a run's own copy of its space, so that it can be opened from any folder.

The arrays of the space (its table, its images) are stored as arrays, names as JSON in the notes, with a hash of the
space and, relative to the run's folder, the file it was read from. What is trained and evaluated is the copy. Where the
file still exists and has changed, opening the run says so. Images of the package are not copied.
"""

import json
import os
import sys
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from implicature.extensions import is_own_object
from implicature.files import printable
from implicature.games.registry import load_game, load_images, load_space
from implicature.spaces import SPACES, Lexicon, Space
from implicature.spaces.images import object_images
from implicature.training.config import Config
from implicature.training.runs.checkpoint import read_whole, save_tree

FILE = "space.safetensors"
SOURCES = ("space", "images")
"""The settings that name files."""
PACKAGE_IMAGES = "objects"


def space_hash(space: Space) -> str:
    """Of the attributes and the instances in their order, their words where they are not the attributes, and images."""
    total = sha256(repr((space.attributes, space.features.shape)).encode() + space.features.tobytes())
    if not space.words_are_attributes:
        lexicon = space.lexicon
        total.update(repr((lexicon.words, lexicon.meaning.shape)).encode() + lexicon.meaning.tobytes())
    if not space.lexicon.free or space.prior is not None:
        total.update(repr((space.lexicon.costs.tolist(), space.prior is None or space.prior.tolist())).encode())
    if space.images is not None:
        total.update(space.images.tobytes())
    return total.hexdigest()[:16]


def task_space(config: Config) -> tuple[Space, int]:
    """The space that a config names, with the images that were asked for, and the number of candidates."""
    space, candidates = config.game.space, config.game.candidates
    if config.data.whole_class and space is not None:
        space = load_space(space)
        candidates = space.instances if candidates is None else candidates
    space, candidates = load_game(config.game.game, space, candidates)
    return space if config.game.images is None else load_images(space, config.game.images), candidates


def has_package_images(space: Space) -> bool:
    return space.images is not None and np.array_equal(space.images, object_images()[:, None])


def save_space(folder: Path, space: Space, config: Config) -> None:
    """Copy a space into a run's folder."""
    arrays = {"table": space.features, "images": space.images, "prior": space.prior}
    names: dict[str, Any] = {name: getattr(space, name) for name in ("name", "attributes", "categories", "labels")}
    if not (space.words_are_attributes and space.lexicon.free):
        arrays |= {"meaning": space.lexicon.meaning, "costs": space.lexicon.costs}
        names |= {"words": space.lexicon.words, "word_categories": space.lexicon.categories}
    arrays = {name: array for name, array in arrays.items() if array is not None}
    if has_package_images(space):
        del arrays["images"]
        names["images"] = PACKAGE_IMAGES
    notes = {"hash": space_hash(space), "space": json.dumps(names)}
    notes |= {f"{name}_file": path for name, path in source_files(folder, config).items()}
    save_tree(folder / FILE, arrays, notes)


def source_files(folder: Path, config: Config) -> dict[str, str]:
    """The files that the space was read from, relative to the run's folder: the two may be moved together."""
    found = {name: config.flat()[name] for name in SOURCES}
    return {
        name: relative_path(path, folder)
        for name, path in found.items()
        if path and path not in SPACES and not is_own_object(path)
    }


def relative_path(path: str, folder: Path) -> str:
    try:
        return os.path.relpath(path, folder)
    except ValueError:  # another drive
        return os.path.abspath(path)


def print_warning(text: str) -> None:
    print(f"implicature: {text}", file=sys.stderr)


def run_space(folder: Path, config: Config, warn: Callable[[str], None] = print_warning) -> tuple[Space, int]:
    """The space of a run and its number of candidates: its own copy, or, for runs of earlier versions, what its config
    names."""
    path = folder / FILE
    if not path.exists():
        return task_space(config)
    notes, arrays = read_whole(path)
    space = build_space(path, notes, arrays)
    if space_hash(space) != notes.get("hash"):
        raise ValueError(f"{path} does not hold the space that its hash is of: restore it.")
    if changed := changed_source(folder, config, notes):
        warn(f"{changed} {folder} keeps to its own copy.")
    return load_game(space=space, candidates=config.game.candidates)


def build_space(path: Path, notes: Mapping[str, str], stored: Mapping[str, np.ndarray]) -> Space:
    arrays = {name[2:-2]: array for name, array in stored.items()}  # keys of a dict: ['table']
    try:
        names: dict[str, Any] = json.loads(notes["space"])
        values = {name: tuple(value) if isinstance(value, list) else value for name, value in names.items()}
        if values.get("images") == PACKAGE_IMAGES:
            arrays["images"] = object_images()[:, None]
        check_parts(values, arrays)
        if "meaning" in arrays:
            lexicon = values.pop("words"), arrays.pop("meaning"), arrays.pop("costs"), values.pop("word_categories")
            values["lexicon"] = Lexicon(*lexicon)
        return Space(features=arrays.pop("table"), **{**values, **arrays})
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        raise ValueError(f"{path} does not hold the space of a run: restore it.") from None


def check_parts(values: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Raise an error for names that cannot be printed and for a table that is none."""
    for value in values.values():
        texts = value if isinstance(value, tuple) else () if value is None else (value,)
        if not all(isinstance(text, str) and printable(text) for text in texts):
            raise ValueError("A name is no text.")
    graded = arrays["table"].dtype == np.float32 and not np.isin(arrays["table"], (0, 1)).all()
    if not (graded or arrays["table"].dtype == bool) or arrays["table"].ndim != 2:
        raise ValueError("The table is no table.")


def changed_source(folder: Path, config: Config, notes: Mapping[str, str]) -> str | None:
    """One sentence about a file that the space was read from and that has changed since. A file that is gone, or a run
    that was moved without it, is no change."""
    paths = {name: folder / notes[f"{name}_file"] for name in SOURCES if f"{name}_file" in notes}
    if not paths or not all(path.exists() for path in paths.values()):
        return None
    named = " or ".join(os.path.normpath(path) for path in paths.values())
    try:
        now, _ = task_space(config.replace(**{name: str(path) for name, path in paths.items()}))
    except ValueError:
        return f"{named} can no longer be read as a space."
    if space_hash(now) == notes.get("hash"):
        return None
    return f"{named} has changed since this run was trained."
