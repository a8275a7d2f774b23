// From an address that leaves something open to a whole game, and from one game to the next.

import { exactAgent, trainedAgent } from "./engine/agents.js";
import { dealWhere, makeContext, nameable, pragmaticTargets } from "./engine/context.js";
import { best, column, recursion } from "./engine/rsa.js";
import { findSpace, newSeed } from "./url.js";

export const DEFAULT_DEPTH = 3;
// The minds that a partner may have, by depth.
export const MINDS = { literal: 0, one: 1, deep: 4 };
const TEACHER_TRIES = 300; // draws: such games are rare
const DEFAULT_GAME = { story: "three-objects", student: "objects-4", teacher: "objects-4", reasoning: "three-objects", watch: "numbers-4" };
const OWN_START = [["blue", "sphere"], ["red", "sphere"], ["blue", "cone"]];

// Games of runs and own agents, games dealt by seed and games of recorded participants are the server's.
export function isRemote(address, env) {
  if (!env.about || !["student", "teacher", "watch"].includes(address.mode)) return false;
  const isUnknown = address.game !== null && !findSpace(env.site, address.game);
  return Boolean(env.about.consent) || address.seed !== null || isUnknown || !["exact", "trained"].includes(address.agent);
}

export function contextOf(address, env) {
  return makeContext(findSpace(env.site, address.game), address.candidates, { prior: address.prior, costs: address.costs });
}

export const settingsOf = (address, depth) => ({ depth, rationality: address.rationality, utility: address.utility, ...(address.start ? { start: address.start } : {}) });

// The agent of an address at a depth or phase; null while its network is being loaded.
export function agentOf(address, env, variant) {
  if (address.agent === "trained") return env.pair ? trainedAgent(env.pair[variant], env.site.pair.lapse_rate) : null;
  return exactAgent(settingsOf(address, variant));
}

export const variantOf = (address, env) => address.variant ?? (address.agent === "trained" ? env.site.pair.phases.length - 1 : DEFAULT_DEPTH);

// The true words after which a student of this depth finds the target for sure.
export function workingWords(context, depth, target) {
  const belief = recursion(context.truth, { depth, start: context.start }, context.prior, context.costs).student[depth];
  return context.words.flatMap((_, m) => {
    const guesses = best(column(belief, m));
    return context.truth[target][m] && guesses.length === 1 && guesses[0] === target ? [m] : [];
  });
}

// Targets for which some, but fewer than half, of the true words work with this mind, and not the same as with others.
const teachableTargets = (depth) => (context) => context.candidates.flatMap((_, target) => {
  const own = workingWords(context, depth, target);
  const number = context.truth[target].filter(Boolean).length;
  if (!own.length || own.length * 2 >= number) return [];
  const others = Object.values(MINDS).filter((one) => one !== depth).map((one) => String(workingWords(context, one, target)));
  return others.some((words) => words !== String(own)) ? [target] : [];
});

function drawTarget(address, env, random) {
  const targets = nameable(contextOf(address, env));
  return targets[Math.floor(random() * targets.length)] ?? 0;
}

export function completeAddress(address, env, random = Math.random, mind = "deep") {
  const game = address.game ?? (address.agent === "trained" ? env.site.pair.game : DEFAULT_GAME[address.mode]);
  if (isRemote(address, env)) {
    const agent = env.about.agents.find((one) => one.name === (address.agent === "trained" ? "pretrained" : address.agent));
    const served = address.game ?? (agent?.games.includes(game) ? game : agent?.games[0] ?? game);
    return { ...address, game: served, candidates: null, target: null, seed: address.seed ?? newSeed(), variant: address.variant ?? agent?.variant ?? 0 };
  }
  const whole = { ...address, game };
  if (address.mode === "story") return whole;
  const space = findSpace(env.site, game);
  whole.mind = whole.mode === "teacher" && whole.agent === "exact" && whole.partner === "hidden" ? whole.mind ?? mind : null;
  if (whole.candidates) return whole.target === null ? { ...whole, target: drawTarget(whole, env, random) } : whole;
  if (whole.mode === "reasoning" && game === "three-objects") return { ...whole, candidates: OWN_START, target: whole.target ?? 0, word: whole.word ?? "blue" };
  if (game === "own") return completeAddress({ ...whole, candidates: env.own?.flat().length ? env.own : OWN_START }, env, random, mind);
  const number = Math.min(whole.number ?? space.candidates, space.instances.length);
  const accepts = whole.mode === "teacher" ? teachableTargets(MINDS[whole.mind ?? whole.partner] ?? MINDS.deep)
    : whole.pragmaticOnly ? pragmaticTargets : nameable;
  return { ...whole, ...dealWhere(space, number, random, accepts, whole.mode === "teacher" ? TEACHER_TRIES : undefined) };
}

// Another game with the same settings. One's own objects stay, in another order and with another target.
export function nextAddress(address, env, random = Math.random, mind = "deep") {
  if (address.game === "own" && address.candidates) {
    const order = address.candidates.map((candidate) => [random(), candidate]).sort(([one], [other]) => one - other).map(([, candidate]) => candidate);
    const next = { ...address, candidates: order, prior: null };
    return { ...next, target: drawTarget(next, env, random) };
  }
  const fresh = { ...address, candidates: null, target: null, instances: null, prior: null, costs: {}, word: null, seed: address.seed === null ? null : newSeed() };
  return completeAddress(fresh, env, random, mind);
}
