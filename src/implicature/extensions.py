"""Objects of one's own, named as module:object: agents, networks, losses, methods, spaces. Naming one imports its
module, from the current folder or wherever Python finds modules, and so runs its code."""

import importlib
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

OWN_OBJECT = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")
MAX_LETTERS = 200
Entry = TypeVar("Entry")


def is_own_object(name: Any) -> bool:
    """Whether this is written as module:object."""
    return isinstance(name, str) and len(name) <= MAX_LETTERS and OWN_OBJECT.fullmatch(name) is not None


def import_object(name: str, what: str) -> Any:
    """The object of a module; `what` it should be, for the error."""
    module, _, path = name.partition(":")
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        found = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (Exception, SystemExit) as error:
        raise ValueError(
            f"{name} cannot be imported ({type(error).__name__}: {error}): name {what} as module:object, "
            "the module in this folder or installed."
        ) from None
    finally:
        sys.path.remove(here)
    return found


def look_up(registry: Mapping[str, Entry], name: str, what: str) -> Entry:
    """The entry of a registry, or an object of one's own."""
    return registry[name] if name in registry else import_object(name, what)
