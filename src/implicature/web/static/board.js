// The board: what was said and done, the candidates, and the words that a teacher can choose.
// `play` is where things stand: mode, game, view (the candidates), state (from the server), turns (what the person did).

import { element } from "./dom.js";
import { drawCandidate } from "./draw.js";

// A candidate as a sentence mentions it.
export const describer = (game, view) => (position) => {
  const label = view.candidates[position].label;
  return game.kind === "objects" ? `the ${label}` : label;
};

function bubble(role, speaker, text) {
  return element("p", { className: `bubble ${role}` }, element("span", { className: "speaker" }, speaker), " ", element("span", { className: "speech" }, text));
}

function answerText(mode, answer, describe) {
  const person = mode === "student";
  if (answer === "wait") return person ? "wait for another word" : "waits for another word";
  return `${person ? "guess" : "guesses"} ${describe(answer)}`;
}

function taskText({ mode, view, state, turns }, describe) {
  if (mode === "teacher") {
    if (turns.length) return `He waits. Another word? You have ${view.rounds - turns.length} left.`;
    const cost = view.message_cost ? ` Each word costs ${view.message_cost}.` : "";
    return `You mean ${describe(state.target)}. Which word will make him find it?${cost}`;
  }
  const left = view.rounds - state.messages.length;
  const more = left === 1 ? "one more word" : `up to ${left} more words`;
  return `Which one does she mean?${left ? ` You may wait for ${more}, ${view.message_cost} each.` : ""}`;
}

export function dialogue(play) {
  const { mode, game, view, state, turns } = play;
  const describe = describer(game, view);
  const lines = [];
  state.messages.forEach((message, i) => {
    lines.push(bubble("teacher", mode === "teacher" ? "You say" : "She says", `“${game.words[message]}”`));
    const answer = mode === "student" ? turns[i] : state.rounds[i]?.answer ?? "wait";
    if (answer !== undefined) lines.push(bubble("student", mode === "student" ? "You" : "He", answerText(mode, answer, describe)));
  });
  if (!state.over) return [...lines, element("p", { className: "task" }, taskText(play, describe))];
  const correct = state.answer === state.target;
  const verdict = `${correct ? "Right." : "Not this one."} ${mode === "teacher" ? "You meant" : "She meant"} ${describe(state.target)}.`;
  return [...lines, element("p", { className: correct ? "verdict correct" : "verdict wrong" }, verdict)];
}

export function candidateCard({ mode, game, state }, candidate, i, guess) {
  const mentioned = state.messages.map((message) => game.words[message]);
  const isTarget = state.target === i;
  const isAnswer = state.over && state.answer === i;
  const tags = [isTarget ? "target" : "", isAnswer ? (mode === "student" ? "your guess" : "his guess") : ""].filter(Boolean);
  const clickable = mode === "student" && !state.over;
  const content = [...drawCandidate(game, candidate, mentioned), element("span", { className: "tags" }, ...tags.map((tag) => element("span", { className: "tag" }, tag)))];
  const label = `Candidate ${i + 1}: ${candidate.label}${tags.length ? `, ${tags.join(", ")}` : ""}`;
  const className = ["card", game.kind, isTarget ? "target" : "", isAnswer ? "answer" : ""].join(" ");
  const card = clickable
    ? element("button", { type: "button", className, "aria-label": label, onclick: () => guess(i) }, ...content)
    : element("div", { className, role: "img", "aria-label": label }, ...content);
  return element("li", {}, card, element("span", { className: "key", "aria-hidden": "true" }, clickable && i < 9 ? String(i + 1) : ""));
}

export function wordButtons({ game, view, state }, say) {
  const attributes = new Set(view.candidates[state.target].attributes);
  return game.words.map((word, i) => element("button", {
    type: "button", className: attributes.has(word) ? "word" : "word untrue", onclick: () => say(i),
    "aria-label": attributes.has(word) ? word : `${word}, not true of the target`,
  }, word));
}
