"""The stages of a run: pretraining of each agent, then the two halves of each phase; how each begins and ends."""

from dataclasses import dataclass
from typing import Literal

import equinox as eqx
from jaxtyping import PyTree

from implicature.agents.contracts import Pair
from implicature.agents.teacher import LearnedTeacher
from implicature.games.rules import Rules
from implicature.training.config import Config
from implicature.training.optimiser import Learner, init_learner
from implicature.training.replay import TeacherState, init_teacher_state


@dataclass(frozen=True)
class Stage:
    """Pretraining of one agent (phase 0), one half of a phase, or a phase in which both learn together."""

    phase: int
    agent: Literal["teacher", "student", "both"]
    iterations: int


def stages(config: Config, in_turns: bool = True) -> list[Stage]:
    """The two outer loops of Algorithm 1 (lines 4 and 5), after pretraining. A baseline's agents do not take turns."""
    pretraining = config.grounding.pretraining_iterations
    if not config.grounding.grounded and config.encoder.encoder == "none":
        pretraining = 0
    turns = ("teacher", "student") if config.method.first_learner == "teacher" else ("student", "teacher")
    before = [Stage(0, agent, pretraining) for agent in turns if pretraining]
    agents = turns if in_turns else ("both",)
    phases = range(1, config.optimiser.phases + 1)
    return before + [Stage(phase, agent, config.optimiser.iterations) for phase in phases for agent in agents]


def phase_name(config: Config, phase: int) -> str:
    """Phase 0 is grounding, or, without it, the pretraining of image encoders."""
    return f"phase {phase}" if phase else "grounding" if config.grounding.grounded else "image encoder"


def init_state(stage: Stage, pair: Pair, config: Config, rules: Rules) -> PyTree:
    """The learner's state at the start of a stage (line 6). An encoder that is not finetuned is not part of it."""
    optimiser = config.optimiser
    encoders = {"teacher": pair.teacher_encoder, "student": pair.student_encoder}
    if stage.phase == 0:
        agent, rate = getattr(pair, stage.agent), config.grounding.pretraining_learning_rate
        return init_learner((agent.net, encoders[stage.agent]), optimiser, stage.iterations, rate)
    if config.encoder.encoder != "finetuned":
        encoders = dict.fromkeys(encoders)
    if stage.agent == "teacher":
        assert isinstance(pair.teacher, LearnedTeacher)
        return init_teacher_state(pair.teacher, encoders["teacher"], config, rules)
    if stage.agent == "student":
        return init_learner((pair.student, encoders["student"]), optimiser, stage.iterations)
    both = Pair(pair.teacher, pair.student, encoders["teacher"], encoders["student"])
    return init_learner(both, optimiser, stage.iterations)


def merge(stage: Stage, pair: Pair, state: Learner | TeacherState) -> Pair:
    """The pair with what the learner has learned so far."""
    model = state.learner.model if isinstance(state, TeacherState) else state.model
    if stage.agent == "both":
        return Pair(
            model.teacher,
            model.student,
            model.teacher_encoder or pair.teacher_encoder,
            model.student_encoder or pair.student_encoder,
        )
    agent, encoder = model
    if stage.phase == 0:
        agent = eqx.tree_at(lambda agent: agent.net, getattr(pair, stage.agent), agent)
    if stage.agent == "teacher":
        return Pair(agent, pair.student, encoder or pair.teacher_encoder, pair.student_encoder)
    return Pair(pair.teacher, agent, pair.teacher_encoder, encoder or pair.student_encoder)
