// A context: the candidates, which words are true of which, the prior, and what each word costs.
// Spaces come from data/site.json: { name, title, kind, words, instances (indices of words), labels, share, candidates }.

import { greedyAccuracy, recursion } from "./rsa.js";

export const MAX_CANDIDATES = 12;
const LITERAL_ACCURACY = 0.51, EXACT_ACCURACY = 0.9, EXACT_DEPTH = 10;
const TRIES = 60;

const COLOURS = ["blue", "red", "yellow", "green", "cyan", "magenta"];
const SHAPES = ["box", "sphere", "cylinder", "pyramid", "cone", "ellipsoid"];
const ACCESSORIES = ["hat", "glasses", "moustache"];

export const FEATURES = {
  colour: COLOURS, shape: SHAPES, size: ["small", "large"], accessory: ACCESSORIES,
};

const subsets = (items) => items.reduce((all, _, i) => [...all, ...all.map((one) => [...one, i])], [[]]);

// Faces, as in people's experiments; and things made of any features.
export const FACES = {
  name: "faces", title: "Faces", kind: "faces", words: ACCESSORIES, instances: subsets(ACCESSORIES), labels: null,
  candidates: 3, share: true, pictures: false,
};
export const OWN = {
  name: "own", title: "Your own objects", kind: "objects", words: [...COLOURS, ...SHAPES, "small", "large", ...ACCESSORIES],
  instances: null, labels: null, candidates: 3, share: true, pictures: false,
};

const WORN = { hat: "a hat", glasses: "glasses", moustache: "a moustache" };
const list = (parts) => (parts.length > 1 ? `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}` : parts.join(""));

// How a sentence mentions a candidate with these attributes.
export function labelOf(space, attributes) {
  if (space.kind === "numbers") return `{${attributes.join(", ")}}`;
  if (space.kind === "faces") return attributes.length ? `the face with ${list(attributes.map((name) => WORN[name]))}` : "the plain face";
  const index = space.instances?.findIndex((one) => sameWords(one.map((i) => space.words[i]), attributes)) ?? -1;
  if (index >= 0 && space.labels) return space.labels[index];
  const worn = attributes.filter((name) => ACCESSORIES.includes(name));
  const rank = (name) => (SHAPES.includes(name) ? 3 : COLOURS.includes(name) ? 2 : name.includes("-") ? 1 : 0);
  const own = attributes.filter((name) => !worn.includes(name)).sort((one, other) => rank(one) - rank(other));
  const noun = own.length ? own.join(" ") : worn.length ? "face" : "plain one";
  return `the ${noun}${worn.length ? ` with ${list(worn.map((name) => WORN[name]))}` : ""}`;
}

export function sameWords(one, other) {
  return one.length === other.length && one.every((word) => other.includes(word));
}

// Two candidates may be alike: people's items have twins, and a sentence must still tell them apart.
function distinct(labels) {
  const number = (label) => labels.filter((one) => one === label).length;
  return labels.map((label, i) => (number(label) > 1
    ? `${label} (${["first", "second", "third", "fourth"][labels.slice(0, i).filter((one) => one === label).length] ?? i + 1})` : label));
}

export function makeContext(space, candidates, { prior = null, costs = {} } = {}) {
  const used = new Set(candidates.flat());
  const words = space.kind === "numbers" ? space.words : space.words.filter((word) => used.has(word));
  const weights = prior?.length === candidates.length ? prior : candidates.map(() => 1);
  const sum = weights.reduce((one, other) => one + other, 0);
  const labels = distinct(candidates.map((attributes) => labelOf(space, attributes)));
  return {
    space, words,
    key: `${space.name}:${candidates.map((names) => names.join(".")).join("_")}`,
    candidates: candidates.map((attributes, i) => ({ attributes, label: labels[i], instance: instanceOf(space, attributes) })),
    truth: candidates.map((names) => words.map((word) => (names.includes(word) ? 1 : 0))),
    prior: weights.map((one) => one / sum),
    costs: words.map((word) => costs[word] ?? 0),
    start: space.share ? "share" : "indicator",
    uniform: weights.every((one) => one === weights[0]),
  };
}

export function instanceOf(space, attributes) {
  return space.instances ? space.instances.findIndex((one) => sameWords(one.map((i) => space.words[i]), attributes)) : -1;
}

// Words that are true of a candidate at least.
export const usableWords = (context) => context.words.flatMap((_, m) => (context.truth.some((row) => row[m]) ? [m] : []));

function shuffle(items, random) {
  const shuffled = [...items];
  for (let i = shuffled.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [shuffled[i], shuffled[j]] = [shuffled[j], shuffled[i]];
  }
  return shuffled;
}

export function drawCandidates(space, number, random) {
  if (number > space.instances.length / 2) {
    return shuffle(space.instances, random).slice(0, number).map((one) => one.map((i) => space.words[i]));
  }
  const chosen = new Set();
  while (chosen.size < number) chosen.add(Math.floor(random() * space.instances.length));
  return [...chosen].map((i) => space.instances[i].map((word) => space.words[word]));
}

// How often a literal and an exact pair find each candidate.
export function pairAccuracies(context) {
  return [0, EXACT_DEPTH].map((depth) =>
    greedyAccuracy(context.truth, recursion(context.truth, { depth, start: context.start }, context.prior, context.costs).student[depth]));
}

// Candidates that she has a word for.
export const nameable = (context) => context.truth.flatMap((row, o) => (row.some(Boolean) ? [o] : []));

// A game whose target passes; where none is found, the last one drawn.
export function dealWhere(space, number, random, accepts, tries = TRIES) {
  let context, targets = [];
  for (let i = 0; i < tries && !targets.length; i++) {
    context = makeContext(space, drawCandidates(space, number, random));
    targets = accepts(context);
  }
  if (!targets.length) targets = nameable(context);
  return { candidates: context.candidates.map((one) => one.attributes), target: targets[Math.floor(random() * targets.length)] };
}

// Targets that a literal pair finds at most half of the time and an exact pair nearly always.
export function pragmaticTargets(context) {
  const [literal, exact] = pairAccuracies(context);
  return literal.flatMap((chance, i) => (chance <= LITERAL_ACCURACY && exact[i] >= EXACT_ACCURACY ? [i] : []));
}
