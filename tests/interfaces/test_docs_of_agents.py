"""The Python in docs/environments.md, docs/own-agents.md and examples/my_agents.py does what is said there."""

import re
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import implicature

pytest.importorskip("pettingzoo")
ROOT = Path(__file__).parents[2]


def blocks(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / "docs" / page).read_text(encoding="utf-8"), re.DOTALL)


def test_the_environments_of_the_page_run(capsys: pytest.CaptureFixture[str]):
    zoo, batch = blocks("environments.md")
    exec(zoo, {})
    assert re.search(r"She says “\d”.*he (picks|waits)", capsys.readouterr().out)
    known: dict[str, Any] = {}
    exec(batch, known)
    # She spoke, nobody answered yet.
    assert known["reward"].shape == (1024,)
    assert not known["over"].any()
    assert not known["states"].speaking.any()


@pytest.mark.parametrize("source", ["docs", "example"])
def test_the_agents_of_the_page_and_of_the_example_answer_for_their_game(source: str):
    known: dict[str, Any] = {}
    page = "\n".join(blocks("own-agents.md"))
    exec(page if source == "docs" else (ROOT / "examples" / "my_agents.py").read_text(encoding="utf-8"), known)
    env, found = implicature.jax_env(games=20), 0
    game, play = env.games, jax.jit(lambda state, action: env.play(state, action))
    for row in range(20):
        state = env.begin(jax.random.key(0), type(game)(game.candidates[row], game.target[row], game.order[row]))
        sees = type(env.teacher_sees(state))(*map(np.asarray, env.teacher_sees(state)))
        message = int(np.argmax(known["teacher"](sees)))
        assert sees.candidates[sees.target, message] == 1
        state, _, _ = play(state, jnp.asarray(message))
        heard = type(env.student_sees(state))(*map(np.asarray, env.student_sees(state)))
        belief, wait = known["student"](heard)
        assert 0 <= wait <= 1
        found += int(play(state, jnp.asarray(np.argmax(belief)))[1])
    assert found > 10
