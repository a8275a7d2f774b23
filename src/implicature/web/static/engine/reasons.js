// Why a word means to him what it means: sentences read off the tables, each claim true of them.
// tests/web/test_reasons.py checks the claims in the sentences of 10,000 random games against tables computed elsewhere.
//
// A round is { word, before, after, likelihood }: likelihood[o][m] = P(m | o) of the teacher whom he expects.

export const POSSIBLE = 0.01; // below this belief a candidate is ruled out
const SURE = 0.995;
const CHANGED = 0.005;
const CLOSE = 0.1; // a lead below this is no belief in one alone
const MOST_NAMES = 4;

export const percent = (p) => (p > 0 && p < 0.005 ? "under 1%" : p < 1 && p >= 0.995 ? "over 99%" : `${Math.round(100 * p)}%`);
export const short = (p) => percent(p).replace("under ", "<").replace("over ", ">");
export const quote = (word) => `“${word}”`;
export const upper = (text) => text[0].toUpperCase() + text.slice(1);

export function join(parts, last = "and", most = MOST_NAMES) {
  const shown = parts.length > most ? [...parts.slice(0, most - 1), `${parts.length - most + 1} more`] : parts;
  return shown.length > 1 ? `${shown.slice(0, -1).join(", ")} ${last} ${shown.at(-1)}` : shown.join("");
}

// Who hears the word, a student or the person who plays; and who says it, a teacher or that person.
export const HE = {
  she: "she",   hardly: "Before it he hardly believed in", nothing: "it tells him nothing new", cannot: "he cannot tell", sure: "he is sure of", believes: "he believes in", leans: "he leans to",
  share: "he takes her to say any true word", indicator: "he asks only what it is true of",
};
export const YOU = {
  she: "she",   hardly: "Before it there was hardly a reason to believe in", nothing: "it tells you nothing new", cannot: "you cannot tell", sure: "it must be", believes: "it is most likely", leans: "it may rather be",
  share: "taken literally, it may be any true word", indicator: "taken literally, it only tells what it is true of",
};
export const HE_OF_YOU = { ...HE, she: "you", share: "he takes you to say any true word" };

const total = (numbers) => numbers.reduce((one, other) => one + other, 0);
const indices = (items, test) => items.flatMap((item, i) => (test(item, i) ? [i] : []));

// Her likeliest words for a candidate, with those nearly as likely, and the chance of one of them.
export function likelyWords(likelihood, o, nearTie) {
  const row = likelihood[o], sum = total(row), largest = Math.max(...row);
  if (!(largest > 0)) return { words: [], chance: 0 };
  const words = indices(row, (p) => p >= nearTie * largest);
  return { words, chance: total(words.map((m) => row[m])) / sum };
}

// 1. What the word is true of, among all cards.
function fitSentence(context, word) {
  const { candidates, truth, words } = context;
  const fits = indices(candidates, (_, o) => truth[o][word]);
  const name = quote(words[word]);
  if (!fits.length) return `${name} is true of none of them.`;
  if (fits.length === candidates.length) return `${name} is true of ${fits.length === 2 ? "both" : "all"} of them.`;
  const names = fits.map((o) => candidates[o].label);
  return fits.length === 1 ? `${name} is true only of ${names[0]}.` : `${name} is true of ${join(names)}.`;
}

// 2. Whom the word fits, although earlier words or the prior speak against them.
function unlikelySentence(context, { word, before }, who) {
  const out = indices(context.candidates, (_, o) => context.truth[o][word] && before[o] < POSSIBLE);
  return out.length ? `${who.hardly} ${join(out.map((o) => context.candidates[o].label))}.` : "";
}

// 3. What would have been said instead for the rivals of the candidate he now believes most.
function counterfactual(context, round, winner, agent, who) {
  const { candidates, truth, words } = context;
  const rivals = indices(candidates, (_, o) => o !== winner && truth[o][round.word] && round.before[o] >= POSSIBLE);
  const groups = new Map();
  for (const o of rivals) {
    const { words: likely, chance } = likelyWords(round.likelihood, o, agent.nearTie);
    if (!likely.length) continue;
    const others = likely.filter((m) => m !== round.word);
    const text = likely.includes(round.word)
      ? others.length
        ? `${who.she} would as soon have said ${quote(words[round.word])} as ${join(others.map((m) => quote(words[m])), "or")}`
        : `${who.she} would have said ${quote(words[round.word])}, too (${percent(chance)})`
      : `${who.she} would have said ${join(others.map((m) => quote(words[m])), "or")} (${percent(chance)})`;
    groups.set(text, [...(groups.get(text) ?? []), candidates[o].label]);
  }
  const clauses = [...groups].map(([text, names]) => `for ${join(names)} ${text}`);
  if (!clauses.length) return "";
  return clauses.length > 3 ? `${clauses.slice(0, 2).join(", ")}; and so on for ${clauses.length - 2} more` : join(clauses);
}

// 4. Why this one wins although something else would rather have been said for it, too.
function becauseOfNumbers(context, round, winner, agent, who) {
  const { words: likely, chance } = likelyWords(round.likelihood, winner, agent.nearTie);
  if (!likely.length || likely.includes(round.word)) return "";
  const { label } = context.candidates[winner];
  const rather = `Even for ${label} ${who.she} would rather have said ${join(likely.map((m) => quote(context.words[m])), "or")} (${percent(chance)})`;
  const others = indices(context.candidates, (_, o) => o !== winner && round.before[o] >= POSSIBLE);
  const own = round.likelihood[winner][round.word];
  const likeliest = others.length && others.every((o) => own > round.likelihood[o][round.word]);
  return likeliest ? `${rather}, but ${quote(context.words[round.word])} is likelier for it than for any other.` : `${rather}.`;
}

// 5. What he believes now.
function conclusion(context, round, target, who) {
  const { candidates } = context;
  const { before, after } = round;
  const largest = Math.max(...after);
  const top = indices(after, (p) => p >= largest - 1e-5);
  const names = top.map((o) => candidates[o].label);
  const moved = after.some((p, o) => Math.abs(p - before[o]) > CHANGED);
  const instead = target !== null && !top.includes(target) ? `, not ${candidates[target].label} (${percent(after[target])})` : "";
  if (!moved) return who.nothing;
  if (top.length > 1) return `${who.cannot} ${join(names, "and")} apart (${percent(largest)} each)${instead.replace(", not", ", and not")}`;
  const isClose = after.some((p, o) => o !== top[0] && p > largest - CLOSE);
  return `${largest >= SURE ? who.sure : isClose ? who.leans : who.believes} ${names[0]} (${percent(largest)})${instead}`;
}

const literalReason = (context, agent, who) => (agent.depth === 0 && context.truth.some((row) => row.some(Boolean)) ? who[agent.start ?? context.start] : "");

// The reason of one round. `target` is null where it is not known.
export function reason(context, round, agent, target = null, who = HE) {
  if (agent.grounded === false) {
    const winner = round.after.indexOf(Math.max(...round.after));
    return `Their words mean only what they have come to use them for: ${quote(context.words[round.word])} makes him ${percent(round.after[winner])} sure of ${context.candidates[winner].label}.`;
  }
  const parts = [fitSentence(context, round.word)];
  if (target !== null && !context.truth[target][round.word] && context.truth.some((row) => row[round.word])) {
    parts.push(`It is not true of ${context.candidates[target].label}.`);
  }
  parts.push(unlikelySentence(context, round, who));
  const winner = round.after.indexOf(Math.max(...round.after));
  const end = conclusion(context, round, target, who);
  const because = round.likelihood && agent.depth !== 0 ? counterfactual(context, round, winner, agent, who) : literalReason(context, agent, who);
  if (round.likelihood && agent.depth !== 0) parts.push(becauseOfNumbers(context, round, winner, agent, who));
  parts.push(because ? `${upper(because)}; so ${end}.` : `So ${end}.`);
  return parts.filter(Boolean).join(" ");
}

// What she would say for each candidate.
export const wordsFor = (context, round, agent) => context.candidates.map((_, o) => join(likelyWords(round.likelihood, o, agent.nearTie).words.map((m) => quote(context.words[m])), "or"));

// What one cell of the recursion's table says. `step` is { kind: "truth" | "teacher" | "student", depth, table, source },
// where source is the table that it was made of.
export function cellReason(context, step, o, m) {
  const { label } = context.candidates[o];
  const word = quote(context.words[m]);
  if (!context.truth[o][m]) return `${upper(label)}: ${word} is not true of it${step.kind === "student" && step.table[o][m] > 0 ? `, and yet he believes in it (${percent(step.table[o][m])})` : ""}.`;
  if (step.kind === "truth") return `${upper(label)}: ${word} is true of it.`;
  const share = percent(step.table[o][m]);
  if (step.kind === "teacher") {
    const others = indices(context.words, (_, k) => k !== m && context.truth[o][k]);
    if (!others.length) return `To name ${label} she has no other word than ${word} (${share}).`;
    const rest = others.slice(0, 3).map((k) => `after ${quote(context.words[k])} ${percent(step.source[o][k])}`);
    if (step.depth === 0) return `To name ${label} she says any word that is true of it: ${word} ${share}.`;
    return `To name ${label} she says ${word} ${share} of the time: after it he would believe in it ${percent(step.source[o][m])}, ${join(rest)}.`;
  }
  const rivals = indices(context.candidates, (_, k) => k !== o && context.truth[k][m]);
  if (!rivals.length) return `When he hears ${word}, it can only be ${label} (${share}).`;
  if (step.depth === 0) return `When he hears ${word}, he believes in ${label} ${share}: it is true of ${join([o, ...rivals].map((k) => context.candidates[k].label))}.`;
  if (!(total(step.source.map((row) => row[m])) > 0)) return `She would say ${word} for none of them, so he stays with what he made of it before: ${label} ${share}.`;
  return `${upper([o, ...rivals].slice(0, 4).map((k) => wouldSay(context, step.source, k, m)).join("; "))}. So ${word} takes his belief in ${label} from ${percent(context.prior[o])} to ${share}.`;
}

// Her word for a candidate: what she would rather say, or how often she says it.
function wouldSay(context, likelihood, o, m) {
  const { words, chance } = likelyWords(likelihood, o, 0.98);
  const name = (k) => quote(context.words[k]);
  const own = percent(likelihood[o][m]);
  if (words.includes(m)) return `for ${context.candidates[o].label} she would say ${name(m)} (${own})`;
  return `for ${context.candidates[o].label} she would rather say ${join(words.map(name), "or")} (${percent(chance)}) than ${name(m)} (${own})`;
}
