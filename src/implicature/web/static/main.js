// The page: settings, a board, and what the agents believe.

import { request } from "./api.js";
import { renderRounds } from "./beliefs.js";
import { candidateCard, describer, dialogue, wordButtons } from "./board.js";
import { askConsent } from "./consent.js";
import { byId, element } from "./dom.js";
import { addGame, renderScore } from "./score.js";
import { renderSettings, renderVariants } from "./settings.js";
import { gameKey, gameSettings, newSeed, newUUID, readState, writeState } from "./state.js";

let about, participant;
let state; // what the URL holds
let view, gameState; // from the server: what both players see, and where the game stands
let turns = []; // as the teacher: the messages sent; as the student: the answers, "wait" or a position
let turnStarted = 0, decisionId, requests = 0;

const currentGame = () => about.games.find((game) => game.name === state.game);
const currentAgent = () => about.agents.find((agent) => agent.name === state.agent);
const isOver = () => gameState?.over ?? false;

function decisionMaker() {
  const reactionTime = Math.min(86_400_000, Math.round(performance.now() - turnStarted));
  return participant && { consent: true, ...participant, reaction_time_ms: reactionTime, decision_id: decisionId };
}

// The response; null if it is an error, which is shown, or if a later request has been sent.
async function send(path, body) {
  const number = ++requests;
  document.body.classList.add("waiting");
  const slow = setTimeout(() => {
    if (number === requests) byId("busy").textContent = "The agents are getting ready for this kind of game …";
  }, 800);
  try {
    const response = await request(path, body);
    if (number !== requests) return null;
    byId("error").hidden = true;
    return response;
  } catch (error) {
    if (number === requests) showError(error.message);
    return null;
  } finally {
    clearTimeout(slow);
    if (number === requests) {
      document.body.classList.remove("waiting");
      byId("busy").textContent = "";
    }
  }
}

function showError(message) {
  const reset = element("button", { type: "button", onclick: () => { location.search = ""; } }, "Start afresh");
  byId("error").replaceChildren(`${message} `, reset);
  byId("error").hidden = false;
}

// ---- a new game, from the URL

async function startGame() {
  turns = [];
  gameState = null;
  renderSettings(about, state);
  const dealt = await send("game", gameSettings(state));
  byId("board").classList.toggle("empty", !dealt);
  if (!dealt) return;
  view = dealt;
  await firstTurn();
}

async function firstTurn() {
  const settings = gameSettings(state);
  const response = state.mode === "watch" ? await send("watch", settings)
    : state.mode === "teacher" ? await send("teacher", { settings, messages: turns })
      : await send("student", { settings, n_messages: 1 });
  if (response) update(response);
}

function update(response) {
  gameState = response;
  turnStarted = performance.now();
  decisionId = newUUID(); // one for each turn: whatever is sent twice in it is recorded once
  if (isOver() && state.mode !== "watch") addGame(gameKey(state), gameState);
  render();
}

// ---- a person's turn

async function guess(answer) {
  if (isOver() || state.mode !== "student" || !gameState) return;
  const body = { settings: gameSettings(state), n_messages: gameState.messages.length, answer, participant: decisionMaker() };
  const response = await send("student", body);
  if (!response) return;
  turns = [...turns, response.over ? response.answer : "wait"]; // what was recorded first, if two were sent
  update(response);
  if (isOver()) byId("next")?.focus();
}

async function say(message) {
  if (isOver() || state.mode !== "teacher" || !gameState) return;
  const body = { settings: gameSettings(state), messages: [...turns, message], participant: decisionMaker() };
  const response = await send("teacher", body);
  if (!response) return;
  turns = response.messages;
  update(response);
  if (isOver()) byId("next")?.focus();
}

function nextGame() {
  state = { ...state, seed: newSeed(), instances: null };
  writeState(state);
  startGame().then(() => (byId("board").querySelector("button:not(:disabled)") ?? byId("board")).focus());
}

// The same game at another depth or phase. A finished game keeps the person's answer; an open turn starts again.
async function replay() {
  writeState(state, true);
  renderVariants(currentAgent(), state);
  const settings = gameSettings(state);
  if (state.mode === "student" && isOver()) {
    const response = await send("student", { settings, n_messages: gameState.messages.length, answer: gameState.answer });
    if (response) { gameState = response; render(); }
  } else if (state.mode === "teacher" && turns.length) {
    let response = null;
    for (let i = 1; i <= turns.length && !response?.over; i++) response = await send("teacher", { settings, messages: turns.slice(0, i) });
    if (response) { gameState = response; turns = response.messages; render(); }
  } else {
    turns = [];
    await firstTurn();
  }
}

// ---- rendering

function render() {
  const focused = document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.id;
  const play = { mode: state.mode, game: currentGame(), view, state: gameState, turns };
  byId("dialogue").replaceChildren(...dialogue(play));
  byId("candidates").dataset.number = view.candidates.length;
  byId("candidates").replaceChildren(...view.candidates.map((candidate, i) => candidateCard(play, candidate, i, guess)));
  byId("words").replaceChildren(...(state.mode === "teacher" && !isOver() ? wordButtons(play, say) : []));
  byId("actions").replaceChildren(...actionButtons());
  // Keep the focus on a card, a word or a button that was rendered again.
  if (focused && document.activeElement === document.body) {
    Array.from(byId("board").querySelectorAll("button")).find((one) => (one.getAttribute("aria-label") ?? one.id) === focused)?.focus();
  }
  byId("variant").disabled = Boolean(participant) && !isOver(); // in a study nobody sees a game at two depths before deciding
  renderBeliefs();
  renderScore();
}

function renderBeliefs() {
  byId("toggle-beliefs").setAttribute("aria-expanded", String(state.showBeliefs));
  byId("beliefs").hidden = !state.showBeliefs;
  const hint = state.mode === "student" ? "Answer first: then you see what they thought." : "Say a word first: then you see what he makes of it.";
  const game = currentGame();
  byId("beliefs").replaceChildren(...(gameState.rounds.length
    ? renderRounds(view, game.words, gameState, describer(game, view)) : [element("p", { className: "explanation" }, hint)]));
}

function actionButtons() {
  const button = (id, className, onclick, text) => element("button", { type: "button", id, className, onclick }, text);
  const canWait = state.mode === "student" && !isOver() && gameState.messages.length < view.rounds;
  const finished = isOver() || state.mode === "watch";
  return [
    ...(canWait ? [button("wait", "", () => guess("wait"), "Wait for another word")] : []),
    finished ? button("next", "main", nextGame, "Next game") : button("next", "quiet", nextGame, "Another game"),
    button("share", "quiet", copyLink, "Copy this game’s address"),
  ];
}

async function copyLink(event) {
  const link = new URL(location.href);
  link.searchParams.delete("participant");
  try {
    await navigator.clipboard.writeText(link.href);
    event.target.textContent = "Copied";
  } catch {
    event.target.textContent = "Copy it from the address bar";
  }
}

// ---- events

function changeSettings(changes) {
  state = { ...state, ...changes };
  const able = about.agents.filter((agent) => agent.games.includes(state.game));
  if (!able.length) return;
  if (!able.some((agent) => agent.name === state.agent)) state.agent = able[0].name;
  if ("agent" in changes || "game" in changes) state.variant = currentAgent().variant;
  writeState(state);
  startGame();
}

function addListeners() {
  const form = byId("settings");
  const onChange = (name, changes) => form.elements[name].addEventListener("change", (event) => changeSettings(changes(event.target)));
  form.addEventListener("submit", (event) => event.preventDefault());
  onChange("game", (select) => ({ game: select.value, candidates: null, instances: null }));
  onChange("candidates", (select) => ({ candidates: Number(select.value), instances: null }));
  onChange("rounds", (select) => ({ rounds: Number(select.value) }));
  onChange("agent", (select) => ({ agent: select.value }));
  onChange("pragmatic_only", (box) => ({ pragmaticOnly: box.checked }));
  byId("use-candidates").addEventListener("click", async () => {
    const input = byId("candidate-text");
    const response = await send("candidates", { game: state.game, text: input.value || input.placeholder });
    if (response) changeSettings({ instances: response.instances });
  });
  for (const button of byId("modes").children) button.addEventListener("click", () => changeSettings({ mode: button.dataset.mode }));
  byId("variant").addEventListener("input", (event) => { state = { ...state, variant: Number(event.target.value) }; replay(); });
  byId("toggle-beliefs").addEventListener("click", () => {
    state = { ...state, showBeliefs: !state.showBeliefs };
    writeState(state, true);
    if (gameState) renderBeliefs();
  });
  byId("theme").addEventListener("click", () => {
    const dark = getComputedStyle(document.documentElement).colorScheme.includes("dark");
    setTheme(dark ? "light" : "dark");
  });
  for (const link of document.querySelectorAll("[data-lesson]")) link.addEventListener("click", (event) => {
    event.preventDefault();
    const code = state.participant;
    history.pushState(null, "", link.getAttribute("href"));
    state = { ...readState(about), participant: code };
    startGame().then(() => byId("board").focus());
    scrollTo({ top: 0 });
  });
  addEventListener("popstate", () => { state = readState(about); startGame(); });
  addEventListener("keydown", onKey);
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || /INPUT|SELECT|TEXTAREA/.test(event.target.tagName) || byId("consent").open) return;
  const isDigit = /^[0-9]$/.test(event.key);
  const words = currentGame()?.words ?? [];
  if (isDigit && state.mode === "student" && event.key !== "0" && Number(event.key) <= view?.candidates.length) guess(Number(event.key) - 1);
  else if (isDigit && state.mode === "teacher" && words.includes(event.key)) say(words.indexOf(event.key));
  else if (event.key === "w") byId("wait")?.click();
  else if (event.key === "n") nextGame();
  else if (event.key === "t") byId("toggle-beliefs").click();
}

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  try { localStorage.setItem("theme", name); } catch { /* storage is disabled */ }
}

async function start() {
  try {
    if (localStorage.getItem("theme")) setTheme(localStorage.getItem("theme"));
  } catch { /* storage is disabled */ }
  try {
    about = await request("about");
  } catch (error) {
    return showError(error.message);
  }
  state = readState(about);
  participant = await askConsent(about.consent, state.participant);
  if (participant) state.participant = participant.code;
  writeState(state, true);
  addListeners();
  renderScore();
  await startGame();
}

start();
