from implicature.evaluation.teaching import teaching as teaching
from implicature.interfaces.api import dialogues as dialogues
from implicature.interfaces.api import evaluate as evaluate
from implicature.interfaces.api import explain as explain
from implicature.interfaces.api import language as language
from implicature.interfaces.api import load_space as load_space
from implicature.interfaces.api import sample_games as sample_games
from implicature.interfaces.api import train as train
from implicature.interfaces.environment import env as env
from implicature.interfaces.environment import parallel_env as parallel_env
from implicature.interfaces.vectorised import jax_env as jax_env
from implicature.training.config import Config as Config
from implicature.training.run import open_run as open_run

__version__: str
__all__: list[str]
