"""A novice who knows no word learns from a partner who does not change: how many games does it take?

In every game the partner says one word of the target, and then the target is revealed. The novice is a new belief
network of the run's kind, and learns by cross-entropy on the revealed target. Partners:

    random       any true word
    literal      S_1, who responds to a literal student          exact      the exact teacher of depth 3
    run          the run's teacher
    understood   the true word that this novice understands best now
    tailored     the true word that teaches this novice most

Three tests on held-out games: `words`, a word that is true of one candidate alone, so that no pragmatics is needed;
`own`, his own partner's words (the word he understands best where she knows his beliefs); `run`, the words of the
run's teacher.
"""

from implicature.evaluation.novices.courses import (
    GOAL,
    TESTS,
    Lesson,
    draw_courses,
    games_until,
    mean_games,
    summarize_course,
)
from implicature.evaluation.novices.learning import MAX_GAMES, MAX_SEEDS, teach
from implicature.evaluation.novices.partners import PARTNERS

__all__ = [
    "GOAL",
    "MAX_GAMES",
    "MAX_SEEDS",
    "PARTNERS",
    "TESTS",
    "Lesson",
    "draw_courses",
    "games_until",
    "mean_games",
    "summarize_course",
    "teach",
]
