"""Dialogues as tables, or in the layout that EGG's tools read.

.csv, .parquet   tidy: one row a round of a game, candidates numbered from 1 in the teacher's order; belief_i is the
                 student's after the message, estimate_i what the teacher thinks it is, value_WORD her value of a word
.txt             one line a game, as EGG's external game dumps it:  sender_input;message;receiver_output;label
.safetensors     the fields of EGG's `Interaction`, an entry for each game; its dictionaries' as "aux_input/…", "aux/…"

EGG itself keeps an Interaction with pickle, which may run anything when read; safetensors holds numbers alone. In EGG
symbol 0 ends a message and counts in its length, so our message m is m + 1 there.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from jaxtyping import Float
from safetensors.numpy import save

from implicature.agents.exact import UNTRUE
from implicature.evaluation.matchup import Matchup
from implicature.evaluation.players import plain_errors
from implicature.evaluation.transcripts import Transcripts, transcribe
from implicature.files import check_file, format_csv, write_atomic
from implicature.spaces import Space
from implicature.training.runs.checkpoint import sort_header

MAX_VALUES = 64
"""Up to so many words, her values of all of them are columns."""
Dialogues = list[Transcripts]
"""Of each pair."""
Columns = dict[str, list[str | int | float | None]]
"""By name, all of the same length."""


def transcribe_matchup(matchup: Matchup) -> Dialogues:
    lexicon = matchup.task.data.semantics
    with plain_errors():
        return [
            transcribe(pair, matchup.features(pair), lexicon, matchup.games, matchup.rules) for pair in matchup.pairs
        ]


def tidy_columns(each: Dialogues, space: Space) -> Columns:
    """Columns, a row for each round that was played."""
    parts = [pair_columns(pair, transcripts, space) for pair, transcripts in enumerate(each)]
    return {name: [cell for part in parts for cell in part[name]] for name in parts[0]}


def pair_columns(pair: int, transcripts: Transcripts, space: Space) -> Columns:
    game, number = np.nonzero(transcripts.active)
    labels = np.array([*(space.label(i) for i in range(space.instances)), "wait"], dtype=object)
    words = np.array(space.words, dtype=object)
    candidates, action = transcripts.candidates[game], transcripts.action[game, number]
    waits = action == candidates.shape[1]
    answer = np.where(waits, -1, candidates[np.arange(len(game)), np.where(waits, 0, action)])
    columns: dict[str, np.ndarray] = {
        "pair": np.full(len(game), pair),
        "game": game + 1,
        "round": number + 1,
        "target": labels[transcripts.instance[game]],
        "target_position": transcripts.target[game] + 1,
        "message": words[transcripts.message[game, number]],
        "valid": space.lexicon.truth[transcripts.instance[game], transcripts.message[game, number]].astype(int),
        "action": labels[answer],
        "success": transcripts.right[game, number].astype(int),
        "reward": transcripts.reward[game, number].astype(float).round(6),
    }
    for i in range(candidates.shape[1]):
        columns[f"candidate_{i + 1}"] = labels[candidates[:, i]]
        columns[f"belief_{i + 1}"] = transcripts.belief[game, number, i].astype(float).round(6)
        columns[f"estimate_{i + 1}"] = transcripts.estimate[game, number, i].astype(float).round(6)
    if len(words) <= MAX_VALUES:
        for i, word in enumerate(words):
            columns[f"value_{word}"] = finite(transcripts.values[game, number, i])
    return {name: column.tolist() for name, column in columns.items()}


def finite(values: Float[np.ndarray, " rows"]) -> np.ndarray:
    """Values as they are written: nothing for a word that she may not say."""
    rounded = values.astype(float).round(6).astype(object)
    rounded[(values == UNTRUE) | ~np.isfinite(values)] = None
    return rounded


def interaction(each: Dialogues, space: Space) -> dict[str, np.ndarray]:
    """The fields of EGG's Interaction. The receiver's candidates, labels and outputs stand in his own order."""

    def of_pair(pair: int, one: Transcripts) -> dict[str, np.ndarray]:
        rows = np.arange(len(one.target))
        length = one.active.sum(axis=1)
        last, position = one.belief[rows, length - 1], np.argsort(one.order, axis=1)
        waited = one.answer == one.order.shape[1]
        answer = np.where(waited, one.answer, position[rows, np.where(waited, 0, one.answer)])
        return {
            "sender_input": space.features[one.instance].astype(np.float32),
            "receiver_input": space.features[np.take_along_axis(one.candidates, one.order, 1)].astype(np.float32),
            "labels": position[rows, one.target].astype(np.int64),
            "message": np.column_stack([one.message + 1, np.zeros(len(rows))]).astype(np.int64),
            "receiver_output": np.take_along_axis(last, one.order, 1).astype(np.float32),
            "message_length": (length + 1).astype(np.int64),
            "aux_input/instances": one.candidates.astype(np.int64),
            "aux_input/target": one.target.astype(np.int64),
            "aux/answer": answer.astype(np.int64),
            "aux/acc": (one.answer == one.target).astype(np.float32),
            "aux/pair": np.full(len(rows), pair),
            "aux/values": one.values.astype(np.float32),
            "aux/belief": one.belief.astype(np.float32),
            "aux/estimate": one.estimate.astype(np.float32),
        }

    parts = [of_pair(pair, one) for pair, one in enumerate(each)]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def as_csv(each: Dialogues, space: Space) -> bytes:
    columns = tidy_columns(each, space)
    return format_csv(columns, zip(*columns.values(), strict=True))


def as_parquet(each: Dialogues, space: Space) -> bytes:
    import pyarrow
    from pyarrow import parquet

    sink = pyarrow.BufferOutputStream()
    parquet.write_table(pyarrow.table(tidy_columns(each, space)), sink)
    return sink.getvalue().to_pybytes()


def as_text(each: Dialogues, space: Space) -> bytes:
    fields = interaction(each, space)
    lines = [
        f"{' '.join(map(str, sender.tolist()))};{' '.join(map(str, message[:length].tolist()))};{answer};{label}\n"
        for sender, message, length, answer, label in zip(
            *(fields[name] for name in ("sender_input", "message", "message_length", "aux/answer", "labels")),
            strict=True,
        )
    ]
    return "".join(lines).encode()


def as_safetensors(each: Dialogues, space: Space) -> bytes:
    arrays = {name: np.ascontiguousarray(array) for name, array in interaction(each, space).items()}
    return sort_header(save(arrays, {"layout": "egg.core.Interaction", "space": space.name}))


LAYOUTS: dict[str, Callable[[Dialogues, Space], bytes]] = {
    ".csv": as_csv,
    ".parquet": as_parquet,
    ".txt": as_text,
    ".safetensors": as_safetensors,
}


def check_export(out: Path) -> None:
    """Raise an error where dialogues cannot be written to this file."""
    layout = out.suffix.lower()
    if layout not in LAYOUTS:
        raise ValueError(f"Dialogues are written as {', '.join(LAYOUTS)}, not as {out.name!r}: choose one of these.")
    check_file(out, "--out")
    if layout == ".parquet":
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            raise ValueError("Parquet needs pyarrow: pip install 'implicature[parquet]', or write .csv.") from None


def write_dialogues(out: Path, matchup: Matchup) -> int:
    """Write all dialogues of a matchup; how many there are."""
    each = transcribe_matchup(matchup)
    try:
        write_atomic(out, LAYOUTS[out.suffix.lower()](each, matchup.task.space))
    except OSError as error:
        raise ValueError(f"{out} cannot be written ({error.strerror}): choose another --out.") from None
    return len(each) * len(matchup.games.target)
