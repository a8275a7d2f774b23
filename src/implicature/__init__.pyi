from implicature.api import dialogues as dialogues
from implicature.api import evaluate as evaluate
from implicature.api import explain as explain
from implicature.api import language as language
from implicature.api import players as players
from implicature.api import sample_games as sample_games
from implicature.api import train as train
from implicature.compilation_cache import enable_compilation_cache as enable_compilation_cache
from implicature.envs.jax_env import jax_env as jax_env
from implicature.envs.pettingzoo import env as env
from implicature.envs.pettingzoo import parallel_env as parallel_env
from implicature.evaluation.teaching_dimension import teaching_dimensions as teaching_dimensions
from implicature.games.context import Context as Context
from implicature.games.registry import load_space as load_space
from implicature.training.config import Config as Config
from implicature.training.runs.run import open_run as open_run

__version__: str
__all__: list[str]
