"""Agents of your own, in NumPy. In this folder:

implicature evaluate --teacher my_agents:teacher --student my_agents:student
implicature evaluate --teacher my_agents:teacher --student RUN
"""

import numpy as np


def teacher(sees):
    """She values a true word by how few of the candidates it fits, and does not repeat herself."""
    value = np.where(sees.candidates[sees.target] > 0, -sees.candidates.sum(axis=0), -np.inf)
    value[sees.messages[sees.messages >= 0]] = -99
    return value


def student(sees):
    """He believes in whom all words fit, the more so the fewer others would have done, and waits while in doubt."""
    heard = sees.messages[sees.messages >= 0]
    belief = sees.candidates[:, heard].prod(axis=1) / sees.candidates.sum(axis=1) + 1e-9
    return belief, float(belief.max() < 0.9 * belief.sum())
