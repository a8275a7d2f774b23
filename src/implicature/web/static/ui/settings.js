// "Change the game": which game, how many candidates and words, with whom; and one's own objects, made by clicking.

import { html, useState } from "../vendor/htm-preact.js";
import { FEATURES, labelOf, MAX_CANDIDATES, OWN } from "../engine/context.js";
import { allSpaces, MAX_ROUNDS, PARTNERS } from "../url.js";
import { isRemote } from "../dealing.js";
import { Picture } from "./draw.js";

const AGENT_TITLES = { exact: "exact reasoning", trained: "the trained pair" };

function Select({ label, value, options, onChange }) {
  return html`<label>${label} <select value=${String(value)} onChange=${(event) => onChange(event.target.value)}>
    ${options.map(([name, text]) => html`<option key=${name} value=${String(name)}>${text}</option>`)}</select></label>`;
}

export function Settings({ env, address, change, shortcuts, onShortcuts, onOwn }) {
  const remote = isRemote(address, env);
  const games = remote ? env.about.games.map((game) => [game.name, game.title]) : allSpaces(env.site).map((space) => [space.name, space.title]);
  const remoteAgents = env.about?.agents.filter((agent) => !["exact", "pretrained"].includes(agent.name)) ?? [];
  const agents = [["exact", AGENT_TITLES.exact], ["trained", AGENT_TITLES.trained], ...remoteAgents.map((agent) => [agent.name, agent.title])];
  const info = remote ? env.about.agents.find((agent) => agent.name === (address.agent === "trained" ? "pretrained" : address.agent)) : null;
  const space = allSpaces(env.site).find((one) => one.name === address.game);
  const number = address.candidates?.length ?? address.number ?? space?.candidates ?? env.about?.games.find((game) => game.name === address.game)?.candidates ?? 4;
  const most = remote ? env.about.games.find((game) => game.name === address.game)?.max_candidates ?? number : Math.min(MAX_CANDIDATES, space?.instances?.length ?? number);
  const fresh = { candidates: null, target: null, instances: null, prior: null, costs: {}, word: null, step: 0 };
  const setAgent = (agent) => {
    const served = env.about?.agents.find((one) => one.name === agent);
    const game = agent === "trained" ? env.site.pair.game : served && !served.games.includes(address.game) ? served.games[0] : address.game;
    change({ ...fresh, agent, game, variant: null, seed: null });
  };
  return html`<details class="settings"><summary>Change the game</summary><form aria-label="The game" onSubmit=${(event) => event.preventDefault()}>
    <div class="row">
      <${Select} label="Game" value=${address.game} options=${games} onChange=${(game) => change({ ...fresh, game, number: null, agent: address.agent === "trained" && game !== env.site.pair.game ? "exact" : address.agent, variant: null })} />
      ${address.game !== "own" && most > 3 && html`<${Select} label="Things" value=${number} options=${Array.from({ length: most - 1 }, (_, i) => [i + 2, i + 2])} onChange=${(value) => change({ ...fresh, number: Number(value) })} />`}
      ${["student", "teacher"].includes(address.mode) && html`<${Select} label="Words" value=${address.rounds} options=${Array.from({ length: MAX_ROUNDS }, (_, i) => [i + 1, i ? `up to ${i + 1}` : "one"])} onChange=${(value) => change({ ...fresh, rounds: Number(value) })} />`}
      ${address.mode !== "reasoning" && html`<${Select} label="Players" value=${address.agent} options=${agents} onChange=${setAgent} />`}
      ${info && info.variants.length > 1 && address.mode !== "watch" && html`<${Select} label="At" value=${address.variant} options=${info.variants.map((name, i) => [i, name])} onChange=${(value) => change({ ...fresh, variant: Number(value), seed: null })} />`}
      ${!remote && address.mode === "teacher" && address.agent === "exact" && html`<${Select} label="Your partner" value=${address.partner} options=${Object.entries(PARTNERS)} onChange=${(partner) => change({ ...fresh, partner })} />`}
      ${address.mode === "student" && address.game !== "own" && html`<label class="choice"><input type="checkbox" checked=${address.pragmaticOnly} onChange=${(event) => change({ ...fresh, pragmaticOnly: event.target.checked })} /> only games that take some reading between the lines</label>`}
      <label class="choice"><input type="checkbox" checked=${shortcuts} onChange=${(event) => onShortcuts(event.target.checked)} /> single-key shortcuts</label>
    </div>
    ${!remote && address.mode !== "watch" && html`<${Builder} ...${{ address, change, onOwn }} />`}
  </form></details>`;
}

// Objects made of features: click a feature to give or take it.
function Builder({ address, change, onOwn }) {
  const own = address.game === "own" && address.candidates ? address.candidates : null;
  const [draft, setDraft] = useState(own ?? [["blue", "sphere"], ["red", "sphere"], ["blue", "cone"]]);
  const [target, setTarget] = useState(own && address.mode !== "student" ? address.target ?? 0 : 0); // a student is not told
  const toggle = (i, category, feature) => setDraft(draft.map((names, j) => {
    if (i !== j) return names;
    const others = category === "accessory" ? names : names.filter((name) => !FEATURES[category].includes(name));
    return names.includes(feature) ? names.filter((name) => name !== feature) : [...others, feature];
  }));
  const remove = (i) => { setDraft(draft.filter((_, j) => j !== i)); setTarget(target === i ? 0 : target - Number(i < target)); };
  const [error, setError] = useState(null);
  const use = () => {
    if (!draft[target].length) { setError("The one that is meant has no features, so no word is true of it: click a colour, shape, size or accessory."); return; }
    setError(null);
    onOwn(draft); change({ game: "own", agent: "exact", candidates: draft, target: Math.min(target, draft.length - 1), prior: null, costs: {}, word: null, step: 0, variant: null });
    scrollTo({ top: 0 });
  };
  return html`<details class="builder"><summary>Make your own objects</summary>
    <ol>${draft.map((names, i) => html`<li key=${i}><div class="made"><${Picture} space=${OWN} candidate=${{ attributes: names, label: labelOf(OWN, names), instance: -1 }} /></div>
      <div class="features">${Object.entries(FEATURES).map(([category, features]) => html`<div key=${category} role="group" aria-label=${`${category} of object ${i + 1}`}>
        ${features.map((feature) => html`<button key=${feature} type="button" class="feature" aria-pressed=${names.includes(feature)} onClick=${() => toggle(i, category, feature)}>${feature}</button>`)}</div>`)}
        <div class="row"><label class="choice"><input type="radio" name="target" checked=${target === i} onChange=${() => setTarget(i)} /> this one is meant</label>
        ${draft.length > 2 && html`<button type="button" class="quiet" onClick=${() => remove(i)}>Remove object ${i + 1}</button>`}</div></div></li>`)}</ol>
    <div class="row">${draft.length < 6 && html`<button type="button" onClick=${() => setDraft([...draft, ["green", "box"]])}>Add an object</button>`}
      <button type="button" class="main" onClick=${use}>Play with these</button></div>${error && html`<p class="error" role="alert">${error}</p>`}</details>`;
}
