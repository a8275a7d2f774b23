"""A blue sphere, a red sphere and a blue cone: which of them is "the blue one"?

Literally either of the two blue ones. But for the cone she would have said "cone", so "blue" comes to mean the sphere.
"""

from pathlib import Path

import jax.numpy as jnp

from implicature.agents.rsa import soft_recursion
from implicature.spaces.io import load_space

space = load_space(Path(__file__).with_name("three-objects.csv"))
both = soft_recursion(jnp.asarray(space.table), depth=4)

blue = space.attributes.index("blue")
print('What he believes after "blue":')
for depth, student in enumerate(both.student):
    beliefs = (f"{' '.join(space.names(o))} {student[o, blue]:6.1%}" for o in range(space.instances))
    print(f"  depth {depth}:", "   ".join(beliefs))
