"""A blue sphere, a red sphere and a blue cone: which of them is "the blue one"?

Literally, either of the two blue ones. But for the cone she would have said "cone", so "blue" comes to mean the sphere.
"""

from pathlib import Path

import jax.numpy as jnp

from implicature.agents.rsa import soft_recursion
from implicature.spaces.io import read_space

space = read_space(Path(__file__).with_name("three-objects.csv"))
recursion = soft_recursion(jnp.asarray(space.table), depth=4)

blue = space.attributes.index("blue")
print('Belief after "blue":')
for depth, student in enumerate(recursion.student):
    beliefs = (f"{' '.join(space.names(o))} {student[o, blue]:6.1%}" for o in range(space.instances))
    print(f"  depth {depth}:", "   ".join(beliefs))
