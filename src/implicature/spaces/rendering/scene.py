"""The scene as MuJoCo XML; nothing here needs MuJoCo.

A mesh has a fixed size once a model is compiled, so each shape in each size is a body of its own.
"""

from itertools import product

import numpy as np

SIZES = {"small": 0.19, "large": 0.32}
HALVES = {
    "box": (0.8, 0.8, 0.8),
    "sphere": (1.0, 1.0, 1.0),
    "cylinder": (0.75, 0.75, 0.95),
    "pyramid": (0.92, 0.92, 1.05),
    "cone": (0.95, 0.95, 1.05),
    "ellipsoid": (1.2, 0.75, 0.6),
}
"""Half the extent of each shape at size 1 along x, y and z."""


def format_numbers(values: np.ndarray) -> str:
    return " ".join(f"{value:.9g}" for value in values.ravel())


def pyramid_mesh(half: float, height: float) -> dict[str, np.ndarray]:
    """Four sides and a base, from −height to height; faces do not share vertices, so that edges stay sharp."""
    base = np.array([[-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1]]) * (half, half, height)
    top = np.array([0, 0, height])
    triangles = [[base[i], base[(i + 1) % 4], top] for i in range(4)]
    corners = np.array([*triangles, [base[0], base[2], base[1]], [base[0], base[3], base[2]]], dtype=float)
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals = np.repeat(across / np.linalg.norm(across, axis=1, keepdims=True), 3, axis=0)
    return {"vertex": corners, "normal": normals, "face": np.arange(18)}


def cone_mesh(radius: float, height: float, sides: int = 64) -> dict[str, np.ndarray]:
    """From −height to height, with smooth normals; at the tip each side has its own."""
    angles = 2 * np.pi * np.arange(sides + 1) / sides
    rim = np.stack([radius * np.cos(angles), radius * np.sin(angles), np.full(sides + 1, -height)], axis=1)
    slope = np.hypot(2 * height, radius)

    def outward(angle: np.ndarray) -> np.ndarray:
        flat = np.full(len(angle), radius / slope)
        return np.stack([np.cos(angle) * 2 * height / slope, np.sin(angle) * 2 * height / slope, flat], axis=1)

    down, tip = np.array([0.0, 0.0, -1.0]), np.array([0.0, 0.0, height])
    middle = (angles[:-1] + angles[1:]) / 2
    side_corners = np.stack([rim[:-1], rim[1:], np.broadcast_to(tip, (sides, 3))], axis=1)
    side_normals = np.stack([outward(angles[:-1]), outward(angles[1:]), outward(middle)], axis=1)
    base_corners = np.stack([rim[1:], rim[:-1], np.broadcast_to(-tip, (sides, 3))], axis=1)
    base_normals = np.broadcast_to(down, base_corners.shape)
    corners = np.concatenate([side_corners, base_corners]).reshape(-1, 3)
    normals = np.concatenate([side_normals, base_normals]).reshape(-1, 3)
    return {"vertex": corners, "normal": normals, "face": np.arange(len(corners))}


MESHES = {"pyramid": pyramid_mesh, "cone": cone_mesh}


def scene_xml(pixels: int) -> str:
    """A floor, a directional light beside the headlight, and every shape in both sizes.

    The floor is finite, because an infinite one takes three times as long to render. The shadow map (shadowclip ×
    extent) is wider than the view, because its edge causes artefacts.
    """
    meshes, bodies = [], []
    for (shape, halves), (size, scale) in product(HALVES.items(), SIZES.items()):
        name, (x, y, z) = f"{shape} {size}", (scale * half for half in halves)
        if shape in MESHES:
            parts = " ".join(f'{part}="{format_numbers(values)}"' for part, values in MESHES[shape](x, z).items())
            meshes.append(f'<mesh name="{name}" {parts}/>')
            kind = f'type="mesh" mesh="{name}"'
        else:  # a cylinder has a radius and half a height
            kind = f'type="{shape}" size="{x} {z if shape == "cylinder" else y} {z}"'
        geom = f'<geom name="{name}" {kind} material="paint" contype="0" conaffinity="0"/>'
        bodies.append(f'<body name="{name}" mocap="true">{geom}</body>')
    return f"""
<mujoco>
  <visual>
    <global fovy="33" offwidth="{pixels}" offheight="{pixels}"/>
    <quality shadowsize="1024" offsamples="4" numslices="48" numstacks="32"/>
    <headlight ambient="0.32 0.32 0.32" diffuse="0.22 0.22 0.22" specular="0 0 0"/>
    <map znear="0.1" zfar="5" shadowclip="2"/>
  </visual>
  <statistic center="0 0 0" extent="3.5"/>
  <asset>
    <material name="paint" specular="0.35" shininess="0.4"/>
    <material name="floor" rgba="0.72 0.71 0.69 1" specular="0"/>
    {"".join(meshes)}
  </asset>
  <worldbody>
    <light name="sun" directional="true" diffuse="0.62 0.62 0.6" specular="0.4 0.4 0.4" ambient="0 0 0"/>
    <geom name="ground" type="plane" size="6 6 6" material="floor"/>
    {"".join(bodies)}
  </worldbody>
</mujoco>"""
