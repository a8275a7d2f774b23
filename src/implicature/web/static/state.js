// The page's state is its URL: whoever opens it sees the same game.

const SEEDS = 2 ** 31;
const DEFAULTS = { mode: "student", game: "objects-4", rounds: 1, pragmaticOnly: true };
const MODES = ["student", "teacher", "watch"];
// Links of earlier versions still work.
const OLD_PARAMETERS = { variant: "step", pragmatic_only: "tricky", beliefs: "thoughts", instances: "set" };
const OLD_NAMES = { agent: { pair: "pretrained", met: "matchup" }, game: { yours: "custom" } };

export const newSeed = () => crypto.getRandomValues(new Uint32Array(1))[0] % SEEDS;

// crypto.randomUUID exists only on this computer and over https.
export function newUUID() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

const wholeNumber = (text) => (/^\d{1,10}$/.test(text ?? "") ? Number(text) : null);

export function readState(about) {
  const url = new URLSearchParams(location.search);
  const parameter = (name) => {
    const value = url.get(name) ?? url.get(OLD_PARAMETERS[name] ?? name);
    return OLD_NAMES[name]?.[value] ?? value;
  };
  const preferred = about.agents.find((agent) => ["matchup", "run"].includes(agent.name)); // from the command line
  const game = parameter("game") ?? (preferred ? preferred.games[0] : DEFAULTS.game);
  const able = about.agents.filter((agent) => agent.games.includes(game));
  const agent = parameter("agent") ?? (able.includes(preferred) ? preferred.name : able[0]?.name ?? "exact");
  const known = about.agents.find((one) => one.name === agent);
  const instances = parameter("instances")?.split("-").map(wholeNumber);
  const pragmaticOnly = parameter("pragmatic_only");
  return {
    mode: MODES.includes(parameter("mode")) ? parameter("mode") : DEFAULTS.mode,
    game,
    candidates: wholeNumber(parameter("candidates")),
    instances: instances?.every((one) => one !== null) ? instances : null,
    rounds: wholeNumber(parameter("rounds")) ?? DEFAULTS.rounds,
    agent,
    variant: wholeNumber(parameter("variant")) ?? known?.variant ?? 0,
    seed: wholeNumber(parameter("seed")) ?? newSeed(),
    pragmaticOnly: pragmaticOnly === null ? DEFAULTS.pragmaticOnly : pragmaticOnly === "1",
    showBeliefs: parameter("beliefs") === "1",
    participant: parameter("participant"),
  };
}

export function writeState(state, replace = false) {
  const parameters = { mode: state.mode, game: state.game };
  if (state.instances) parameters.instances = state.instances.join("-");
  else if (state.candidates) parameters.candidates = state.candidates;
  Object.assign(parameters, { rounds: state.rounds, agent: state.agent, variant: state.variant, seed: state.seed });
  parameters.pragmatic_only = Number(state.pragmaticOnly);
  if (state.showBeliefs) parameters.beliefs = 1;
  if (state.participant) parameters.participant = state.participant;
  const query = `?${new URLSearchParams(parameters)}`;
  if (query !== location.search) history[replace ? "replaceState" : "pushState"](null, "", query);
}

// The URL without what does not change the game, to count each game once.
export const gameKey = (state) => `${state.mode}${location.search.replace(/&(beliefs|variant)=\d+/g, "")}`;

export function gameSettings(state) {
  const { game, candidates, instances, rounds, agent, variant, seed, pragmaticOnly } = state;
  return {
    game, candidates: instances ? null : candidates, instances, rounds, agent, variant, seed, pragmatic_only: pragmaticOnly,
  };
}
