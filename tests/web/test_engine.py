"""The page's own computations against Python's: the exact recursion, the trained pair's network, people's answers."""

import json
from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from playwright.sync_api import Browser, Page

from implicature.agents.belief import posterior
from implicature.agents.rsa import greedy_accuracy, soft_recursion
from implicature.games.context import Context
from implicature.games.registry import load_space
from implicature.games.rules import Rules
from implicature.web.players import PRETRAINED, RunPairs

pytestmark = [pytest.mark.slow, pytest.mark.browser]
N_GAMES, CANDIDATES, WORDS, DEPTH = 1000, 5, 7, 4
BETAS = (0.5, 2.0, 10.0, 20.0)


@pytest.fixture(scope="module")
def engine(browser: Browser, site: str) -> Iterator[Page]:
    """A page of the site's origin, in which its modules are imported."""
    page = browser.new_context().new_page()
    page.goto(f"{site}data/site.json")
    yield page
    page.context.close()


@pytest.fixture(scope="module")
def games() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random tables, priors and rationalities; some candidates have no word, some words no candidate."""
    random = np.random.default_rng(0)
    truth = random.random((N_GAMES, CANDIDATES, WORDS)) < 0.4
    prior = random.dirichlet(np.ones(CANDIDATES), N_GAMES)
    return truth, prior, random.uniform(0, 20, N_GAMES)


def solve_in_browser(engine: Page, games: list[dict]) -> list[dict]:
    return engine.evaluate(
        """async (games) => {
          const { recursion, greedyAccuracy } = await import("/engine/rsa.js");
          return games.map(({ truth, settings, prior, costs }) => {
            const solved = recursion(truth, settings, prior, costs);
            return { ...solved, accuracy: greedyAccuracy(truth, solved.student.at(-1)) };
          });
        }""",
        games,
    )


@pytest.mark.parametrize("start", ["share", "indicator"])
def test_a_thousand_games_have_the_beliefs_of_the_exact_recursion(engine: Page, games, start):
    truth, prior, _ = games
    groups = np.arange(N_GAMES) % len(BETAS)
    solved = solve_in_browser(
        engine,
        [
            {"truth": t.astype(int).tolist(), "prior": p.tolist(),
             "settings": {"depth": DEPTH, "rationality": BETAS[group], "start": start}}
            for t, p, group in zip(truth, prior, groups, strict=True)
        ],
    )  # fmt: skip
    computed = {name: np.array([one[name] for one in solved]) for name in ("teacher", "student", "accuracy")}
    for group, beta in enumerate(BETAS):

        @jax.jit
        @jax.vmap
        def solve(truth, prior, beta=beta):
            solved = soft_recursion(truth, DEPTH, beta, start, prior)
            accuracy = greedy_accuracy(truth, solved.student[-1], solved.student[-1])
            return {"teacher": solved.teacher, "student": solved.student, "accuracy": accuracy}

        own = groups == group
        expected = jax.device_get(solve(jnp.asarray(truth[own]), jnp.asarray(prior[own], jnp.float32)))
        np.testing.assert_allclose(computed["teacher"][own], expected["teacher"], atol=5e-5)
        np.testing.assert_allclose(computed["student"][own], expected["student"], atol=5e-5)
        # Where two values are nearly tied, float32 and float64 may disagree about the tie itself.
        assert np.isclose(computed["accuracy"][own], expected["accuracy"], atol=1e-4).mean() > 0.99


def textbook(truth: np.ndarray, prior: np.ndarray, costs: np.ndarray, alpha: float, depth: int) -> np.ndarray:
    """L_depth of the usual rational speech act: S ∝ exp(α (log L − cost)), L ∝ prior · S, literal L ∝ prior · truth."""
    listener = prior[:, None] * truth
    listener = listener / listener.sum(axis=0)
    for _ in range(depth):
        with np.errstate(divide="ignore"):
            speaker = np.where(truth, np.exp(alpha * (np.log(listener) - costs)), 0)
        speaker = speaker / speaker.sum(axis=1, keepdims=True)
        listener = prior[:, None] * speaker
        listener = listener / listener.sum(axis=0)
    return listener


def test_log_utility_costs_and_prior_are_those_of_the_textbook(engine: Page, games):
    random = np.random.default_rng(1)
    chosen, expected = [], []
    for truth, prior, alpha in zip(*(part[:400] for part in games), strict=True):
        truth = truth.copy()
        truth[np.arange(CANDIDATES), np.arange(CANDIDATES)] = True  # each candidate has a word,
        truth[0, CANDIDATES:] = True  # and each word a candidate
        costs, depth = random.uniform(0, 1, WORDS), int(random.integers(0, 4))
        settings = {"depth": depth, "rationality": alpha / 4, "utility": "log", "start": "indicator"}
        chosen.append(
            {
                "truth": truth.astype(int).tolist(),
                "prior": prior.tolist(),
                "costs": costs.tolist(),
                "settings": settings,
            }
        )
        expected.append(textbook(truth, prior, costs, alpha / 4, depth))
    solved = solve_in_browser(engine, chosen)
    np.testing.assert_allclose([one["student"][-1] for one in solved], expected, atol=1e-6)


def test_frank_and_goodmans_example_by_hand(engine: Page):
    """Blue square, blue circle, green square; α = 1, no costs. "blue": L_0 is 1/2 each. The square's words are blue and
    square, each 1/2: S_1 = 1/2. The circle's are blue (1/2) and circle (1): S_1(blue) = 1/3. L_1(square) = 3/5."""
    truth = [[1, 0, 1, 0], [1, 0, 0, 1], [0, 1, 1, 0]]
    (solved,) = solve_in_browser(
        engine, [{"truth": truth, "settings": {"depth": 1, "rationality": 1, "utility": "log", "start": "indicator"}}]
    )
    assert [row[0] for row in solved["student"][1]] == pytest.approx([0.6, 0.4, 0])


@pytest.mark.parametrize("phase", [0, 3])
def test_the_network_in_the_browser_is_the_network_in_python(engine: Page, phase: int):
    space, random = load_space("numbers-10"), np.random.default_rng(phase)
    contexts = [space.table[random.choice(space.instances, 4, replace=False)] for _ in range(40)]
    targets = random.integers(0, 4, 40).tolist()
    computed = engine.evaluate(
        """async ([games, targets, phase]) => {
          const { parseSafetensors, encode, posterior, qValues, waitProbability } = await import("/engine/exchange.js");
          const tensors = parseSafetensors(await (await fetch(`/data/pair/phase-${phase}.safetensors`)).arrayBuffer());
          const { pair } = await (await fetch("/data/site.json")).json();
          const uniform = [0.25, 0.25, 0.25, 0.25];
          return games.map((features, i) => {
            const student = encode(tensors, "student", features, pair.lapse_rate);
            const belief = posterior(student.likelihood, uniform);
            return {
              likelihood: student.likelihood, belief, wait: waitProbability(tensors, belief.map((row) => row[0])),
              values: qValues(tensors, encode(tensors, "teacher", features, pair.lapse_rate), targets[i], uniform),
            };
          });
        }""",
        [[context.astype(int).tolist() for context in contexts], targets, phase],
    )
    pair = RunPairs(PRETRAINED).load()[phase].pair

    @jax.jit
    def in_python(truth, target):
        context = Context(features=truth.astype(jnp.float32), lexicon=truth, prior=jnp.full(4, 0.25))
        encoding, state = pair.student.encode(context), pair.teacher.init_state(context, Rules(4))
        belief = posterior(encoding.log_likelihood, context.prior)
        wait = pair.student.policy(type(state)(belief[:, 0]), jnp.asarray(False))[-1]
        values = pair.teacher.values(pair.teacher.encode(context), target, state)
        return {"likelihood": jnp.exp(encoding.log_likelihood), "belief": belief, "wait": wait, "values": values}

    for truth, target, there in zip(contexts, targets, computed, strict=True):
        for name, here in in_python(jnp.asarray(truth), jnp.asarray(target)).items():
            np.testing.assert_allclose(there[name], here, atol=1e-4, err_msg=name)


def test_people_are_found_by_the_structure_of_the_item_whatever_its_objects(engine: Page):
    """Qing & Franke's green circle is the one of its colour without a word of its own: here the blue sphere."""
    found = engine.evaluate(
        """async () => {
          const { makeContext } = await import("/engine/context.js");
          const { peopleFor, speakersFor } = await import("/engine/people.js");
          const { people, spaces } = await (await fetch("/data/site.json")).json();
          const space = spaces.find((one) => one.name === "three-objects");
          const context = makeContext(space, [["red", "sphere"], ["blue", "cone"], ["blue", "sphere"]]);
          const asked = (word) => peopleFor(people, context, context.words.indexOf(word));
          return [asked("blue"), asked("red"), context.words, speakersFor(people, context, 1)];
        }"""
    )
    blue, red, words, cone = found
    assert [one["source"] for one in blue] == ["Qing & Franke 2015", "Frank & Goodman 2012"]
    assert blue[0]["shares"] == pytest.approx([0, 65 / 180, 115 / 180])
    assert red == []
    # 33 people bet on what to say for the one that shares its colour and has a shape of its own: 25 % and 75 %.
    ((source, n, shares),) = ((one["source"], one["n"], one["shares"]) for one in cone)
    assert (source, n) == ("Frank & Goodman 2012", 33)
    assert dict(zip(words, shares, strict=True)) == pytest.approx(
        {"blue": 8.37 / 33, "cone": 24.63 / 33, "sphere": 0, "red": 0}, abs=1e-3
    )


def test_all_neutral_items_of_the_published_data_are_on_the_page(site_folder):
    items = json.loads((site_folder / "data" / "site.json").read_text())["people"]
    numbers = {
        (role, source): sum(one["n"] for one in items if (one["role"], one["source"]) == (role, source))
        for role, source in {(one["role"], one["source"]) for one in items}
    }
    # The README of evaluation/human: 265 listeners and 198 speakers, 180 people, 59 and 58 people with 24 answers each.
    assert numbers == {
        ("listener", "Frank & Goodman 2012"): 265, ("speaker", "Frank & Goodman 2012"): 198,
        ("listener", "Qing & Franke 2015"): 180,
        ("listener", "Franke & Degen 2016"): 59 * 24, ("speaker", "Franke & Degen 2016"): 58 * 24,
        ("listener", "Frank et al. 2016"): 52 + 58 + 62 + 49 + 46 + 46 + 60 + 93 + 89,
    }  # fmt: skip


def test_the_site_is_small(site_folder):
    files = {
        path.relative_to(site_folder).as_posix(): path.stat().st_size
        for path in site_folder.rglob("*")
        if path.is_file()
    }
    assert sum(files.values()) < 1_000_000
    assert json.loads((site_folder / "data" / "site.json").read_text())["server"] is False
    # The first screen waits for one round of requests: a page announces all its modules itself.
    appointment = {"engine/appointment.js", "vendor/htm-preact.js"}
    modules = {name for name in files if name.endswith(".js")} - {"main.js", "appointment.js"}
    for page, own in {"index": modules - {"engine/appointment.js"}, "appointment": appointment}.items():
        html = (site_folder / f"{page}.html").read_text()
        assert {name for name in modules if f'href="{name}"' in html} == own


def test_no_address_breaks_the_page(engine: Page):
    """Any combination of values is a whole game, in which she has a word for the target, or one sentence."""
    values = {
        "mode": ["story", "student", "teacher", "reasoning", "watch", "x"],
        "game": ["numbers-4", "objects-7", "some-all", "three-objects", "faces", "own", "custom"],
        "objects": [
            "blue.sphere_red.sphere_blue.cone",
            "-_hat_hat.glasses",
            "-_-",
            "1.2_2.3",
            "some_some.all",
            "__",
            "a",
        ],
        "target": ["1", "3", "9", "-1"],
        "key": ["0", "2", "x"],
        "agent": ["exact", "trained", "run"],
        "variant": ["0", "3", "6", "50"],
        "rounds": ["1", "4", "0"],
        "pragmatic_only": ["0"],
        "mind": ["0", "2", "3"],
        "candidates": ["2", "12", "99"],
        "prior": ["1-2-3", "5", "x"],
        "costs": ["blue.50", "red", "1.10_2.5"],
        "partner": ["literal", "hidden", "trained"],
        "step": ["0", "5", "19"],
        "word": ["blue", "nonsense"],
        "seed": ["1"],
    }
    random = np.random.default_rng(3)
    queries = []
    for _ in range(3000):
        names = random.choice(list(values), int(random.integers(1, 6)), replace=False)
        queries.append("&".join(f"{name}={random.choice(values[name])}" for name in names))
    broken = engine.evaluate(
        """async (queries) => {
          const { completeAddress, contextOf } = await import("/dealing.js");
          const { exactAgent, speak } = await import("/engine/agents.js");
          const { readAddress, writeAddress } = await import("/url.js");
          const site = await (await fetch("/data/site.json")).json();
          const env = { site, about: null, own: null };
          const agent = exactAgent({ depth: 1, rationality: 10, utility: "belief" });
          return queries.filter((query) => {
            try {
              const { address, error } = readAddress(`?${query}`, site, null);
              if (error) return !error.endsWith(".");
              const whole = completeAddress(address, env);
              if (whole.mode === "story") return false;
              const context = contextOf(whole, env);
              // The address that the page writes is read as the same game.
              const again = completeAddress(readAddress(writeAddress(whole), site, null).address, env);
              const isSame = contextOf(again, env).key === context.key && again.target === whole.target
                && again.mind === whole.mind;
              const word = whole.mode === "reasoning" ? 0 : speak(agent, context, whole.target, context.prior, []);
              return !isSame || !context.candidates[whole.target] || context.words[word] === undefined;
            } catch (problem) {
              return true;
            }
          });
        }""",
        queries,
    )
    assert broken == []


def test_a_teachers_games_have_words_that_work_but_fewer_than_half(engine: Page):
    shares = engine.evaluate(
        """async () => {
          const { completeAddress, contextOf, MINDS, workingWords } = await import("/dealing.js");
          const { START } = await import("/url.js");
          const site = await (await fetch("/data/site.json")).json();
          const env = { site, about: null, own: null };
          let state = 1; // the same games on every run
          const random = () => { state = (Math.imul(state, 1664525) + 1013904223) >>> 0; return state / 2 ** 32; };
          return Object.keys(MINDS).flatMap((mind) => Array.from({ length: 20 }, (_, i) => {
            // A hidden partner, or one who is known.
            const address = i % 2 ? completeAddress({ ...START, mode: "teacher" }, env, random, mind)
              : completeAddress({ ...START, mode: "teacher", partner: mind }, env, random, "deep");
            const context = contextOf(address, env);
            const words = workingWords(context, MINDS[mind], address.target).length;
            return words / context.truth[address.target].filter(Boolean).length;
          }));
        }"""
    )
    assert np.mean([0 < share < 0.5 for share in shares]) > 0.95


def test_her_second_word_is_a_new_one_where_it_is_as_good(engine: Page):
    repeated = engine.evaluate(
        """async () => {
          const { exactAgent, follow, speak } = await import("/engine/agents.js");
          const { drawCandidates, makeContext } = await import("/engine/context.js");
          const { spaces } = await (await fetch("/data/site.json")).json();
          const space = spaces.find((one) => one.name === "numbers-7");
          const agent = exactAgent({ depth: 3, rationality: 10, utility: "belief" });
          return Array.from({ length: 200 }, () => {
            const context = makeContext(space, drawCandidates(space, 7, Math.random));
            const first = speak(agent, context, 0, context.prior, []);
            const [{ after }] = follow(agent, context, 0, [first]);
            const second = speak(agent, context, 0, after, [first]);
            const values = agent.values(context, 0, after);
            const others = values.filter((value, m) => m !== first && value !== null);
            return second === first && values[first] - Math.max(...others) < 0.01;
          }).filter(Boolean).length;
        }"""
    )
    assert repeated == 0
