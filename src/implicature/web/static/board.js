// The board: what was said and done, the candidates, and the words a teacher can choose. `table` is where things stand.

import { element } from "./dom.js";
import { picture } from "./draw.js";

const quote = (word) => `“${word}”`;

// A candidate as a sentence speaks of it.
export const called = (table) => (place) => {
  const name = table.board.candidates[place].called;
  return table.game.kind === "objects" ? `the ${name}` : name;
};

function bubble(who, kind, text) {
  return element("p", { className: `bubble ${kind}` }, element("span", { className: "speaker" }, who), " ", element("span", { className: "speech" }, text));
}

export function scene(table) {
  const { mode, board, outcome, mine } = table;
  const the = called(table);
  const told = [];
  const spoken = outcome.words.map((word) => table.game.words[word]);
  const she = mode === "teacher" ? "You say" : "She says";
  const he = mode === "student" ? "You" : "He";
  spoken.forEach((word, i) => {
    told.push(bubble(she, "hers", quote(word)));
    const answer = mode === "student" ? mine[i] : outcome.thoughts[i]?.answer ?? "wait";
    if (answer === "wait") told.push(bubble(he, "his", mode === "student" ? "wait for another word" : "waits for another word"));
    else if (answer !== undefined) told.push(bubble(he, "his", `${mode === "student" ? "guess" : "guesses"} ${the(answer)}`));
  });
  if (outcome.over) {
    const right = outcome.answer === outcome.target;
    const end = `${right ? "Right." : "Not this one."} ${mode === "teacher" ? "You meant" : "She meant"} ${the(outcome.target)}.`;
    told.push(element("p", { className: right ? "verdict right" : "verdict wrong" }, end));
  } else if (mode === "teacher") {
    const left = board.rounds - mine.length;
    const cost = board.cost ? ` Each word costs ${board.cost}.` : "";
    told.push(element("p", { className: "task" }, mine.length ? `He waits. Another word? You have ${left} left.` : `You mean ${the(outcome.target)}. Which word will make him find it?${cost}`));
  } else {
    const left = board.rounds - outcome.words.length;
    told.push(element("p", { className: "task" }, `Which one does she mean?${left ? ` You may wait for ${left === 1 ? "one more word" : `up to ${left} more words`}, ${board.cost} each.` : ""}`));
  }
  return told;
}

export function card(table, shown, i, guess) {
  const { mode, game, outcome } = table;
  const heard = outcome.words.map((word) => table.game.words[word]);
  const meant = outcome.target === i;
  const chosen = outcome.over ? outcome.answer === i : false;
  const marks = [meant ? "target" : "", chosen ? (mode === "student" ? "your guess" : "his guess") : ""].filter(Boolean);
  const playable = mode === "student" && !outcome.over;
  const inside = [...picture(game, shown, heard), element("span", { className: "tags" }, ...marks.map((mark) => element("span", { className: "tag" }, mark)))];
  const label = `Candidate ${i + 1}: ${shown.called}${marks.length ? `, ${marks.join(", ")}` : ""}`;
  const classes = ["card", game.kind, meant ? "meant" : "", chosen ? "chosen" : ""].join(" ");
  const body = playable
    ? element("button", { type: "button", className: classes, "aria-label": label, onclick: () => guess(i) }, ...inside)
    : element("div", { className: classes, role: "img", "aria-label": label }, ...inside);
  return element("li", {}, body, element("span", { className: "key", "aria-hidden": "true" }, playable && i < 9 ? String(i + 1) : ""));
}

export function vocabulary({ game, board, outcome }, say) {
  const true_of = new Set(board.candidates[outcome.target].names);
  return game.words.map((word, i) => element("button", {
    type: "button", className: true_of.has(word) ? "word" : "word untrue", onclick: () => say(i),
    "aria-label": true_of.has(word) ? word : `${word}, not true of the target`,
  }, word));
}
