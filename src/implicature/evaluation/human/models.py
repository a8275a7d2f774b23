"""Models of people by name.

    literal                              the exact recursion of depth 0
    exact:depth=1,utility=log,alpha=1    the exact recursion; what is left out of beta (or alpha) and lapse is fitted
    mixture:depths=0+1+2,utility=belief  each person is of one of these depths; weights=equal: all equally frequent
    RUN, RUN@2, RUN:1@2                  the agents of a run (its pair 1), after its last phase or after phase 2
    RUN@0+1+2                            each person is like one of these phases, all equally frequent
    pretrained, pretrained@2             the pair that ships with the package
    module:object                        a teacher or a student of your own
    FILE.csv                             predictions, such as a language model's: columns data, item, probabilities

Only lapses are fitted for the last three. A run knows the words of its space; words it does not know are assigned to
words of its space at random, and its predictions are averaged over assignments. If its space has an attribute that no
word names, salience, it sees the prior as training_space.py says.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple, get_args

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from implicature import training
from implicature.agents.contracts import AbstractStudent, AbstractTeacher
from implicature.agents.rsa import Start
from implicature.evaluation.human.items import Answers, Item, PriorUse, uniform
from implicature.evaluation.human.predictions import (
    LAPSES,
    RATIONALITY,
    Predictions,
    Utility,
    exact_predictions,
    fixed_predictions,
    select_options,
)  # fmt: skip
from implicature.evaluation.human.scores import Model
from implicature.evaluation.human.training_space import SALIENCE, salience_levels
from implicature.evaluation.players import PlayerSpec, Role, check_traceable, load_player, make_agent, run_agents
from implicature.evaluation.queries import _listen, _speak
from implicature.files import read_table
from implicature.games.context import Context
from implicature.games.rules import Rules
from implicature.spaces import Space
from implicature.training.runs.run import Run

ASSIGNMENTS = 16
PRETRAINED = Path(training.__file__).parent / "pretrained" / "numbers-4"
MAX_DEPTH = 20
MIXTURE_RATIONALITY, MIXTURE_LAPSES = RATIONALITY[::3], LAPSES[:51:2]
PLAYER_ROLES: dict[str, Role] = {"speaker": "teacher", "listener": "student"}


@dataclass(frozen=True)
class Options:
    """What stands after the colon of an exact model."""

    name: str
    values: dict[str, str]

    def error(self, what: str) -> ValueError:
        return ValueError(f"{self.name!r:.80} {what}")

    def choice(self, key: str, choices: Sequence[str], default: str) -> Any:
        value = self.values.get(key, default)
        if value not in choices:
            raise self.error(f"has {key} {value!r:.30}: choose one of {', '.join(choices)}.")
        return value

    def number(self, keys: Sequence[str], low: float, high: float) -> float | None:
        """The value of one of these keys, None where there is none."""
        given = [key for key in keys if key in self.values]
        if len(given) > 1:
            raise self.error(f"has both {' and '.join(given)}, which are the same: name one of them.")
        if not given:
            return None
        try:
            value = float(self.values[given[0]])
        except ValueError:
            value = float("nan")
        if not (isfinite(value) and low <= value <= high):
            raise self.error(f"has {given[0]} {self.values[given[0]]!r:.30}: give {low:g} to {high:g}.")
        return value

    def depths(self, key: str, default: str) -> list[int]:
        parts = self.values.get(key, default).split("+")
        if not all(part.isascii() and part.isdecimal() and int(part) <= MAX_DEPTH for part in parts):
            raise self.error(f"has {key} {'+'.join(parts)!r:.30}: depths are whole numbers from 0 to {MAX_DEPTH}.")
        return [int(part) for part in parts]


KEYS = ("utility", "beta", "alpha", "start", "prior", "lapse")


WEIGHTS = ("fitted", "equal")
"""How frequent the kinds of people of a mixture are."""


def parse_options(name: str) -> Options:
    kind, _, rest = name.partition(":")
    pairs = [part.partition("=") for part in rest.split(",")] if rest else []
    values = {key.strip(): value.strip() for key, _, value in pairs}
    allowed = ["depths", "weights", *KEYS] if kind == "mixture" else ["depth", *KEYS]
    if not set(values) <= set(allowed) or len(values) < len(pairs):
        raise ValueError(f"{name!r:.80} is not understood: after the colon stand {', '.join(allowed)}, as in depth=1.")
    return Options(name, values)


def exact_model(name: str) -> Model:
    """literal, exact:… or mixture:…"""
    options = parse_options(name)
    kind = name.partition(":")[0]
    default = {"literal": "0", "exact": "1", "mixture": "0+1+2"}[kind]
    depths = options.depths("depths" if kind == "mixture" else "depth", default)
    utility: Utility = options.choice("utility", get_args(Utility), "belief")
    start: Start = options.choice("start", get_args(Start), "share")
    prior: PriorUse | None = (
        options.choice("prior", get_args(PriorUse), "uniform") if "prior" in options.values else None
    )
    rationality, lapse = options.number(("beta", "alpha"), 1e-3, 1e3), options.number(("lapse",), 0.0, 1.0)
    equal = options.choice("weights", WEIGHTS, "fitted") == "equal"
    grid = MIXTURE_RATIONALITY if len(depths) > 1 else RATIONALITY
    lapses = MIXTURE_LAPSES if len(depths) > 1 else LAPSES

    def predict(answers: Answers) -> Predictions:
        settings = grid if rationality is None else (rationality,)
        rates = lapses if lapse is None else (lapse,)
        return exact_predictions(answers, depths, settings, utility, start, prior, rates, name, equal)

    return predict


# Agents: of a run, or of one's own


class Columns(NamedTuple):
    """Where the words of an item are among an agent's attributes, and where among its words."""

    attributes: Sequence[int]
    words: Sequence[int]
    n_attributes: int
    n_words: int
    salience: int | None = None
    """The attribute that is the candidate's salience, if the agent sees it."""


def ask(
    agent: AbstractTeacher | AbstractStudent, item: Item, columns: Columns, prior: np.ndarray
) -> Float[np.ndarray, " answers"]:
    """P(answer) of an agent that may know more words than the item's."""
    words, candidates = list(columns.words), len(item.lexicon)
    features = np.zeros((candidates, columns.n_attributes), np.float32)
    lexicon = np.zeros((candidates, columns.n_words), bool)
    features[:, list(columns.attributes)], lexicon[:, words] = item.lexicon, item.lexicon
    if columns.salience is not None:
        features[:, columns.salience] = salience_levels(prior)
    given = jnp.asarray(prior, jnp.float32)
    context = Context(features=jnp.asarray(features), lexicon=jnp.asarray(lexicon), prior=given)
    rules = Rules(len(lexicon), 2)
    if isinstance(agent, AbstractTeacher):
        said = _speak(agent, context, jnp.asarray(item.given), rules, jnp.zeros(0, jnp.int32))
        return np.asarray(said, np.float64)[words]
    heard = jnp.asarray([words[item.given]], jnp.int32)
    return np.asarray(_listen(agent, context, rules, heard), np.float64)


def phases_predictions(
    name: str, run: Run, spec: PlayerSpec, phases: Sequence[int | None], answers: Answers
) -> Predictions:
    """Those of one phase; of several, people are like each of them equally often."""
    table = np.stack([run_table(name, run, spec, phase, answers) for phase in phases])
    return Predictions(name, table[None], (), tuple(f"phase {phase}" for phase in phases), equal_weights=True)


def run_table(
    name: str, run: Run, spec: PlayerSpec, phase: int | None, answers: Answers
) -> Float[np.ndarray, "items options"]:
    """The mean over the run's pairs and over assignments of words."""
    space = run.task.space
    agents = run_agents(run, PLAYER_ROLES[answers.role], phase, spec.pair_index)
    if any(encoder is not None for _, encoder in agents):
        raise ValueError(f"{name} sees images, and these items have none: name a run that reads attributes.")
    names = [word for word in space.attributes if word in space.words]
    rows = []
    for item in answers.items:
        if len(item.words) > len(names):
            raise ValueError(
                f"{name} knows {len(names)} words for attributes, but {item.name!r:.40} has {len(item.words)}: train "
                "with more."
            )
        if set(item.words) <= set(names):
            assignments = [list(item.words)]
        else:
            random = np.random.default_rng(0)
            orders = [random.permutation(len(names))[: len(item.words)] for _ in range(ASSIGNMENTS)]
            assignments = [[names[i] for i in order] for order in orders]
        columns = [word_columns(space, words) for words in assignments]
        prior = used_prior(item, answers.prior_use)
        each = [ask(agent, item, one, prior) for agent, _ in agents for one in columns]
        rows.append(np.mean([one / max(one.sum(), 1e-9) for one in each], axis=0))
    return select_rows(rows, answers)


def word_columns(space: Space, words: Sequence[str]) -> Columns:
    attributes, own = space.attributes, space.words
    seen = attributes.index(SALIENCE) if SALIENCE in attributes and SALIENCE not in own else None
    places = [attributes.index(word) for word in words], [own.index(word) for word in words]
    return Columns(*places, len(attributes), len(own), seen)


def custom_predictions(name: str, spec: PlayerSpec, answers: Answers) -> Predictions:
    rows = []
    for item in answers.items:
        words, rules = item.lexicon.shape[1], Rules(len(item.lexicon), 2)
        agent = make_agent(spec, PLAYER_ROLES[answers.role], words, rules)
        table = jnp.asarray(item.lexicon)
        check_traceable(agent, spec, Context(features=table.astype(jnp.float32), lexicon=table), rules)
        columns = Columns(range(words), range(words), words, words)
        rows.append(ask(agent, item, columns, used_prior(item, answers.prior_use)))
    return fixed_predictions(name, select_rows(rows, answers))


def used_prior(item: Item, prior_use: PriorUse) -> Float[np.ndarray, " candidates"]:
    """Speakers, and whoever is not told of salience, start from a uniform prior."""
    informed = prior_use == "both" or (prior_use == "listener" and item.role == "listener")
    return item.prior if informed else uniform(len(item.lexicon))


def select_rows(rows: Sequence[np.ndarray], answers: Answers) -> Float[np.ndarray, "items options"]:
    padded = np.zeros((len(rows), max(len(row) for row in rows)))
    for i, row in enumerate(rows):
        padded[i, : len(row)] = row
    return select_options(padded, answers.items)


# Predictions in a file


def file_predictions(path: Path, answers: Answers) -> Predictions:
    """Probabilities of all answers to every item, from a table with columns data, item, probabilities."""
    rows = read_table(path, ("data", "item", "probabilities"))
    found = {row["item"]: row["probabilities"] for row in rows if row["data"] in (answers.name, answers.data)}
    table = np.zeros(answers.cells.shape)
    for i, item in enumerate(answers.items):
        if item.name not in found:
            raise ValueError(
                f"{path} has no probabilities for {item.name!r:.40} of {answers.name}: `implicature people --template` "
                "writes a table with all items."
            )
        try:
            values = np.array([float(part) for part in found[item.name].split(";")])
        except ValueError:
            values = np.zeros(0)
        if len(values) != len(item.options) or not (np.isfinite(values).all() and (values >= 0).all() and values.sum()):
            raise ValueError(
                f"{path} has no {len(item.options)} probabilities for {item.name!r:.40} of {answers.name}: write one "
                "for each answer, separated by semicolons."
            )
        table[i, : len(values)] = values / values.sum()
    return fixed_predictions(path.stem, table)


def load_model(name: str, phase: int | None = None) -> Model:
    """The model of this name; a run is opened and a module imported now."""
    if name.partition(":")[0] in ("literal", "exact", "mixture") and not Path(name).is_dir():
        return exact_model(name)
    if name.endswith(".csv"):
        path = Path(name)
        read_table(path, ("data", "item", "probabilities"))
        return lambda answers: file_predictions(path, answers)
    folder, _, after = name.rpartition("@")
    player, phases = name, [phase]
    if folder and after.isascii() and after.replace("+", "").isdecimal() and not Path(name).is_dir():
        player, phases = folder, parse_phases(name, after)
    spec = load_player(PRETRAINED if player == "pretrained" else player, {})
    if (run := spec.run) is not None:
        return lambda answers: phases_predictions(name, run, spec, phases, answers)
    return lambda answers: custom_predictions(name, spec, answers)


def parse_phases(name: str, text: str) -> list[int | None]:
    """1 or 0+1+2."""
    parts = text.split("+")
    if "" in parts or len(set(parts)) < len(parts) or len(parts) > MAX_DEPTH:
        raise ValueError(f"{name!r:.80} has phases {text!r:.30}: name each once, as in RUN@0+1.")
    return [int(part) for part in parts]
