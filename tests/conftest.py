"""The same examples on every run, however slow the first one compiles; and two small trained runs for all to read."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("implicature", deadline=None, derandomize=True)
settings.load_profile("implicature")
# Whatever the machine has: a batch in two parts, here and in every command that a test runs.
os.environ["JAX_NUM_CPU_DEVICES"] = "2"
# A shell that runs the tests in the background has Ctrl-C ignored in them and in all that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

TINY = {
    "train-games": 2000, "pretraining-iterations": 250, "iterations": 2500, "phases": 1, "candidate-sets": 16,
    "width": 4, "layers": 1, "q-hidden": 8,
}  # fmt: skip


SLOW_FIXTURES = {"whole_run", "two_pairs", "wheel", "server", "serving", "ray_cluster"}
SLOW_FOLDERS = {"hostile", "docs"}
SLOW_FILES = {"test_browser", "test_runner", "test_wheel", "test_image_training"}
"""Fixtures, folders and files whose tests take long together; others are marked one by one."""


def pytest_itemcollected(item: pytest.Item) -> None:
    """Two processes share the tests. Those of a file stay together, as they need the same programs compiled, and all of
    tests/hostile, which counts its cases."""
    folder = item.path.parent.name
    item.add_marker(pytest.mark.xdist_group("hostile" if folder == "hostile" else item.path.stem))
    if folder == "hostile":
        item.add_marker(pytest.mark.hostile)
    if item.path.stem == "test_browser":
        item.add_marker(pytest.mark.browser)
    if "ray_cluster" in getattr(item, "fixturenames", ()):
        item.add_marker(pytest.mark.cluster)
    if SLOW_FIXTURES & set(getattr(item, "fixturenames", ())) or folder in SLOW_FOLDERS or item.path.stem in SLOW_FILES:
        item.add_marker(pytest.mark.slow)


Ask = Callable[..., tuple[int, str, str]]


class Trained(NamedTuple):
    folder: Path
    said: str
    """What the command printed."""


@pytest.fixture(scope="session", autouse=True)
def keep_compiled_programs() -> None:
    """Programs compiled in an earlier session are read from disk, as in the commands."""
    from implicature.compilation_cache import enable_compilation_cache

    enable_compilation_cache()


@pytest.fixture(scope="module", autouse=True)
def forget_programs() -> Iterator[None]:
    """A process may hold only so many compiled programs: those of one file are forgotten before the next."""
    yield
    import jax

    jax.clear_caches()


@pytest.fixture(scope="session")
def tiny() -> list[str]:
    """`implicature train` with these arguments takes seconds: two chunks of grounding, ten of each half."""
    return ["train", *(word for name, value in TINY.items() for word in (f"--{name}", str(value)))]


@pytest.fixture(scope="session")
def whole_run(tiny: list[str], tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """A run that nobody disturbed. Not to be changed: copy it."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    command = [str(Path(sys.executable).with_name("implicature")), *tiny, "--out", str(folder)]
    return Trained(folder, subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.fixture(scope="session")
def two_pairs(whole_run: Trained, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two pairs, grounded like that one, without a phase. Not to be changed, either."""
    from implicature.training.runs.run import read_config, start_run

    folder = tmp_path_factory.mktemp("two") / "run"
    for _ in start_run(folder, read_config(whole_run.folder).replace(seeds=2, phases=0)).train():
        pass
    return folder


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ask:
    """The command in this process, which has compiled already: exit code, and what it says."""
    from implicature.cli.main import main

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["implicature", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


@pytest.fixture(scope="session")
def can_draw() -> None:
    """For tests that draw: skipped only where MuJoCo or a GL library is missing, and then with what to install."""
    from implicature.spaces.rendering.renderer import ObjectRenderer

    try:
        ObjectRenderer(16).close()
    except ValueError as missing:
        pytest.skip(str(missing))


COLOURS = {"red": (230, 30, 30), "green": (30, 200, 30), "blue": (30, 60, 230)}
PLACES = {"upper-left": (6, 6), "upper-right": (6, 42), "lower-left": (42, 6), "lower-right": (42, 42)}
SIZES = {"small": 6, "large": 14}
Draw = Callable[..., Path]


@pytest.fixture(scope="session")
def draw_squares() -> Draw:
    """24 squares in several images each, some shifted a little: a folder as a user would make it."""
    from PIL import Image

    def draw(folder: Path, asides: tuple[int, ...] = (0, 2), side: int = 64, order: int = 1) -> Path:
        folder.mkdir()
        lines = ["colour,size,place,image"]
        for (colour, rgb), (size, length), (place, (row, column)) in product(
            COLOURS.items(), SIZES.items(), PLACES.items()
        ):
            for aside in asides:
                pixels = np.full((side, side, 3), 128, np.uint8)
                pixels[row + aside : row + aside + length, column : column + length] = rgb
                name = f"{colour}-{size}-{place}-{aside}.png"
                Image.fromarray(pixels).save(folder / name)
                lines.append(f"{colour},{size},{place},{name}")
        (folder / "squares.csv").write_text("\n".join([lines[0], *lines[1:][::order]]), encoding="utf-8")
        return folder

    return draw


@pytest.fixture(scope="session")
def squares(draw_squares: Draw, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return draw_squares(tmp_path_factory.mktemp("squares") / "squares")


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as it is distributed."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, check=True)
    return next(folder.glob("*.whl"))


class Server(NamedTuple):
    address: str
    process: subprocess.Popen


@contextmanager
def _serving(*arguments: str) -> Iterator[Server]:
    command = [str(Path(sys.executable).with_name("implicature")), "play", "--no-browser", "--port", "0", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        yield Server(process.stdout.readline().split()[2], process)
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="session")
def serving() -> Callable[..., AbstractContextManager[Server]]:
    """A server with these arguments, as long as the context lasts."""
    return _serving


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of a page that many tests look at."""
    with _serving() as started:
        yield started.address
