// The form of settings, and the slider of the agent's depths or phases.

import { byId, element } from "./dom.js";

function setOptions(select, options, selected) {
  select.replaceChildren(...options.map(([value, text]) =>
    element("option", { value, textContent: text, selected: String(value) === String(selected) })));
}

export function renderSettings(about, state) {
  const fields = byId("settings").elements;
  for (const button of byId("modes").children) {
    button.setAttribute("aria-pressed", String(button.dataset.mode === state.mode));
  }
  const game = about.games.find((one) => one.name === state.game);
  setOptions(fields.game, [...(game ? [] : [["", "choose one"]]), ...about.games.map((one) => [one.name, one.title])], state.game);
  if (!game) return;
  const number = state.instances?.length ?? state.candidates ?? game.candidates;
  const numbers = Array.from({ length: game.max_candidates - 1 }, (_, i) => [i + 2, String(i + 2)]);
  const fixed = game.max_candidates <= 3;
  setOptions(fields.candidates, fixed ? [[game.candidates, String(game.candidates)]] : numbers, number);
  setOptions(fields.rounds, Array.from({ length: about.max_rounds }, (_, i) => [i + 1, i ? `up to ${i + 1}` : "one"]), state.rounds);
  const able = about.agents.filter((agent) => agent.games.includes(state.game));
  setOptions(fields.agent, able.map((agent) => [agent.name, agent.title]), state.agent);
  fields.pragmatic_only.checked = state.pragmaticOnly;
  byId("custom").hidden = fixed;
  byId("candidate-text").placeholder = game.kind === "objects"
    ? "small, blue, box, upper-left; large, red, cone, lower-right" : "1, 2, 3, 9; 1, 2, 4; 2, 3; 3, 4, 5";
  renderVariants(about.agents.find((agent) => agent.name === state.agent), state);
}

export function renderVariants(agent, state) {
  if (!agent) return;
  const slider = byId("variant");
  const name = agent.variants[state.variant] ?? "";
  slider.parentElement.hidden = agent.variants.length < 2;
  slider.max = agent.variants.length - 1;
  slider.value = state.variant;
  slider.setAttribute("aria-valuetext", name);
  byId("variants").replaceChildren(...agent.variants.map((_, i) => element("option", { value: i })));
  byId("variant-title").textContent = agent.name === "exact" ? "How deep they reason:" : "How long they have learned:";
  byId("variant-name").textContent = name;
  byId("ends").firstElementChild.textContent = agent.grounded ? "literal" : "untrained";
}
