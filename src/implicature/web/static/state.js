// The state is the address: whoever opens it sees the same game.

const LAST = 2 ** 31;
const FIRST = { mode: "student", game: "objects-4", rounds: 1, tricky: true };
const MODES = ["student", "teacher", "watch"];

export const newSeed = () => crypto.getRandomValues(new Uint32Array(1))[0] % LAST;

const whole = (text) => (/^\d{1,10}$/.test(text ?? "") ? Number(text) : null);

export function read(about) {
  const given = new URLSearchParams(location.search);
  const asked = about.agents.find((agent) => ["met", "run"].includes(agent.name)); // on the command line
  const game = given.get("game") ?? (asked ? asked.games[0] : FIRST.game);
  const playing = about.agents.filter((agent) => agent.games.includes(game));
  const agent = given.get("agent") ?? (playing.includes(asked) ? asked.name : playing[0]?.name ?? "exact");
  const known = about.agents.find((one) => one.name === agent);
  const set = given.get("set")?.split("-").map(whole);
  return {
    mode: MODES.includes(given.get("mode")) ? given.get("mode") : FIRST.mode,
    game,
    candidates: whole(given.get("candidates")),
    instances: set?.every((one) => one !== null) ? set : null,
    rounds: whole(given.get("rounds")) ?? FIRST.rounds,
    agent,
    step: whole(given.get("step")) ?? known?.step ?? 0,
    seed: whole(given.get("seed")) ?? newSeed(),
    tricky: given.has("tricky") ? given.get("tricky") === "1" : FIRST.tricky,
    thoughts: given.get("thoughts") === "1",
    participant: given.get("participant"),
  };
}

export function write(state, replace = false) {
  const shown = { mode: state.mode, game: state.game };
  if (state.instances) shown.set = state.instances.join("-");
  else if (state.candidates) shown.candidates = state.candidates;
  Object.assign(shown, { rounds: state.rounds, agent: state.agent, step: state.step, seed: state.seed });
  shown.tricky = Number(state.tricky);
  if (state.thoughts) shown.thoughts = 1;
  if (state.participant) shown.participant = state.participant;
  const address = `?${new URLSearchParams(shown)}`;
  if (address !== location.search) history[replace ? "replaceState" : "pushState"](null, "", address);
}

export function question(state) {
  const { game, candidates, instances, rounds, agent, step, seed, tricky } = state;
  return { game, candidates: instances ? null : candidates, instances, rounds, agent, step, seed, tricky };
}

// What is asked of the server; a problem is one sentence.
export async function ask(path, body) {
  let answer;
  try {
    answer = await fetch(`api/${path}`, body === undefined ? {} : {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  } catch {
    throw new Error("The server does not answer: is “implicature play” still running?");
  }
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(told.sentence ?? `The server answers with ${answer.status}.`);
  return told;
}
