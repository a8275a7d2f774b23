"""Agents of your own, in NumPy. In this folder:

implicature evaluate --teacher my_agents:teacher --student my_agents:student
implicature evaluate --teacher my_agents:teacher --student RUN
"""

import numpy as np


def teacher(observation):
    """She prefers a true word that fits few candidates, and does not repeat one."""
    candidates, sent = observation.candidates, observation.messages[observation.messages >= 0]
    values = np.where(candidates[observation.target] > 0, -candidates.sum(axis=0), -np.inf)
    values[sent] = -99
    return values


def student(observation):
    """He believes in candidates that all words fit, more in those with few attributes, and waits while uncertain."""
    candidates, heard = observation.candidates, observation.messages[observation.messages >= 0]
    belief = candidates[:, heard].prod(axis=1) / candidates.sum(axis=1) + 1e-9
    return belief, float(belief.max() < 0.9 * belief.sum())
