""" "Some of the boys came": why do we hear "not all of them"?

"Some" is true where all came, too. But then she would have said "all", so "some" comes to mean some but not all. With
start="indicator" the literal student only asks which candidates the word is true of, so he starts undecided.
"""

import jax.numpy as jnp

from implicature.agents.rsa import soft_recursion
from implicature.spaces.space import space_from_sets

labels = ("some but not all", "all")
space = space_from_sets("boys", [["some"], ["some", "all"]])
recursion = soft_recursion(jnp.asarray(space.table), depth=4, start="indicator")

some = space.attributes.index("some")
print('Belief after "some of the boys came":')
for depth, student in enumerate(recursion.student):
    print(f"  depth {depth}:", "   ".join(f"{labels[o]} {student[o, some]:6.1%}" for o in range(space.instances)))
