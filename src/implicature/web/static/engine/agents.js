// Players: each is a teacher and a student at once.
//
//   tables(context, belief)          { likelihood: P(word | candidate) of the teacher he expects, belief: after each word }
//   values(context, target, belief)  what each word is worth to her; null for one that she may not say
//   waits(belief, last, cost)        whether he waits for another word
//   nearTie                          words from this fraction of the largest probability on count as equally likely

import { encode, posterior, qValues, waitProbability } from "./exchange.js";
import { best, recursion, TIE } from "./rsa.js";

export function exactAgent(settings) {
  const solve = (context, belief) => recursion(context.truth, { ...settings, start: settings.start ?? context.start }, belief, context.costs);
  return {
    nearTie: 0.98,
    depth: settings.depth,
    tables(context, belief) {
      const solved = solve(context, belief);
      return { likelihood: solved.teacher[settings.depth], belief: solved.student[settings.depth] };
    },
    values(context, target, belief) {
      const beliefs = solve(context, belief).student[settings.depth];
      return context.words.map((_, m) => (context.truth[target][m] ? beliefs[target][m] - context.costs[m] : null));
    },
    waits: (belief, last, cost) => !last && Math.max(...belief) < 1 - cost - TIE,
  };
}

// A phase of the pair that comes with the package. Its words are all words of its space, in their order.
export function trainedAgent(tensors, lapseRate) {
  const features = (context) => context.truth.map((row) => row.map(Number));
  return {
    nearTie: 0.75,
    depth: null,
    tables(context, belief) {
      const { likelihood } = encode(tensors, "student", features(context), lapseRate);
      return { likelihood, belief: posterior(likelihood, belief) };
    },
    values: (context, target, belief) => qValues(tensors, encode(tensors, "teacher", features(context), lapseRate), target, belief),
    // What she thinks that he believes, which may differ from what he does.
    estimate: (context, belief, word) => posterior(encode(tensors, "teacher", features(context), lapseRate).likelihood, belief).map((row) => row[word]),
    waits(belief, last) {
      if (last) return false;
      const wait = waitProbability(tensors, belief);
      return wait > (1 - wait) * Math.max(...belief);
    },
  };
}

// A number from 0 to 1 that depends on the text alone: ties are broken in the same way whoever opens a game.
export function hash(text) {
  let value = 2166136261;
  for (const letter of text) value = Math.imul(value ^ letter.codePointAt(0), 16777619);
  value = Math.imul(value ^ (value >>> 15), 2246822507);
  return ((value ^ (value >>> 13)) >>> 0) / 2 ** 32;
}

export const pickTied = (values, text) => {
  const tied = best(values);
  return tied[Math.floor(hash(text) * tied.length)];
};

const NEARLY_BEST = 0.01;

// Her word for the target, given what was said before: her best; a new one where it is nearly as good as saying one again.
export function speak(agent, context, target, belief, said) {
  const values = agent.values(context, target, belief);
  const largest = Math.max(...values.map((value) => value ?? -Infinity));
  const fresh = values.map((value, m) => (value !== null && value >= largest - NEARLY_BEST && !said.includes(m) ? value : null));
  return pickTied(fresh.some((value) => value !== null) ? fresh : values, `${context.key} ${target} ${said.join(" ")}`);
}

// The rounds of a game with these words: what he believes before and after each, and what she thinks he believes.
export function follow(agent, context, target, words) {
  const rounds = [];
  let before = context.prior, estimate = context.prior;
  for (const word of words) {
    const tables = agent.tables(context, before);
    const after = tables.belief.map((row) => row[word]);
    rounds.push({ word, before, after, estimate, likelihood: tables.likelihood, values: agent.values(context, target, estimate) });
    estimate = agent.estimate ? agent.estimate(context, estimate, word) : after;
    before = after;
  }
  return rounds;
}
