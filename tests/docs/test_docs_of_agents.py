"""The Python in docs/environments.md, docs/own-agents.md, docs/language.md and examples/my_agents.py does what the
pages say."""

import re
import sys
from dataclasses import fields, make_dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from commands import ROOT, blocks
from safetensors.numpy import load_file

import implicature
from implicature.evaluation.export import write_dialogues
from implicature.evaluation.matchup import load_matchup
from implicature.evaluation.matchup_args import MatchupArgs

pytest.importorskip("pettingzoo")


def programs(page: str) -> list[str]:
    return [block.lines[0] for block in blocks(ROOT / "docs" / page) if block.language == "python" and block.by]


def test_the_environments_of_the_page_run(capsys: pytest.CaptureFixture[str]):
    zoo, batch, appointment, appointments = programs("environments.md")
    exec(zoo, {})
    assert re.search(r"She says “\d”.*he (picks|waits)", capsys.readouterr().out)
    known: dict[str, Any] = {}
    exec(batch, known)
    # She spoke, nobody answered yet.
    assert known["reward"].shape == (1024,)
    assert not known["over"].any()
    assert not known["states"].teacher_turn.any()
    exec(appointment, {})
    assert re.match(r"player_0 ■■□■□□■■\nplayer_1 □□□■■□□□\nplayer_0 (says|answers)", capsys.readouterr().out)
    exec(appointments, known)
    # The first message that is true: nobody broke the rules.
    assert known["reward"].tolist() == pytest.approx([-0.1] * 1024)
    assert not known["over"].any()


@pytest.mark.parametrize("source", ["docs", "example"])
def test_the_agents_of_the_page_and_of_the_example_play_a_game(source: str):
    known: dict[str, Any] = {}
    page = "\n".join(programs("own-agents.md"))
    exec(page if source == "docs" else (ROOT / "examples" / "my_agents.py").read_text(encoding="utf-8"), known)
    env, success = implicature.jax_env(games=20), 0
    games, transition = env.games, jax.jit(lambda state, action: env.transition(state, action))
    for row in range(20):
        state = env.begin(jax.random.key(0), jax.tree.map(lambda leaf, row=row: leaf[row], games))
        observation = jax.tree.map(np.asarray, env.observe_teacher(state))
        message = int(np.argmax(known["teacher"](observation)))
        assert observation.candidates[observation.target, message] == 1
        state, _, _ = transition(state, jnp.asarray(message))
        belief, wait = known["student"](jax.tree.map(np.asarray, env.observe_student(state)))
        assert 0 <= wait <= 1
        success += int(transition(state, jnp.asarray(np.argmax(belief)))[1])
    assert success > 10


EGG = ("sender_input", "receiver_input", "labels", "aux_input", "message", "receiver_output", "message_length", "aux")
"""The fields of egg.core.Interaction, which needs PyTorch, as does safetensors.torch: stand-ins take their place."""


def test_an_interaction_of_egg_is_made_of_exported_dialogues_as_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    core, torch = ModuleType("egg.core"), ModuleType("safetensors.torch")
    vars(core)["Interaction"] = make_dataclass("Interaction", EGG)
    vars(torch)["load_file"] = load_file
    for name, module in (("egg", ModuleType("egg")), ("egg.core", core), ("safetensors.torch", torch)):
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.chdir(tmp_path)
    write_dialogues(Path("dialogues.safetensors"), load_matchup("exact", "exact", MatchupArgs(games=20)))
    known: dict[str, Any] = {}
    (program,) = programs("language.md")
    exec(program, known)
    made = known["interaction"]
    assert {field.name for field in fields(made)} == set(EGG)
    assert made.sender_input.shape == (20, 10)
    assert made.aux_input.keys() == {"instances", "target"}
    assert made.aux.keys() == {"answer", "acc", "pair", "belief", "estimate", "values"}
