// The page: settings, a board, and what the agents think of it.

import { called, card, scene, vocabulary } from "./board.js";
import { agreed } from "./consent.js";
import { by, element } from "./dom.js";
import * as score from "./score.js";
import { ask, newSeed, question, read, write } from "./state.js";
import { thinking } from "./thoughts.js";

let about, state, person, board, outcome;
let mine = []; // as the teacher: the words said; as the student: what was answered, "wait" or a place
let since = 0, asked = 0;

const game = () => about.games.find((one) => one.name === state.game);
const agent = () => about.agents.find((one) => one.name === state.agent);
const words = () => game().words;
const done = () => outcome?.over ?? false;
const decision = () => person && { consent: true, ...person, milliseconds: Math.min(86_400_000, Math.round(performance.now() - since)) };

// Only the latest question counts; a problem is told where everybody looks.
async function answerTo(path, body) {
  const number = ++asked;
  document.body.classList.add("waiting");
  const patience = setTimeout(() => { if (number === asked) by("busy").textContent = "The agents are getting ready for this kind of game …"; }, 800);
  try {
    const told = await ask(path, body);
    if (number !== asked) return null;
    by("problem").hidden = true;
    return told;
  } catch (problem) {
    if (number === asked) trouble(problem.message);
    return null;
  } finally {
    clearTimeout(patience);
    if (number === asked) {
      document.body.classList.remove("waiting");
      by("busy").textContent = "";
    }
  }
}

function trouble(sentence) {
  const fresh = element("button", { type: "button", onclick: () => { location.search = ""; } }, "Start afresh");
  by("problem").replaceChildren(`${sentence} `, fresh);
  by("problem").hidden = false;
}

// ---- a game from its beginning, from the address

async function begin() {
  mine = [];
  outcome = null;
  settings();
  const address = question(state);
  const dealt = await answerTo("game", address);
  if (!dealt) return by("board").classList.add("empty");
  by("board").classList.remove("empty");
  board = dealt;
  await hear();
}

async function hear() {
  const address = question(state);
  const told = state.mode === "watch" ? await answerTo("watch", address)
    : state.mode === "teacher" ? await answerTo("teacher", { address, words: mine })
      : await answerTo("student", { address, words: 1 });
  if (told) settle(told);
}

function settle(told) {
  outcome = told;
  since = performance.now();
  if (told.over && state.mode !== "watch") score.count(`${state.mode}${location.search.replace(/&(thoughts|step)=\d+/g, "")}`, told);
  render();
}

// ---- what a person does

async function guess(place) {
  if (done() || state.mode !== "student" || !outcome) return;
  const told = await answerTo("student", { address: question(state), words: outcome.words.length, answer: place, person: decision() });
  if (!told) return;
  mine = [...mine, place];
  settle(told);
  if (told.over) by("next")?.focus();
}

async function say(word) {
  if (done() || state.mode !== "teacher" || !outcome) return;
  const told = await answerTo("teacher", { address: question(state), words: [...mine, word], person: decision() });
  if (!told) return;
  mine = told.words;
  settle(told);
  if (told.over) by("next")?.focus();
}

function next() {
  state = { ...state, seed: newSeed(), instances: null };
  write(state);
  begin().then(() => (by("board").querySelector("button:not(:disabled)") ?? by("board")).focus());
}

// The same game again at another depth or phase. A word not yet answered is heard anew; an answer stands.
async function replay() {
  write(state, true);
  steps();
  const address = question(state);
  if (state.mode === "student" && done()) {
    const told = await answerTo("student", { address, words: outcome.words.length, answer: outcome.answer });
    if (told) { outcome = told; render(); }
  } else if (state.mode === "teacher" && mine.length) {
    let said = mine;
    let told = null;
    for (let i = 1; i <= said.length && !told?.over; i++) told = await answerTo("teacher", { address, words: said.slice(0, i) });
    if (told) { outcome = told; mine = told.words; render(); }
  } else {
    mine = [];
    await hear();
  }
}

// ---- drawing

function settings() {
  const form = by("settings");
  const fill = (name, options, chosen) => {
    const select = form.elements[name];
    select.replaceChildren(...options.map(([value, text]) => element("option", { value, textContent: text, selected: String(value) === String(chosen) })));
  };
  for (const button of by("modes").children) {
    button.setAttribute("aria-pressed", String(button.dataset.mode === state.mode));
  }
  const known = game();
  fill("game", [...(known ? [] : [["", "choose one"]]), ...about.games.map((one) => [one.name, one.title])], state.game);
  if (!known) return;
  const number = state.instances?.length ?? state.candidates ?? known.candidates;
  const numbers = Array.from({ length: known.most - 1 }, (_, i) => [i + 2, String(i + 2)]);
  fill("candidates", known.most > 3 ? numbers : [[known.candidates, String(known.candidates)]], number);
  fill("rounds", Array.from({ length: about.rounds }, (_, i) => [i + 1, i ? `up to ${i + 1}` : "one"]), state.rounds);
  fill("agent", about.agents.filter((one) => one.games.includes(state.game)).map((one) => [one.name, one.title]), state.agent);
  form.elements.tricky.checked = state.tricky;
  by("own").hidden = known.most <= 3;
  by("typed").placeholder = known.kind === "objects" ? "small, blue, box, upper-left; large, red, cone, lower-right" : "1, 2, 3, 9; 1, 2, 4; 2, 3; 3, 4, 5";
  steps();
}

function steps() {
  const known = agent();
  if (!known) return;
  by("steps").parentElement.hidden = known.steps.length < 2; // agents who are as they are
  by("step").max = known.steps.length - 1;
  by("step").value = state.step;
  by("step").setAttribute("aria-valuetext", known.steps[state.step] ?? "");
  by("steps").replaceChildren(...known.steps.map((_, i) => element("option", { value: i })));
  by("step-title").textContent = known.name === "exact" ? "How deep they think:" : "How long they have learned:";
  by("step-name").textContent = known.steps[state.step] ?? "";
  by("ends").firstElementChild.textContent = known.grounded ? "literal" : "untrained";
}

function render() {
  const focused = document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.id;
  const table = { mode: state.mode, game: game(), board, outcome, mine };
  by("scene").replaceChildren(...scene(table));
  by("candidates").dataset.number = board.candidates.length;
  by("candidates").replaceChildren(...board.candidates.map((shown, i) => card(table, shown, i, guess)));
  by("words").replaceChildren(...(state.mode === "teacher" && !done() ? vocabulary(table, say) : []));
  by("actions").replaceChildren(...actions());
  // Who was at a card, a word or a button that was drawn anew is still there.
  if (focused && document.activeElement === document.body) {
    Array.from(by("board").querySelectorAll("button")).find((one) => (one.getAttribute("aria-label") ?? one.id) === focused)?.focus();
  }
  by("step").disabled = Boolean(person) && !done(); // in a study nobody hears a game at two depths before deciding
  think();
  score.show();
}

function think() {
  by("think").setAttribute("aria-expanded", String(state.thoughts));
  by("thoughts").hidden = !state.thoughts;
  const nothing = state.mode === "student" ? "Answer first: then you see what they thought." : "Say a word first: then you see what he makes of it.";
  by("thoughts").replaceChildren(...(outcome.thoughts.length ? thinking(board, words(), outcome, called({ board, game: game() })) : [element("p", { className: "why" }, nothing)]));
}

function actions() {
  const made = [];
  if (state.mode === "student" && !done() && outcome.words.length < board.rounds) {
    made.push(element("button", { type: "button", id: "wait", onclick: () => guess("wait") }, "Wait for another word"));
  }
  if (done() || state.mode === "watch") made.push(element("button", { type: "button", id: "next", className: "main", onclick: next }, "Next game"));
  else made.push(element("button", { type: "button", id: "next", className: "quiet", onclick: next }, "Another game"));
  made.push(element("button", { type: "button", id: "share", className: "quiet", onclick: share }, "Copy this game’s address"));
  return made;
}

async function share(event) {
  const plain = new URL(location.href);
  plain.searchParams.delete("participant");
  try {
    await navigator.clipboard.writeText(plain.href);
    event.target.textContent = "Copied";
  } catch {
    event.target.textContent = "Copy it from the address bar";
  }
}

// ---- what is listened to

function choose(changes) {
  state = { ...state, ...changes };
  const playing = about.agents.filter((one) => one.games.includes(state.game));
  if (!playing.length) return;
  if (!playing.some((one) => one.name === state.agent)) state.agent = playing[0].name;
  if ("agent" in changes || "game" in changes) state.step = agent().step;
  write(state);
  begin();
}

function listen() {
  const form = by("settings");
  form.addEventListener("submit", (event) => event.preventDefault());
  form.elements.game.addEventListener("change", (event) => choose({ game: event.target.value, candidates: null, instances: null }));
  form.elements.candidates.addEventListener("change", (event) => choose({ candidates: Number(event.target.value), instances: null }));
  form.elements.rounds.addEventListener("change", (event) => choose({ rounds: Number(event.target.value) }));
  form.elements.agent.addEventListener("change", (event) => choose({ agent: event.target.value }));
  form.elements.tricky.addEventListener("change", (event) => choose({ tricky: event.target.checked }));
  by("take").addEventListener("click", async () => {
    const told = await answerTo("candidates", { game: state.game, text: by("typed").value || by("typed").placeholder });
    if (told) choose({ instances: told.instances });
  });
  for (const button of by("modes").children) button.addEventListener("click", () => choose({ mode: button.dataset.mode }));
  by("step").addEventListener("input", (event) => { state = { ...state, step: Number(event.target.value) }; replay(); });
  by("think").addEventListener("click", () => { state = { ...state, thoughts: !state.thoughts }; write(state, true); if (outcome) think(); });
  by("theme").addEventListener("click", () => {
    const dark = getComputedStyle(document.documentElement).colorScheme.includes("dark");
    theme(dark ? "light" : "dark");
  });
  for (const link of document.querySelectorAll("[data-lesson]")) link.addEventListener("click", (event) => {
    event.preventDefault();
    const participant = state.participant;
    history.pushState(null, "", link.getAttribute("href"));
    state = { ...read(about), participant };
    begin().then(() => by("board").focus());
    scrollTo({ top: 0 });
  });
  addEventListener("popstate", () => { state = read(about); begin(); });
  addEventListener("keydown", keys);
}

function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || /INPUT|SELECT|TEXTAREA/.test(event.target.tagName) || by("consent").open) return;
  if (/^[0-9]$/.test(event.key) && state.mode === "student" && Number(event.key) <= board?.candidates.length && event.key !== "0") guess(Number(event.key) - 1);
  else if (/^[0-9]$/.test(event.key) && state.mode === "teacher" && words().includes(event.key)) say(words().indexOf(event.key));
  else if (event.key === "w") by("wait")?.click();
  else if (event.key === "n") next();
  else if (event.key === "t") by("think").click();
}

function theme(name) {
  document.documentElement.dataset.theme = name;
  try { localStorage.setItem("theme", name); } catch { /* a browser that keeps nothing */ }
}

async function start() {
  try {
    if (localStorage.getItem("theme")) theme(localStorage.getItem("theme"));
  } catch { /* a browser that keeps nothing */ }
  try {
    about = await ask("about");
  } catch (problem) {
    return trouble(problem.message);
  }
  state = read(about);
  person = await agreed(about.consent, state.participant);
  if (person) state.participant = person.participant;
  write(state, true);
  listen();
  score.show();
  await begin();
}

start();
