"""Methods of training: how a pair is made, who learns in a phase, and the step that each stage repeats.

pragmatic            Algorithm 1: teacher and student in turns, each against the other fixed
la-2017, la-2018     baselines whose agents learn together (joint.py)
module:object        a `Method` of one's own (docs/extending.md)
"""

from dataclasses import dataclass

from implicature.agents.contracts import Pair
from implicature.agents.perspectives import FeatureTable
from implicature.extensions import look_up
from implicature.training.algorithm1 import student_step, teacher_step
from implicature.training.config import Config
from implicature.training.joint import joint_step
from implicature.training.optimiser import Step
from implicature.training.pairs import NEW_PAIR, NewPair
from implicature.training.seeds import MakeStep, Setup
from implicature.training.stages import Stage, stages


@dataclass(frozen=True)
class Method:
    new_pair: NewPair
    """A new pair from (key, config, observations, number of messages)."""
    make_step: MakeStep
    """The step that a stage of a phase repeats: (stage, setup, pair, features) → step. Pretraining is the same for
    all methods."""
    in_turns: bool = True
    """Whether a phase is the teacher's half and the student's, or one stage in which both learn."""


def turn_step(stage: Stage, setup: Setup, pair: Pair, features: FeatureTable) -> Step:
    """Algorithm 1: the step of the agent whose turn it is."""
    if stage.agent == "teacher":
        return teacher_step(setup.config, setup.data, setup.rules, pair.student, features)
    return student_step(setup.config, setup.data, setup.rules, pair.teacher, features)


def together_step(stage: Stage, setup: Setup, pair: Pair, features: FeatureTable) -> Step:
    return joint_step(setup.config, setup.data, setup.rules, features)


METHODS: dict[str, Method] = {
    "pragmatic": Method(NEW_PAIR["pragmatic"], turn_step),
    "la-2017": Method(NEW_PAIR["la-2017"], together_step, in_turns=False),
    "la-2018": Method(NEW_PAIR["la-2018"], together_step, in_turns=False),
}


def find_method(config: Config) -> Method:
    name = config.method.method
    method = look_up(METHODS, name, "a method")
    if not isinstance(method, Method):
        raise ValueError(f"{name} is {type(method).__name__}, not a method: make it a Method (training/methods.py).")
    return method


def plan(config: Config) -> list[Stage]:
    """All stages of a run."""
    return stages(config, find_method(config).in_turns)
