// Be the student: hear a word, guess, and see why.

import { html, useEffect, useMemo, useRef, useState } from "../vendor/htm-preact.js";
import { exactAgent, follow } from "../engine/agents.js";
import { peopleFor } from "../engine/people.js";
import { reason } from "../engine/reasons.js";
import { best, chanceOf } from "../engine/rsa.js";
import { agentOf, contextOf, isRemote, settingsOf, variantOf } from "../dealing.js";
import { MAX_DEPTH, writeAddress } from "../url.js";
import { answerLine, BarsKey, BeliefTable, Cards, Dialogue, PeopleLine, saidLine } from "./board.js";
import { costOf, localDriver, roundsLeft, serverDriver, usePlay } from "./play.js";
import { Score } from "./score.js";
import { ShareButton } from "./share.js";
import { useShortcuts } from "./shortcuts.js";

const DEPTHS = [["A literal student", "literal", 0], ["One step deep", "one step", 1], ["Four steps deep", "four steps", 4]];

// Others who hear the same words: { name, short, belief }.
function readersOf(play, address, env) {
  if (play.expected || !play.over) return [];
  const belief = (agent) => follow(agent, play.context, play.target, play.messages).at(-1).after;
  const readers = DEPTHS.map(([name, short, depth]) => ({ name, short, belief: belief(exactAgent(settingsOf(address, depth))) }));
  const trained = play.context.space.name === env.site.pair.game && env.pair ? [{ name: "The trained student", short: "trained", belief: belief(agentOf({ agent: "trained" }, env, env.pair.length - 1)) }] : [];
  return [...readers, ...trained];
}

// What each of them would have scored, and the person.
function scoresOf(play, address, env) {
  if (play.expected) return { You: Math.max(0, play.value), "A literal pair": play.expected.literal, "An exact pair": play.expected.exact };
  const others = readersOf(play, address, env).map(({ name, belief }) => [name, chanceOf(belief, play.target)]);
  return { You: Number(play.answer === play.target), ...Object.fromEntries(others) };
}

// Whose guess each candidate is; "½" where it is a toss of a coin.
function guessesOf(play, readers) {
  const tossed = { 1: "", 2: " ½", 3: " ⅓", 4: " ¼" };
  return play.context.candidates.map((_, i) => readers.flatMap(({ short, belief }) => {
    const guesses = best(belief);
    return guesses.includes(i) ? [`${short}${tossed[guesses.length] ?? ` 1/${guesses.length}`}`] : [];
  }));
}

export function Student({ env, address, onNext, announce, score, onScore, onReasoning }) {
  const remote = isRemote(address, env);
  const variant = variantOf(address, env);
  const agent = remote ? null : agentOf(address, env, variant);
  const key = `${writeAddress(address)} ${remote} ${Boolean(agent)}`;
  const driver = useMemo(() => {
    if (remote) return serverDriver({ about: env.about, address, variant, mode: "student", participant: env.participant });
    if (!agent) return { start: () => new Promise(() => {}) };
    return localDriver({ context: contextOf(address, env), target: address.target, teacher: agent, rounds: address.rounds, mode: "student" });
  }, [key]);
  const { play, error, busy, guess } = usePlay(driver, key, env.games);
  const [depth, setDepth] = useState(null); // to look at the finished game with another student; what she said stays
  const next = useRef(null);
  useEffect(() => setDepth(null), [key]);
  const decide = async (answer) => {
    const after = await guess(answer);
    if (!after) return;
    if (!after.over) { announce(`She says ${after.context.words[after.messages.at(-1)]}.`); return; }
    const right = after.answer === after.target;
    announce(`${right ? "Right." : "Not this one."} She meant ${after.context.candidates[after.target].label}.`);
    requestAnimationFrame(() => next.current?.focus({ preventScroll: true }));
    onScore(scoresOf(after, address, { ...env, pair: await env.pairReady.current })); // who answers before the pair is loaded has it counted, too
  };
  const canWait = play && !play.over && roundsLeft(play) > 0;
  useShortcuts(env.shortcuts, (pressed) => {
    if (/^[1-9]$/.test(pressed) && play && !play.over && Number(pressed) <= play.context.candidates.length) decide(Number(pressed) - 1);
    else if (pressed === "w" && canWait) decide("wait");
    else if (pressed === "n") onNext();
  });
  useEffect(() => { if (play && !play.over && play.messages.length === 1) announce(`She says ${play.context.words[play.messages[0]]}. Which one does she mean?`); }, [play?.context.key, play?.messages.length === 1]);
  if (error && !play) return html`<p class="error" role="alert">${error}</p>`;
  if (!play) return html`<p class="busy">The agents are getting ready …</p>`;
  const shown = play.over && depth !== null && driver.review ? driver.review(play, agentOf(address, env, depth)) : play;
  return html`<${StudentBoard} ...${{ env, address, play: shown, announce, busy, error, decide, canWait, next, onNext, onReasoning, score, variant: depth ?? variant, onVariant: driver.review ? setDepth : null }} />`;
}

function StudentBoard({ env, address, play, announce, busy, error, decide, canWait, next, onNext, onReasoning, score, variant, onVariant }) {
  const { context } = play;
  const last = play.rounds.at(-1);
  const right = play.answer === play.target;
  const grounded = play.agent.grounded !== false;
  const people = play.over && play.messages.length === 1 && grounded ? peopleFor(env.site.people, context, play.messages[0]) : [];
  const lines = play.messages.flatMap((m, i) => [
    saidLine("student", context.words[m]),
    ...(play.answers[i] === "wait" ? [answerLine("student", "wait for another word")] : []),
  ]);
  const beliefs = play.over && last ? context.candidates.map((_, i) => ({ before: last.before[i], after: last.after[i], people: people[0]?.shares[i] ?? null })) : null;
  const cost = costOf(play.maxRounds);
  const readers = readersOf(play, address, env);
  return html`<div class="play">
    <section class="board" aria-labelledby="board-title"><h2 id="board-title" class="hidden">The game</h2>
      <${Dialogue} lines=${lines}>
        ${play.over ? html`<p class=${`verdict ${right ? "correct" : "wrong"}`}>${right ? "Right." : "Not this one."} She meant ${context.candidates[play.target].label}.</p>`
    : html`<p class="task">Which one does she mean?${canWait ? ` You may wait for another word, which costs ${cost}.` : ""}</p>`}<//>
      ${error && html`<p class="error" role="alert">${error}</p>`}
      <${Cards} context=${context} said=${grounded ? play.messages : []} target=${play.over ? play.target : null} answer=${play.over ? play.answer : null}
        beliefs=${beliefs} guesses=${readers.length ? guessesOf(play, readers) : null} onGuess=${play.over ? null : (i) => !busy && decide(i)} keys=${env.shortcuts} />
      ${beliefs && html`<${BarsKey} who="he believes" people=${people.length > 0} />`}
      <div class="actions">
        ${canWait && html`<button type="button" onClick=${() => decide("wait")}>Wait for another word</button>`}
        ${play.over && html`<button type="button" class="main" ref=${next} onClick=${onNext}>Next game</button>`}
        ${play.over && html`<${ShareButton} address=${address} announce=${announce} label=${right ? "Copy a link to this game" : "“This one fooled me”: copy a link"} />`}
        ${!play.over && !env.participant && html`<button type="button" class="quiet" onClick=${onNext}>Another game</button>`}
      </div>
    </section>
    <aside class="beside" aria-label="Why">
      ${play.over && last ? html`<div class="why">${onVariant ? html`<${VariantSlider} env=${env} address=${address} value=${variant} onChange=${onVariant} />` : html`<h3>Why</h3>`}
        ${play.rounds.map((round, i) => html`<p key=${i} class="reason">${reason(context, round, play.agent, play.target)}</p>`)}</div>
        <${PeopleLine} context=${context} people=${people} answer=${play.answer} />
        <${BeliefTable} context=${context} round=${last} people=${people} />
        ${onReasoning && html`<button type="button" class="quiet start" onClick=${() => onReasoning(play)}>See the whole table of this game</button>`}`
    : html`<p class="hint">You and she see the same things. She knows which one is meant and may say ${play.maxRounds > 1 ? `up to ${play.maxRounds} words` : "one word"}; she would like you to find it.</p>`}
      <${Score} score=${score} note=${play.cost === undefined ? "The others hear the same words; where they would toss a coin, the bar counts the chance." : "Means of the score in the same games; a word costs 0.1 in games of several."} />
    </aside></div>`;
}

function VariantSlider({ env, address, value, onChange }) {
  const trained = address.agent === "trained";
  const max = trained ? env.site.pair.phases.length - 1 : MAX_DEPTH;
  const name = trained ? (value ? `after phase ${value}` : "before the first phase") : value === 0 ? "takes words literally" : value === 1 ? "reasons one step deep" : `reasons ${value} steps deep`;
  return html`<label class="slider"><span>Why, to ${trained ? "the student" : "a student who"} <strong class="value">${name}</strong></span>
    <input type="range" min="0" max=${max} step="1" value=${value} aria-valuetext=${name} onInput=${(event) => onChange(Number(event.target.value))} /></label>`;
}
