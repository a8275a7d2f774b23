// The address holds the whole game: mode, candidates, target and settings. Whoever opens it sees the same.
// What is wrong in an address is said, never replaced.

import { FACES, MAX_CANDIDATES, OWN } from "./engine/context.js";
import { hash } from "./engine/agents.js";

export const MODES = { story: "The story", student: "Be the student", teacher: "Be the teacher", reasoning: "The reasoning", watch: "Watch them learn" };
export const PARTNERS = { literal: "literal", one: "one step", deep: "deep", hidden: "hidden" };
export const MAX_DEPTH = 10, MAX_ROUNDS = 4, SEEDS = 2 ** 31;
export const START = {
  mode: "story", game: null, candidates: null, target: null, agent: "exact", variant: null, rationality: 10, utility: "belief", start: null,
  prior: null, costs: {}, rounds: 1, number: null, pragmaticOnly: true, partner: "hidden", mind: null, step: 0, word: null, seed: null, instances: null, participant: null, condition: null,
};
const HIDDEN_MINDS = ["literal", "one", "deep"];
// Links of earlier versions still work where a server can deal their games.
const OLD_PARAMETERS = { step: "variant", tricky: "pragmatic_only", set: "instances", thoughts: null, beliefs: null };
const OLD_NAMES = { agent: { pair: "trained", pretrained: "trained", met: "matchup" }, game: { yours: "custom" } };
const WORD = /^[a-z0-9-]{1,24}$/;

export const newSeed = () => crypto.getRandomValues(new Uint32Array(1))[0] % SEEDS;
export const allSpaces = (site) => [...site.spaces, FACES, OWN];
export const findSpace = (site, name) => allSpaces(site).find((space) => space.name === name);

const encodeCandidates = (candidates) => candidates.map((names) => names.join(".") || "-").join("_");
const decodeCandidates = (text) => text.split("_").map((names) => (names === "-" ? [] : names.split(".")));
// In the student's address the target is not to be read off.
const offset = (text, number) => Math.floor(hash(text) * number);

class AddressError extends Error {}

function wholeNumber(parameters, name, from, to, otherwise) {
  const text = parameters.get(name);
  if (text === null) return otherwise;
  const value = /^\d{1,10}$/.test(text) ? Number(text) : NaN;
  if (!(value >= from && value <= to)) throw new AddressError(`“${name}=${text}” is not a whole number from ${from} to ${to}.`);
  return value;
}

function oneOf(parameters, name, options, otherwise) {
  const text = parameters.get(name);
  if (text === null) return otherwise;
  if (!options.includes(text)) throw new AddressError(`“${name}=${text}” is none of ${options.join(", ")}.`);
  return text;
}

function decimal(text, name, from, to) {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN;
  if (!(value >= from && value <= to)) throw new AddressError(`“${name}=${text}” is not a number from ${from} to ${to}.`);
  return value;
}

// Of a study: it is recorded with every decision.
function readCondition(parameters) {
  const text = parameters.get("condition");
  if (text !== null && !/^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/.test(text)) throw new AddressError(`“condition=${text}” is not a name of letters, digits, - and _.`);
  return text;
}

function readCandidates(parameters, site, game) {
  const text = parameters.get("objects");
  if (text === null) return null;
  const space = findSpace(site, game);
  const candidates = decodeCandidates(text);
  if (candidates.length < 2 || candidates.length > MAX_CANDIDATES) throw new AddressError(`“objects” has ${candidates.length} candidates, not 2 to ${MAX_CANDIDATES}.`);
  const unknown = candidates.flat().find((word) => !WORD.test(word) || !space.words.includes(word));
  if (unknown !== undefined) throw new AddressError(`“${unknown}” is not a word of ${space.title}.`);
  if (!candidates.flat().length) throw new AddressError("no word is true of any of its objects.");
  return candidates;
}

// In the address of a game with a hidden partner, who he is is not to be read off either.
function readMind(parameters, candidates) {
  const mind = wholeNumber(parameters, "mind", 0, HIDDEN_MINDS.length - 1, null);
  return mind === null || !candidates ? null : HIDDEN_MINDS[(mind + HIDDEN_MINDS.length - offset(parameters.get("objects"), HIDDEN_MINDS.length)) % HIDDEN_MINDS.length];
}

function readPrior(parameters, candidates) {
  const prior = parameters.get("prior")?.split("-").map((text) => decimal(text, "prior", 0.01, 100)) ?? null;
  if (prior && !candidates) throw new AddressError("it holds a “prior” without the “objects” that it is of.");
  if (prior && prior.length !== candidates.length) throw new AddressError(`“prior” has ${prior.length} numbers for ${candidates.length} candidates.`);
  return prior;
}

function readTarget(parameters, candidates) {
  if (!candidates) return null;
  const number = candidates.length;
  const key = wholeNumber(parameters, "key", 0, number - 1, null);
  if (key !== null) return (key + number - offset(parameters.get("objects"), number)) % number;
  const target = wholeNumber(parameters, "target", 1, number, null);
  return target === null ? null : target - 1;
}

function upgrade(search) {
  const parameters = new URLSearchParams(search);
  const isOld = parameters.has("tricky") || parameters.has("thoughts") || parameters.has("beliefs") || (parameters.has("step") && parameters.has("seed"));
  if (isOld) {
    for (const [old, now] of Object.entries(OLD_PARAMETERS)) {
      if (parameters.has(old) && now && !parameters.has(now)) parameters.set(now, parameters.get(old));
      parameters.delete(old);
    }
  }
  for (const [name, names] of Object.entries(OLD_NAMES)) {
    if (names[parameters.get(name)]) parameters.set(name, names[parameters.get(name)]);
  }
  return parameters;
}

// { address } or { error }, one sentence. `about` is what the server offers, null where there is none.
export function readAddress(search, site, about) {
  try {
    return { address: parseAddress(upgrade(search), site, about) };
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    return { error: `This address is not one of a game: ${error.message}` };
  }
}

function parseAddress(parameters, site, about) {
  const remoteGames = about?.games.map((game) => game.name) ?? [];
  const games = [...new Set([...allSpaces(site).map((space) => space.name), ...remoteGames])];
  const preferred = about?.agents.find((agent) => ["matchup", "run"].includes(agent.name)); // from the command line
  const agents = ["exact", "trained", ...(about?.agents.map((agent) => agent.name).filter((name) => !["exact", "pretrained"].includes(name)) ?? [])];
  const given = parameters.has("mode") || parameters.has("game") || parameters.has("agent");
  const mode = oneOf(parameters, "mode", Object.keys(MODES), parameters.has("objects") ? "student" : about?.consent ? "student" : preferred && !given ? "watch" : parameters.has("game") ? "student" : "story");
  const learns = mode === "watch" && [null, site.pair.game].includes(parameters.get("game"));
  const agent = oneOf(parameters, "agent", agents, preferred && !parameters.has("game") ? preferred.name : learns ? "trained" : "exact");
  const game = oneOf(parameters, "game", games, preferred && agent === preferred.name ? preferred.games[0] : null);
  const candidates = game === null ? null : readCandidates(parameters, site, game);
  const target = readTarget(parameters, candidates);
  if (target !== null && !candidates[target].length && mode !== "reasoning") throw new AddressError("no word is true of the one that is meant.");
  const isServed = !["exact", "trained"].includes(agent) || Boolean(about?.consent) || parameters.has("seed");
  if (agent === "trained" && !isServed && ![null, site.pair.game].includes(game)) throw new AddressError(`the trained pair plays ${site.pair.game}, not ${game}.`);
  if (game !== null && !findSpace(site, game) && ["story", "reasoning"].includes(mode)) throw new AddressError(`${game} is a game of the server’s, without a table.`);
  const seed = wholeNumber(parameters, "seed", 0, SEEDS - 1, null);
  if (seed !== null && !about) throw new AddressError("it holds a seed, and only the server of “implicature play” deals games by seed.");
  if (parameters.has("instances") && !/^\d{1,7}(-\d{1,7}){1,11}$/.test(parameters.get("instances"))) {
    throw new AddressError(`“instances=${parameters.get("instances")}” is not a list of numbers with hyphens between.`);
  }
  return {
    ...START, mode, game, agent, candidates, seed,
    target,
    variant: wholeNumber(parameters, "variant", 0, isServed ? 100 : agent === "trained" ? site.pair.phases.length - 1 : MAX_DEPTH, null),
    rationality: parameters.has("rationality") ? decimal(parameters.get("rationality"), "rationality", 0, 100) : START.rationality,
    utility: oneOf(parameters, "utility", ["belief", "log"], START.utility),
    start: oneOf(parameters, "start", ["share", "indicator"], null),
    prior: readPrior(parameters, candidates),
    costs: Object.fromEntries((parameters.get("costs")?.split("_") ?? []).map((text) => {
      const [, word, cost] = /^([a-z0-9-]{1,24})\.(\d+)$/.exec(text) ?? [];
      if (word === undefined) throw new AddressError(`“costs=${text}” is not a word and hundredths.`);
      return [word, Number(cost) / 100];
    })),
    rounds: wholeNumber(parameters, "rounds", 1, MAX_ROUNDS, 1),
    number: wholeNumber(parameters, "candidates", 2, MAX_CANDIDATES, null),
    pragmaticOnly: oneOf(parameters, "pragmatic_only", ["0", "1"], "1") === "1",
    partner: oneOf(parameters, "partner", Object.keys(PARTNERS), START.partner),
    mind: readMind(parameters, candidates),
    step: wholeNumber(parameters, "step", 0, 2 * MAX_DEPTH + 2, 0),
    word: parameters.get("word"),
    instances: parameters.get("instances")?.split("-").map(Number) ?? null,
    participant: parameters.get("participant"),
    condition: readCondition(parameters),
  };
}

export function writeAddress(address) {
  const { mode, game, candidates, target } = address;
  const parameters = {};
  const set = (name, value, unless) => { if (value !== null && value !== unless) parameters[name] = String(value); };
  set("mode", mode);
  set("game", game);
  if (candidates && mode !== "story") {
    set("objects", encodeCandidates(candidates));
    if (target !== null && mode === "student") set("key", (target + offset(parameters.objects, candidates.length)) % candidates.length);
    else if (target !== null) set("target", target + 1);
  }
  set("instances", address.instances?.join("-") ?? null);
  if (!candidates) set("candidates", address.number);
  set("agent", address.agent, mode === "watch" ? "trained" : "exact");
  set("variant", address.variant);
  set("rationality", address.rationality, START.rationality);
  set("utility", address.utility, START.utility);
  set("start", address.start);
  set("prior", address.prior?.join("-") ?? null);
  set("costs", Object.entries(address.costs).filter(([, cost]) => cost > 0).map(([word, cost]) => `${word}.${Math.round(100 * cost)}`).join("_") || null);
  set("rounds", address.rounds, 1);
  set("pragmatic_only", Number(address.pragmaticOnly), 1);
  if (mode === "teacher") set("partner", address.partner, START.partner);
  if (parameters.objects && address.mind && mode === "teacher") set("mind", (HIDDEN_MINDS.indexOf(address.mind) + offset(parameters.objects, HIDDEN_MINDS.length)) % HIDDEN_MINDS.length);
  set("step", address.step, 0);
  set("word", address.word);
  set("seed", address.seed);
  set("participant", address.participant);
  set("condition", address.condition);
  return `?${new URLSearchParams(parameters)}`;
}
