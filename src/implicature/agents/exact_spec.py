"""Exact players by name: one small syntax wherever a player is named.

    exact                                            depth 3, utility belief, β = 10, start share
    literal                                          depth 0
    exact:depth=1,utility=log,alpha=4,start=indicator
    exact:depths=0.3/0.5/0.2                         a mixture: the probabilities of depths 0, 1, 2
    exact:beta=inf                                   iterated best response
    exact:noise=0.1                                  both reckon with a channel that confuses one word in ten

`alpha` is the rationality of the utility log (1 if left out), `beta` that of the utility belief (10).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, isfinite, isnan
from typing import Any, get_args

from implicature.agents.exact_model import BETA, ExactModel
from implicature.agents.rsa import Start
from implicature.agents.utility import Utility

DEPTHS = {"exact": 3, "literal": 0}
"""Players without options."""
KEYS = ("depth", "depths", "utility", "alpha", "beta", "start", "noise")
MAX_DEPTH = 100
MAX_BETA = 1000.0
"""Beyond it, β times the rounding of a belief would decide between messages that are equally good."""
ALPHA = 1.0


@dataclass(frozen=True)
class ExactSpec:
    """How an exact player reasons. None: as the game says."""

    depth: int = DEPTHS["exact"]
    utility: Utility = "belief"
    beta: float | None = None
    start: Start | None = None
    noise: float | None = None
    depth_weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.depth <= MAX_DEPTH:
            raise ValueError(f"The depth {self.depth} is not between 0 (literal) and {MAX_DEPTH}: choose one that is.")
        letter = "α" if self.utility == "log" else "β"
        if self.beta is not None and self.beta != inf and not 0 <= self.beta <= MAX_BETA:
            raise ValueError(
                f"{letter} = {self.beta:g} is not between 0 (any true message) and {MAX_BETA:g}: choose one that is."
            )
        if self.noise is not None and not 0 <= self.noise < 1:
            raise ValueError(f"A channel noise of {self.noise:g} is not in [0, 1): it is how often a word is misheard.")

    def model(self, share: bool = True, noise: float = 0.0) -> ExactModel:
        """What the player knows, in a game that starts so and whose channel is so noisy."""
        default = ALPHA if self.utility == "log" else BETA
        return ExactModel(
            self.depth,
            default if self.beta is None else self.beta,
            share if self.start is None else self.start == "share",
            self.utility,
            noise if self.noise is None else self.noise,
            self.depth_weights,
        )


def rationality(utility: str, alpha: float | None, beta: float | None) -> float | None:
    """α or β, whichever belongs to the utility."""
    if utility == "log" and beta is not None:
        raise ValueError("β belongs to the utility belief: with utility log, say alpha.")
    if utility != "log" and alpha is not None:
        raise ValueError("α belongs to the utility log: say utility log, or beta.")
    return alpha if utility == "log" else beta


def is_exact(name: str) -> bool:
    return name in DEPTHS or name.startswith("exact:")


def parse_exact(name: str) -> ExactSpec:
    """The exact player of this name."""
    if name in DEPTHS:
        return ExactSpec(DEPTHS[name])
    pairs = [part.partition("=") for part in name.removeprefix("exact:").split(",")]
    options = {key.strip(): value.strip() for key, _, value in pairs}
    if not set(options) <= set(KEYS) or len(options) < len(pairs) or not all(equals for _, equals, _ in pairs):
        raise ValueError(
            f"{name!r:.80} is not understood: after exact: stand {', '.join(KEYS)}, as in exact:depth=1,utility=log."
        )
    if "depth" in options and "depths" in options:
        raise ValueError(f"{name!r:.80} has both depth and depths, which is a mixture: name one of them.")
    utility: Utility = choice(options, "utility", get_args(Utility)) or "belief"
    weights = depth_weights(options["depths"], name) if "depths" in options else ()
    return ExactSpec(
        int(number(options, "depth", name, whole=True) or 0) if "depth" in options else DEPTHS["exact"],
        utility,
        rationality(utility, number(options, "alpha", name), number(options, "beta", name)),
        choice(options, "start", get_args(Start)),
        number(options, "noise", name),
        weights,
    )


def choice(options: Mapping[str, str], key: str, choices: tuple[str, ...]) -> Any:
    if key in options and options[key] not in choices:
        raise ValueError(f"The {key} {options[key]!r:.40} is not one of {', '.join(choices)}.")
    return options.get(key)


def number(options: Mapping[str, str], key: str, name: str, whole: bool = False) -> float | None:
    if key not in options:
        return None
    try:
        value = float(options[key])
    except ValueError:
        value = float("nan")
    if isnan(value) or (whole and not (isfinite(value) and value == int(value))):
        kind = "a whole number" if whole else "a number"
        raise ValueError(f"{name!r:.80} has {key} {options[key]!r:.30}: give {kind}.")
    return value


def depth_weights(text: str, name: str) -> tuple[float, ...]:
    weights = [number({"depths": part}, "depths", name) or 0.0 for part in text.split("/")]
    if not all(isfinite(weight) and weight >= 0 for weight in weights) or sum(weights) <= 0 or len(weights) > 20:
        raise ValueError(f"{name!r:.80} has no mixture of depths: give the probabilities of 0, 1, 2 …, as 0.3/0.5/0.2.")
    return tuple(weight / sum(weights) for weight in weights)
