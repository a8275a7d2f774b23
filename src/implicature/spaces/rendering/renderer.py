"""Scenes of one object each, drawn by MuJoCo: the only place that imports it.

All twelve bodies (6 shapes × 2 sizes) stand in one compiled model, and all but one are transparent. A clean picture is
drawn with the plain `View()`; a varied one turns and shifts the object, the light, the camera and the colour a little,
never so much that a large object looks small or an upper one lower.
"""

import colorsys
import os
import sys
from collections.abc import Iterator
from contextlib import closing
from itertools import product
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import UInt8

from implicature.spaces.objects import CATEGORIES
from implicature.spaces.rendering.scene import HALVES, SIZES, scenery

Picture = UInt8[np.ndarray, "height width 3"]

HUES = {"blue": 0.625, "red": 0.0, "yellow": 0.15, "green": 0.34, "cyan": 0.5, "magenta": 0.845}
PLACES = {
    "upper-left": (-0.46, 0.46),
    "upper-right": (0.46, 0.46),
    "lower-left": (-0.38, -0.38),
    "lower-right": (0.38, -0.38),
}
SMALLEST, LARGEST = 16, 1024


class View(NamedTuple):
    """What may differ between two pictures of one object."""

    shift: tuple[float, float] = (0.0, 0.0)
    turn: float = 0.5
    """The object's, about its vertical axis."""
    hue: float = 0.0
    """Added to the colour's own; 1 is the whole circle."""
    saturation: float = 0.9
    value: float = 0.9
    camera: tuple[float, float, float] = (0.0, 0.0, 1.0)
    """Degrees aside and up, and the distance as a factor."""
    light: tuple[float, float] = (0.8, -0.2)
    """Where the light goes, along x and y, while it falls by 1."""
    bright: float = 1.0


def varied(random: np.random.Generator) -> View:
    def around(middle: float, by: float) -> float:
        return float(random.uniform(middle - by, middle + by))

    return View(
        shift=(around(0.0, 0.06), around(0.0, 0.06)),
        turn=around(0.0, np.pi / 4),  # all there is for a square, and an ellipsoid's long side stays in sight
        hue=around(0.0, 0.03),
        saturation=around(0.85, 0.12),
        value=around(0.85, 0.12),
        camera=(around(0.0, 5.0), around(0.0, 4.0), around(1.0, 0.05)),
        light=(around(0.2, 0.7), around(0.0, 0.4)),
        bright=around(1.0, 0.2),
    )


def draw_objects(
    size: int = 128, per_object: int = 1, jitter: bool = False, seed: int = 0
) -> Iterator[tuple[tuple[str, ...], Picture]]:
    """The attributes and a picture of every object, `per_object` times, in the order of `objects()`."""
    if not SMALLEST <= size <= LARGEST:
        raise ValueError(f"Pictures of {size} × {size} pixels: ask for {SMALLEST} to {LARGEST}.")
    if per_object < 1:
        raise ValueError(f"{per_object} pictures of each object are none: ask for 1 or more.")
    if per_object > 1 and not jitter:
        raise ValueError(f"Without jitter all {per_object} pictures of an object are the same: add --jitter.")
    if seed < 0:
        raise ValueError(f"The seed {seed} is negative: take 0 or more.")
    with closing(Stage(size)) as stage:
        for number, thing in enumerate(product(*CATEGORIES.values())):
            for copy in range(per_object):
                # A picture depends on the seed, its object and its number alone.
                view = varied(np.random.default_rng((seed, number, copy))) if jitter else View()
                yield thing, stage.draw(thing, view)


def mujoco_with_gl() -> ModuleType:
    """MuJoCo, which looks for its GL library while it is imported; a sentence where either is missing."""
    if sys.platform == "linux":
        os.environ.setdefault("MUJOCO_GL", "egl")
    try:
        import mujoco
    except ModuleNotFoundError as missing:
        if missing.name != "mujoco":
            raise ValueError(without_gl(missing)) from None
        raise ValueError("Drawing needs MuJoCo: pip install 'implicature[objects]'.") from None
    except Exception as problem:  # what PyOpenGL raises where there is no library depends on which it misses
        raise ValueError(without_gl(problem)) from None
    return mujoco


def without_gl(problem: object) -> str:
    reason = " ".join(str(problem).split())[:120]
    return (
        f"MuJoCo cannot draw here ({reason}): install a GL library (on Debian: apt-get install libegl1 libgl1), "
        "and set MUJOCO_GL only to what this machine has."
    )


class Stage:
    """One compiled model and its renderer, for one picture after another."""

    def __init__(self, size: int) -> None:
        self.mujoco: Any = mujoco_with_gl()
        self.model = self.mujoco.MjModel.from_xml_string(scenery(size))
        self.data = self.mujoco.MjData(self.model)
        try:
            self.renderer = self.mujoco.Renderer(self.model, size, size)
        except Exception as problem:  # EGL, GLX and OSMesa have errors of their own; without any there is no Renderer
            raise ValueError(without_gl(problem)) from None
        self.glow = self.model.light_diffuse.copy()

    def close(self) -> None:
        self.renderer.close()

    def draw(self, thing: tuple[str, ...], view: View) -> Picture:
        colour, shape, size, place = thing
        geom, body = self.model.geom(f"{shape} {size}"), self.model.body(f"{shape} {size}")
        bodies = self.model.geom_bodyid > 0
        self.model.geom_rgba[bodies, 3] = 0
        hue = (HUES[colour] + view.hue) % 1
        self.model.geom_rgba[geom.id] = (*colorsys.hsv_to_rgb(hue, view.saturation, view.value), 1)
        (x, y), (dx, dy) = PLACES[place], view.shift
        mocap = self.model.body_mocapid[body.id]
        self.data.mocap_pos[mocap] = (x + dx, y + dy, SIZES[size] * HALVES[shape][2])
        self.data.mocap_quat[mocap] = (np.cos(view.turn / 2), 0, 0, np.sin(view.turn / 2))
        down = np.array([*view.light, -1.0])
        self.model.light_dir[0] = down / np.linalg.norm(down)
        self.model.light_pos[0] = -4 * self.model.light_dir[0]
        self.model.light_diffuse[:] = self.glow * view.bright
        self.mujoco.mj_forward(self.model, self.data)
        self.renderer.update_scene(self.data, camera=self.camera(view))
        return self.renderer.render()

    def camera(self, view: View) -> Any:
        """At (0, −2.6, 2.5), looking at (0, 0, 0.17), but for what the view changes."""
        aside, up, farther = view.camera
        camera = self.mujoco.MjvCamera()
        camera.lookat[:] = (0, 0, 0.17)
        camera.azimuth = 90 + aside
        camera.elevation = -np.degrees(np.arctan2(2.33, 2.6)) - up
        camera.distance = np.hypot(2.33, 2.6) * farther
        return camera
