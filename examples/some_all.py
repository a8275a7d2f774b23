""" "Some of the boys came": why do we hear "not all of them"?

"Some" is true where all came, too. But then she would have said "all", so "some" comes to mean some but not all. With
start="indicator" the literal student makes nothing of how much else she could have said: he begins undecided.
"""

import jax.numpy as jnp

from implicature.agents.rsa import soft_recursion
from implicature.spaces.space import space_of_sets

came = ("some but not all", "all")
space = space_of_sets("boys", [["some"], ["some", "all"]])
both = soft_recursion(jnp.asarray(space.table), depth=4, start="indicator")

some = space.attributes.index("some")
print('What he believes after "some of the boys came":')
for depth, student in enumerate(both.student):
    print(f"  depth {depth}:", "   ".join(f"{came[o]} {student[o, some]:6.1%}" for o in range(space.instances)))
