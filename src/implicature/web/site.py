"""The page as files: what the server serves and what `implicature play --export` writes are the same.

data/site.json holds the spaces, people's answers and what is known of the packaged pair; its networks are data/pair/*.
"""

import json
from pathlib import Path
from typing import Any

from implicature import __version__
from implicature.files import write_atomic
from implicature.training.runs.run import read_config
from implicature.web.dealing import PlayableGame, playable_games
from implicature.web.people import people_items
from implicature.web.players import PRETRAINED

STATIC = Path(__file__).with_name("static")
OBJECTS = Path(__file__).parents[1] / "spaces" / "objects.png"
ADDRESS = "<!-- address -->"
"""Where index.html gets its own address, which previews of links need."""


def describe_space(game: PlayableGame) -> dict[str, Any]:
    """A space as the page reads it; instances are lists of indices of words."""
    space = game.space
    return {
        "name": game.name,
        "title": game.title,
        "kind": game.kind,
        "words": list(space.attributes),
        "instances": [[i for i, true in enumerate(row) if true] for row in space.table.tolist()],
        "labels": None if space.labels is None else list(space.labels),
        "candidates": game.candidates,
        "share": game.share,
        "pictures": space.images is not None,
    }


def site_data(server: bool) -> dict[str, Any]:
    config = read_config(PRETRAINED)
    phases = [
        phase for phase in range(config.optimiser.phases + 1) if (PRETRAINED / f"phase-{phase}.safetensors").exists()
    ]
    return {
        "version": __version__,
        "server": server,
        "spaces": [describe_space(game) for game in playable_games().values()],
        "pair": {"game": "numbers-4", "phases": phases, "lapse_rate": config.network.lapse_rate},
        "people": people_items(),
    }


def data_files(server: bool) -> dict[str, bytes]:
    """The generated files, by path."""
    networks = {f"data/pair/{path.name}": path.read_bytes() for path in sorted(PRETRAINED.glob("phase-*.safetensors"))}
    site = json.dumps(site_data(server), separators=(",", ":"), ensure_ascii=False).encode()
    return {"data/site.json": site, "data/objects.png": OBJECTS.read_bytes(), **networks}


def site_files(server: bool, address: str | None = None) -> dict[str, bytes]:
    """All files of the page, by path."""
    static = {
        path.relative_to(STATIC).as_posix(): path.read_bytes() for path in sorted(STATIC.rglob("*")) if path.is_file()
    }
    if address is not None:
        base = address.rstrip("/") + "/"
        index = static["index.html"].decode().replace('content="card.png"', f'content="{base}card.png"')
        static["index.html"] = index.replace(ADDRESS, f'<meta property="og:url" content="{base}">').encode()
    return {**static, **data_files(server)}


def export_site(folder: Path, address: str | None = None) -> int:
    """Write the page into a folder that any web host can serve: its number of bytes."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is not a folder: name one, or one that does not exist yet.")
    if address is not None and not address.startswith(("https://", "http://")):
        raise ValueError(f"{address!r} is not the address of a web page: begin it with https://.")
    files = site_files(server=False, address=address)
    try:
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(path, content)
    except OSError as error:
        raise ValueError(f"{folder} cannot be written ({error.strerror}): name another folder.") from None
    return sum(map(len, files.values()))
