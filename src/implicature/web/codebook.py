"""What every column of the tables of `implicature study --csv` means: table, column, unit, meaning."""

from implicature.evaluation.people import MODELS

DECISIONS = {
    "decision": ("", "number of the decision, in the order of recording"),
    "time": ("ISO 8601, UTC", "when it was recorded"),
    "participant": ("", "the code in the participant's link"),
    "session": ("", "one load of the page"),
    "role": ("", "student (guesses) or teacher (speaks)"),
    "game": ("", "name of the game"),
    "seed": ("", "number that the game was dealt from"),
    "target": ("position from 0", "the candidate that is meant"),
    "max_rounds": ("rounds", "messages allowed"),
    "agent": ("", "who plays the other role"),
    "version": ("", "of the agent"),
    "variant": ("", "the agent's depth or phase"),
    "round": ("from 1", "round of the decision"),
    "answer": ("position from 0", "the candidate that was answered; empty for waiting"),
    "correct": ("", "whether the answer is the target"),
    "reaction_time_ms": ("milliseconds", "from when the pictures were painted to the decision"),
    "trial": ("from 1", "number of the game in this session; in a study by a plan, of the trial"),
    "block": ("", "of the plan; practice is the block before the first; empty without a plan"),
    "condition": ("", "of the trial in the plan, or of the participant's link"),
    "thoughts_open": ("", "whether the page showed a belief of the other player before the decision"),
    "literal_score": ("score", "what a literal player can expect in this game, who takes the most likely card"),
    "exact_score": ("score", "what an exact one (depth 10) can expect"),
    "focus_lost": ("times", "how often the page lost focus while the decision could be made"),
    "viewport": ("CSS pixels", "width x height of the window"),
    "skips": ("games", "left without an answer since the decision before"),
    "message": ("", "the last message"),
    "messages": ("", "all messages so far"),
    "candidates": ("", "attributes of each, separated by |"),
}
BELIEFS = {
    "decision": ("", "number of the decision"),
    "candidate": ("position from 0", "candidate"),
    "attributes": ("", "its attributes"),
    "is_target": ("", "whether it is meant"),
    "belief_before": ("probability", "the agent student's belief before the message"),
    "belief_after": ("probability", "and after it"),
    "teacher_estimate": ("probability", "the agent teacher's estimate of the belief before the message"),
}
VALUES = {
    "decision": ("", "number of the decision"),
    "message": ("", "word"),
    "value": ("probability", "the agent teacher's value of the word; empty for words that she may not say"),
    "sent": ("", "whether it was sent"),
}
END = "; empty: beyond the grid, so the interval is open"
PARTICIPANTS = {
    "participant": ("", "the code in the participant's link"),
    "role": ("", "student, teacher, or both together"),
    "decisions": ("", "decisions that were fitted (waiting is not)"),
    "model": ("", "random, literal or depth t: the lowest BIC; random where chance cannot be rejected"),
    "better_than_chance": ("", "whether the likelihood-ratio test rejects chance at 1 %"),
    "p_chance": ("probability", "p value of that test"),
    "depth": ("steps", "best depth; quote it with its interval; empty for random"),
    "depth_low": ("steps", "lower end of its 95 % interval"),
    "depth_high": ("steps", f"upper end{END}"),
    "beta": ("", "rationality β; empty where it has no effect"),
    "beta_low": ("", f"lower end of its 95 % interval{END}"),
    "beta_high": ("", f"upper end{END}"),
    "lapse": ("probability", "lapse rate λ: random choices"),
    "lapse_low": ("probability", "lower end of its 95 % interval"),
    "lapse_high": ("probability", f"upper end{END}"),
    "log_likelihood": ("nats", "of the model that is named"),
    "chance_log_likelihood": ("nats", "of choosing at random"),
    **{f"aic_{name.replace(' ', '_')}": ("nats × 2", f"AIC of {name}") for name in MODELS},
    **{f"bic_{name.replace(' ', '_')}": ("nats × 2", f"BIC of {name}") for name in MODELS},
    "accuracy": ("fraction", "of answers that are the target"),
    "median_reaction_time_ms": ("milliseconds", "median reaction time"),
    **{
        f"posterior_{name.replace(' ', '_')}": ("probability", f"that the participant is {name}, given the population")
        for name in MODELS
    },
    "population_beta": ("", "β of the participant, drawn towards the population's"),
    "population_lapse": ("probability", "λ of the participant, drawn towards the population's"),
    **{f"role_share_{name.replace(' ', '_')}": ("fraction", f"of the population that is {name}") for name in MODELS},
    "role_beta": ("", "median β of the population"),
    "role_beta_spread": ("log units", "standard deviation of log β in the population"),
    "role_lapse": ("probability", "median λ of the population"),
    "role_lapse_spread": ("logits", "standard deviation of logit λ in the population"),
}
SESSIONS = {
    "participant": ("", "the code in the participant's link; on Prolific, PROLIFIC_PID"),
    "plan": ("", "which plan it was: a digest of its content"),
    "number": ("from 0", "in the order of consent; the order of blocks, lists and conditions go by it"),
    "session": ("", "SESSION_ID, or made by the page"),
    "prolific_pid": ("", "PROLIFIC_PID of the link"),
    "study_id": ("", "STUDY_ID of the link"),
    "session_id": ("", "SESSION_ID of the link"),
    "consented_at": ("ISO 8601, UTC", "when the participant agreed"),
    "finished_at": ("ISO 8601, UTC", "when the last screen was reached; empty: not yet"),
    "status": ("", "active, complete, or failed (the comprehension check)"),
    "position": ("screens", "done so far"),
    "attempts": ("", "at the comprehension check"),
    "checks": ("", "attention checks answered"),
    "checks_passed": ("", "attention checks answered right"),
}
EVENTS = {
    "at": ("ISO 8601, UTC", "when it was recorded"),
    "participant": ("", "the code in the participant's link"),
    "position": ("screens", "done before it"),
    "kind": ("", "comprehension or check (attention)"),
    "attempt": ("from 1", "at the comprehension check"),
    "passed": ("0 or 1", "whether all was right"),
    "detail": ("JSON", "the answers, counted from 1; of an attention check its id, the card and the reaction time"),
}
CODEBOOK = {"decisions": DECISIONS, "beliefs": BELIEFS, "values": VALUES, "participants": PARTICIPANTS}
PLANNED = {"sessions": SESSIONS, "events": EVENTS}
"""Tables of a study by a plan."""


def codebook_rows(planned: bool = False) -> list[tuple[str, str, str, str]]:
    tables = {**CODEBOOK, **(PLANNED if planned else {})}
    return [(table, name, *about) for table, columns in tables.items() for name, about in columns.items()]
