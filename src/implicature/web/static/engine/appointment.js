// The appointment game and its exact and literal players, as games/appointment.py and agents/appointment/ have them.
//
//   S_0(m | c)   ∝ 1[m true of c]
//   L_t(c | m)   ∝ b(c) · S_t(m | c)
//   S_t+1(m | c) ∝ 1[m true of c] · exp(β U_t(m | c))     U_t: what m is worth if a listener L_t answers at once
//
// A calendar is a number from 1 to 255 whose bits are the busy slots; tables of calendars have an unused entry 0.

export const SLOTS = 8;
export const NONE = SLOTS;
export const COST = 0.1;
const SIZE = 2 ** SLOTS;
const ALL_BUSY = SIZE - 1;
const BETA = 10;
const DEPTH = 10;
const TIE = 1e-5;

// All messages: the first and the last slot of a run, and its slots as bits.
export const RUNS = Array.from({ length: SLOTS }, (_, first) =>
  Array.from({ length: SLOTS - first }, (_, more) => ({ first, last: first + more, bits: (2 ** (more + 1) - 1) << first })),
).flat();

export const isBusy = (calendar, slot) => ((calendar >> slot) & 1) === 1;
export const isTrue = (run, calendar) => (run.bits & ~calendar) === 0;
export const runName = ({ first, last }) => (first === last ? `${first + 1}` : `${first + 1}-${last + 1}`);

export const uniform = () => Float64Array.from({ length: SIZE }, (_, calendar) => (calendar ? 1 / (SIZE - 1) : 0));

// How likely each slot is free.
export function freeSlots(belief) {
  const free = new Float64Array(SLOTS);
  for (let c = 1; c < SIZE; c++) for (let s = 0; s < SLOTS; s++) if (!isBusy(c, s)) free[s] += belief[c];
  return free;
}

// For each calendar c, the weight of the calendars that share no free slot with it: those that are busy wherever c is not.
function noCommonSlot(weights) {
  const sums = Float64Array.from(weights);
  for (let s = 0; s < SLOTS; s++) for (let c = 0; c < SIZE; c++) if (!isBusy(c, s)) sums[c] += sums[c | (1 << s)];
  return Float64Array.from({ length: SIZE }, (_, c) => sums[ALL_BUSY & ~c]);
}

function firstBest(values) {
  const largest = Math.max(...values);
  return values.findIndex((value) => value >= largest - TIE);
}

// The expected reward of each answer to whom this is believed of, for each calendar one may hold.
function answerValues(belief) {
  const free = freeSlots(belief);
  const none = noCommonSlot(belief);
  return (c) => [...Array.from(free, (p, s) => (isBusy(c, s) ? -2 : 3 * p - 2)), 2 * none[c] - 1];
}

// U(m | c) for all c: what a message is worth after which the other believes `heard` of c and answers at once.
function messageWorth(heard, listener) {
  const values = answerValues(heard);
  const slots = new Float64Array(SLOTS);
  const none = new Float64Array(SIZE);
  let proposed = 0;
  let denied = 0;
  for (let d = 1; d < SIZE; d++) {
    if (listener[d] === 0) continue;
    const answer = firstBest(values(d));
    if (answer === NONE) {
      none[d] = listener[d];
      denied += listener[d];
    } else {
      proposed += listener[d];
      if (!isBusy(d, answer)) slots[answer] += listener[d];
    }
  }
  const right = noCommonSlot(none);
  return Float64Array.from({ length: SIZE }, (_, c) => {
    let found = 0;
    for (let s = 0; s < SLOTS; s++) if (!isBusy(c, s)) found += slots[s];
    return 3 * found - 2 * proposed + 2 * right[c] - denied;
  });
}

// L from S (a function of calendar and message) and a belief: for each message a belief. What no speaker would say leaves
// what the listener of the depth before made of it.
function listen(speaker, belief, before) {
  return RUNS.map((_, m) => {
    const weights = Float64Array.from({ length: SIZE }, (_, c) => (c ? belief[c] * speaker[c][m] : 0));
    const total = weights.reduce((sum, one) => sum + one, 0);
    return total > 0 ? weights.map((one) => one / total) : before[m];
  });
}

const speakers = (weight) =>
  Array.from({ length: SIZE }, (_, c) => {
    const weights = RUNS.map((run, m) => (isTrue(run, c) ? weight(c, m) : 0));
    const total = weights.reduce((sum, one) => sum + one, 0);
    return weights.map((one) => (total ? one / total : 0));
  });

// What is believed of the speaker's calendar after each message. `speaker` is the belief before, `listener` what the
// speaker believes of the listener's calendar.
export function listener(kind, speaker, listenerBelief) {
  let heard = listen(speakers(() => 1), speaker, RUNS.map(() => speaker));
  for (let depth = 0; kind === "exact" && depth < DEPTH; depth++) {
    const worth = heard.map((belief) => messageWorth(belief, listenerBelief));
    heard = listen(speakers((c, m) => Math.exp(BETA * (worth[m][c] - 1))), speaker, heard);
  }
  return heard;
}

// A player's beliefs: over the other's calendar, and the one that it expects the other to have over its own.
export const newState = (messages) => ({ belief: uniform(), estimate: uniform(), left: messages });

export function afterSending(kind, state, m) {
  return { ...state, estimate: listener(kind, state.estimate, state.belief)[m], left: state.left - 1 };
}

export function afterHearing(kind, state, m) {
  return { ...state, belief: listener(kind, state.belief, state.estimate)[m], left: state.left - 1 };
}

// What a player of this kind does: { answer } or { message }, with what it is worth in expectation.
export function decide(kind, state, calendar, random) {
  const answers = answerValues(state.belief)(calendar);
  const answer = firstBest(answers);
  if (state.left === 0) return { answer, worth: answers[answer] };
  const sayable = RUNS.flatMap((run, m) => (isTrue(run, calendar) ? [m] : []));
  if (kind === "literal") {
    if (answers[answer] >= 1 - COST) return { answer, worth: answers[answer] };
    return { message: sayable[Math.floor(random() * sayable.length)], worth: 1 - COST };
  }
  const expected = listener(kind, state.estimate, state.belief);
  const values = sayable.map((m) => messageWorth(expected[m], state.belief)[calendar] - COST);
  const best = firstBest(values);
  if (values[best] > answers[answer]) return { message: sayable[best], worth: values[best] };
  return { answer, worth: answers[answer] };
}

// What an answer is worth.
export function score(answer, one, other) {
  const common = ALL_BUSY & ~(one | other);
  if (answer === NONE) return common ? -1 : 1;
  return (common >> answer) & 1 ? 1 : -2;
}

// Numbers from 0 to 1, always the same from one seed.
export function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
