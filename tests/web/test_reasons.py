"""Every claim in the page's reasons is true: 10,000 random games, sentence by sentence, against tables computed here.

The games have one round or several, true words and untrue ones, any depth, rationality, utility, cost and prior. The
check reads the sentence as a person does and knows nothing of how it was made.
"""

import math
import re

import numpy as np
import pytest
from playwright.sync_api import Page

pytestmark = [pytest.mark.slow, pytest.mark.browser]
N_GAMES, N_TABLES, N_TRAINED = 10_000, 300, 300
NEAR_TIE = {"exact": 0.98, "trained": 0.75}
ROUNDING = 0.00501
"""A percentage is rounded to whole ones."""

TELL_IN_BROWSER = """async (games) => {
  const { exactAgent, follow } = await import("/engine/agents.js");
  const { HE, HE_OF_YOU, reason, YOU } = await import("/engine/reasons.js");
  return games.map(({ context, settings, target, words }, i) => {
    const agent = { ...exactAgent(settings), start: settings.start };
    const who = [HE, YOU, HE_OF_YOU][i % 3];
    return follow(agent, context, target, words).map((round) => reason(context, round, agent, target, who));
  });
}"""
SAID_OF_HIM = {
    "Before it there was hardly a reason to believe in": "Before it he hardly believed in",
    "it tells you nothing new": "it tells him nothing new",
    "so you cannot tell": "so he cannot tell",
    "so it must be": "so he is sure of",
    "so it is most likely": "so he believes in",
    "so it may rather be": "so he leans to",
    "taken literally, it may be any true word": "he takes her to say any true word",
    "taken literally, it only tells what it is true of": "he asks only what it is true of",
    "he takes you to say": "he takes her to say",
    "you would": "she would",
}
"""What is said to the person who plays, student or teacher, and what is said of two others in its place."""

CELLS_IN_BROWSER = """async (games) => {
  const { cellReason } = await import("/engine/reasons.js");
  const { recursionSteps } = await import("/ui/table.js");
  return games.map(({ context, settings }) => recursionSteps(context, settings).map((step) => ({
    kind: step.kind, depth: step.depth,
    cells: context.truth.map((row, o) => row.map((_, m) => cellReason(context, step, o, m))),
  })));
}"""


def normalize(weights: list[float]) -> list[float]:
    total = sum(weights)
    return [weight / total for weight in weights] if total > 0 else weights


def logarithm(number: float) -> float:
    return math.log(number) if number > 0 else -math.inf


def exponentiate(logarithms: list[float]) -> list[float]:
    top = max(logarithms)
    return normalize([math.exp(one - top) for one in logarithms]) if top > -math.inf else [0.0] * len(logarithms)


def tables(context: dict, settings: dict, belief: list[float]) -> tuple[list[list[float]], list[list[float]]]:
    """S_t by candidate and L_t by word, in logarithms where β is large, from the definitions in agents/rsa.py."""
    truth, words = context["truth"], range(len(context["words"]))
    share = settings["start"] == "share"
    log_s = [[logarithm(x / max(1, sum(row)) if share else x) for x in row] for row in truth]
    listener = [belief for _ in words]

    def listen(previous: list[list[float]]) -> list[list[float]]:
        heard = [exponentiate([logarithm(b) + row[m] for b, row in zip(belief, log_s, strict=True)]) for m in words]
        return [new if sum(new) > 0 else old for new, old in zip(heard, previous, strict=True)]

    listener = listen(listener)
    for _ in range(settings["depth"]):
        value = logarithm if settings["utility"] == "log" else float
        log_s = [
            [settings["rationality"] * (value(listener[m][o]) - context["costs"][m]) if x else -math.inf
             for m, x in enumerate(row)]
            for o, row in enumerate(truth)
        ]  # fmt: skip
        log_s = [[x - max(row) - math.log(sum(math.exp(y - max(row)) for y in row)) for x in row]
                 if max(row) > -math.inf else row for row in log_s]  # fmt: skip
        listener = listen(listener)
    return [[math.exp(x) for x in row] for row in log_s], listener


class Claims:
    """One sentence against one round: which candidates, words and percentages it names, and whether they are so."""

    def __init__(self, context: dict, kind: str, target: int):
        self.names = {one["label"]: o for o, one in enumerate(context["candidates"])}
        self.words = {word: m for m, word in enumerate(context["words"])}
        self.truth, self.target, self.near_tie = context["truth"], target, NEAR_TIE[kind]

    def candidates(self, text: str) -> tuple[set[int], int]:
        """The candidates named in "a, b and 2 more", and how many are not named."""
        more = re.search(r"(\d+) more$", text)
        named = {self.names[name] for name in re.findall(r"C\d+", text)}
        return named, int(more[1]) if more else 0

    def agrees(self, stated: str, p: float) -> bool:
        if stated == "under 1%":
            return 0 < p < 0.005 + 1e-6
        if stated == "over 99%":
            return 0.995 - 1e-6 <= p < 1 + 1e-9
        return abs(int(stated[:-1]) / 100 - p) <= ROUNDING

    def same(self, text: str, expected: set[int]) -> None:
        named, more = self.candidates(text)
        assert named <= expected
        assert len(named) + more == len(expected)

    def check(
        self,
        sentence: str,
        word: int,
        before: list[float],
        after: list[float],
        speaker: list[list[float]],
        depth: int | None,
    ) -> None:
        for to_the_player, of_him in SAID_OF_HIM.items():
            for one, other in ((to_the_player, of_him), (to_the_player.capitalize(), of_him.capitalize())):
                sentence = sentence.replace(one, other)
        fits = {o for o, row in enumerate(self.truth) if row[word]}
        possible = {o for o, p in enumerate(before) if p >= 0.01}
        said = next(name for name, m in self.words.items() if m == word)
        rest = sentence
        fit = re.match(rf"“{said}” is true (of (?:none|both|all) of them|only of (C\d+)|of ([^.]+))\. ", rest)
        assert fit
        rest = rest[fit.end() :]
        if fit[1] == "of none of them":
            assert not fits
        elif fit[1].endswith(" of them"):
            assert len(fits) == len(self.truth)
            assert ("both" in fit[1]) == (len(fits) == 2)
        elif fit[2]:
            assert fits == {self.names[fit[2]]}
        else:
            self.same(fit[3], fits)
        lie = re.match(r"It is not true of (C\d+)\. ", rest)
        assert bool(lie) == (self.target not in fits and bool(fits))
        if lie:
            assert self.names[lie[1]] == self.target
            rest = rest[lie.end() :]
        out = re.match(r"Before it he hardly believed in ([^.]+)\. ", rest)
        assert bool(out) == bool(fits - possible)
        if out:
            self.same(out[1], fits - possible)
            rest = rest[out.end() :]
        even = re.match(
            r"Even for (C\d+) she would rather have said ([^(]+) \(([^)]+)\)"
            r"(, but “w\d+” is likelier for it than for any other)?\. ",
            rest,
        )
        if even:
            o = self.names[even[1]]
            self.best_words(even[2], even[3], speaker[o], word, included=False)
            if even[4]:
                assert all(speaker[o][word] > speaker[k][word] for k in possible - {o})
            rest = rest[even.end() :]
        *because, end = re.split(r"(?:^|; )[sS]o (?=he |it )", rest)
        for clause in filter(None, because):
            self.because(clause, word, before, after, speaker, depth)
        self.conclusion(end.rstrip("."), before, after)

    def best_words(self, text: str, stated: str | None, row: list[float], word: int, included: bool) -> None:
        named = {self.words[name] for name in re.findall(r"“(w\d+)”", text)}
        likely = {m for m, p in enumerate(row) if p >= self.near_tie * max(row)}
        more = re.search(r"(\d+) more$", text)
        assert (word in likely) == included
        assert named | ({word} if included else set()) <= likely
        assert len(named - {word}) + (int(more[1]) if more else 0) == len(likely - {word})
        if stated:
            assert self.agrees(stated, sum(row[m] for m in likely) / sum(row))

    def because(
        self,
        text: str,
        word: int,
        before: list[float],
        after: list[float],
        speaker: list[list[float]],
        depth: int | None,
    ) -> None:
        if depth == 0:
            assert text in ("He takes her to say any true word", "He asks only what it is true of")
            return
        text = re.sub(r"; and so on for \d+ more$", "", text)
        for clause in re.split(r"(?:, | and )?[fF]or (?=C\d)", text)[1:]:
            found = re.match(r"(.+?) she would (have said|as soon have said) (.*?)(?:, too)?(?: \(([^)]+)\))?$", clause)
            assert found, clause
            who, _ = self.candidates(found[1])
            for o in who:
                assert self.truth[o][word]
                assert before[o] >= 0.01
                assert after[o] <= max(after)
                too = clause.find(", too") > 0
                included = too or found[2] == "as soon have said"
                if included:
                    assert f"“{next(name for name, m in self.words.items() if m == word)}”" in found[3]
                self.best_words(found[3], found[4], speaker[o], word, included)

    def conclusion(self, text: str, before: list[float], after: list[float]) -> None:
        if text == "it tells him nothing new":
            assert max(abs(a - b) for a, b in zip(after, before, strict=True)) <= 0.00501
            return
        top = {o for o, p in enumerate(after) if p >= max(after) - 1.01e-5}
        found = re.match(
            r"he (?:is sure of|believes in|leans to|cannot tell) (.+?)"
            r"(?: apart)? \(([^)]+?)(?: each)?\)(?:, (?:and )?not (C\d+) \(([^)]+)\))?$",
            text,
        )
        assert found, text
        assert self.agrees(found[2], max(after))
        self.same(found[1], top)
        assert ("sure" in text) == (len(top) == 1 and max(after) >= 0.995)
        lead = max(after) - max(p for o, p in enumerate(after) if o not in top) if len(top) == 1 else 0
        assert abs(lead - 0.1) < 1e-6 or ("leans" in text) == (0 < lead < 0.1)
        assert bool(found[3]) == (self.target not in top)
        if found[3]:
            assert self.names[found[3]] == self.target
            assert self.agrees(found[4], after[self.target])


def random_game(random: np.random.Generator) -> dict:
    n, m, rounds = int(random.integers(2, 7)), int(random.integers(2, 8)), int(random.choice([1, 1, 2, 3]))
    truth = (random.random((n, m)) < random.uniform(0.2, 0.8)).astype(int)
    prior = np.full(n, 1 / n) if random.random() < 0.6 else random.dirichlet(np.ones(n))
    costs = np.zeros(m) if random.random() < 0.6 else random.uniform(0, 0.5, m)
    target = int(random.integers(n))
    true = np.flatnonzero(truth[target])
    lies = random.random() < 0.25 or not len(true)
    context = {
        "truth": truth.tolist(), "words": [f"w{i}" for i in range(m)], "prior": prior.tolist(), "costs": costs.tolist(),
        "candidates": [{"label": f"C{i}"} for i in range(n)], "start": "share", "key": "",
    }  # fmt: skip
    settings = {
        "depth": int(random.integers(0, 5)), "rationality": float(random.choice([0.5, 1, 2, 5, 10, 20])),
        "utility": str(random.choice(["belief", "log"])), "start": str(random.choice(["share", "indicator"])),
    }  # fmt: skip
    words = [int(random.integers(m) if lies else random.choice(true)) for _ in range(rounds)]
    return {"context": context, "settings": settings, "target": target, "words": words}


@pytest.fixture(scope="module")
def engine(browser, site: str) -> Page:
    page = browser.new_context().new_page()
    page.goto(f"{site}data/site.json")
    return page


def test_ten_thousand_reasons_hold_what_they_claim(engine: Page):
    random = np.random.default_rng(2)
    games = [random_game(random) for _ in range(N_GAMES)]
    told, kinds = engine.evaluate(TELL_IN_BROWSER, games), set()
    for game, sentences in zip(games, told, strict=True):
        claims, belief = Claims(game["context"], "exact", game["target"]), game["context"]["prior"]
        for word, sentence in zip(game["words"], sentences, strict=True):
            speaker, listener = tables(game["context"], game["settings"], belief)
            try:
                claims.check(sentence, word, belief, listener[word], speaker, game["settings"]["depth"])
            except (AssertionError, KeyError, StopIteration) as error:
                pytest.fail(
                    f"{sentence}\n{game}\nword {word}, before {belief}, after {listener[word]}\n{speaker}\n{error}"
                )
            kinds.add(re.sub(r"“w\d+”|C\d+|\d+%|\d+ more", "·", sentence).count("·"))
            belief = listener[word]
    assert len(kinds) > 10  # many forms were seen


class Cells:
    """One cell's sentence against tables computed here: who, which words, and how often."""

    def __init__(self, game: dict, kind: str, depth: int):
        context, self.kind, self.depth = game["context"], kind, depth
        self.truth, self.prior = context["truth"], context["prior"]
        at = lambda depth: tables(context, {**game["settings"], "depth": depth}, self.prior)  # noqa: E731
        self.speaker, self.listener = at(depth)
        self.before = at(depth - 1)[1] if depth else None

    def agrees(self, stated: str, p: float) -> bool:
        if stated in ("under 1%", "over 99%"):
            return (p < 0.005 + 1e-6) if stated == "under 1%" else p > 0.995 - 1e-6
        return abs(int(stated[:-1]) / 100 - p) <= ROUNDING

    def check(self, sentence: str, o: int, m: int) -> None:
        if not self.truth[o][m] or self.kind == "truth":
            truth = "is true of it" if self.truth[o][m] else "is not true of it"
            assert sentence.startswith(f"C{o}: “w{m}” {truth}")
            return
        rivals = [k for k, row in enumerate(self.truth) if k != o and row[m]]
        if self.kind == "teacher":
            assert f"C{o} she " in sentence
            share = re.search(rf"“w{m}” \(?((?:under |over )?\d+%)", sentence)
            assert share
            assert self.agrees(share[1], self.speaker[o][m])
            for word, belief in re.findall(r"after “w(\d+)” ((?:under |over )?\d+%)", sentence):
                assert self.before
                assert self.agrees(belief, self.before[int(word)][o])
        elif not rivals:
            assert re.match(rf"When he hears “w{m}”, it can only be C{o} \(.*\)\.$", sentence)
            assert self.listener[m][o] > 1 - 1e-6
        elif self.depth == 0:
            share = re.match(rf"When he hears “w{m}”, he believes in C{o} (.*?): it is true of", sentence)
            assert share
            assert self.agrees(share[1], self.listener[m][o])
        else:
            self.check_change(sentence, o, m, rivals)

    def check_change(self, sentence: str, o: int, m: int, rivals: list[int]) -> None:
        because, end = sentence.split(f". So “w{m}” takes his belief in ")
        change = re.match(rf"C{o} from (.*) to (.*)\.$", end)
        assert change
        assert self.agrees(change[1], self.prior[o])
        assert self.agrees(change[2], self.listener[m][o])
        named = []
        for clause in because.split("; "):
            said = re.match(r"[Ff]or C(\d+) she would (rather )?say (.*)", clause)
            assert said
            k, row = int(said[1]), self.speaker[int(said[1])]
            named.append(k)
            shares = re.findall(r"\(([^)]*)\)", clause)
            assert self.agrees(shares[-1], row[m])
            likely = {word for word, p in enumerate(row) if p >= 0.98 * max(row)}
            assert (m in likely) == (not said[2])
            if said[2]:
                assert {int(word) for word in re.findall(r"“w(\d+)”", said[3].split(" than ")[0])} <= likely
                assert self.agrees(shares[0], sum(row[word] for word in likely))
        assert named == [o, *rivals][:4]


def test_what_every_cell_of_the_table_says_is_so(engine: Page):
    random, checked = np.random.default_rng(4), 0
    games = [random_game(random) for _ in range(N_TABLES)]
    for game, steps in zip(games, engine.evaluate(CELLS_IN_BROWSER, games), strict=True):
        for step in steps:
            cells = Cells(game, step["kind"], step["depth"])
            for o, row in enumerate(step["cells"]):
                for m, sentence in enumerate(row):
                    try:
                        cells.check(sentence, o, m)
                    except (AssertionError, ValueError) as error:
                        pytest.fail(f"{sentence}\n{game}\n{step['kind']} {step['depth']}, cell {o}, {m}\n{error}")
                    checked += 1
    assert checked > 20_000


def test_the_trained_pairs_reasons_hold_what_they_claim(engine: Page):
    games = engine.evaluate(
        """async (number) => {
          const { follow, speak, trainedAgent } = await import("/engine/agents.js");
          const { makeContext, drawCandidates } = await import("/engine/context.js");
          const { parseSafetensors } = await import("/engine/exchange.js");
          const { reason } = await import("/engine/reasons.js");
          const { pair, spaces } = await (await fetch("/data/site.json")).json();
          const file = await (await fetch("/data/pair/phase-3.safetensors")).arrayBuffer();
          const agent = trainedAgent(parseSafetensors(file), pair.lapse_rate);
          const space = spaces.find((one) => one.name === pair.game);
          return Array.from({ length: number }, (_, i) => {
            const context = makeContext(space, drawCandidates(space, 4, Math.random));
            const candidates = context.candidates.map((_, o) => ({ label: `C${o}` }));
            const renamed = { ...context, words: context.words.map((_, m) => `w${m}`), candidates };
            const said = i % 3 ? [speak(agent, context, 0, context.prior, [])] : [i % 10, (i * 7) % 10];
            const tell = (round) => ({ ...round, text: reason(renamed, round, agent, 0) });
            return { context: renamed, rounds: follow(agent, context, 0, said).map(tell) };
          });
        }""",
        N_TRAINED,
    )
    for game in games:
        for one in game["rounds"]:
            claims = Claims(game["context"], "trained", 0)
            claims.check(one["text"], one["word"], one["before"], one["after"], one["likelihood"], None)
