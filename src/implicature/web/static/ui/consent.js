// Participants who agree to be recorded. Their code comes with the link; the answer holds for this code and this tab.

import { html, useEffect, useRef, useState } from "../vendor/htm-preact.js";

const CODE = "[A-Za-z0-9][A-Za-z0-9_\\-]{0,31}";
const randomCode = () => Array.from(crypto.getRandomValues(new Uint8Array(6)), (byte) => (byte % 36).toString(36)).join("");
const read = (code) => { try { return JSON.parse(sessionStorage.getItem(`participant ${code}`)); } catch { return null; } };
const write = (code, answer) => { try { sessionStorage.setItem(`participant ${code}`, JSON.stringify(answer)); } catch { /* storage is disabled */ } };

// What this participant has answered in this tab: a participant, { declined: true } or null. A link without a code asks.
export const knownAnswer = (code) => (code ? read(code) : null);

export function Consent({ text, code, onAnswer }) {
  const dialog = useRef(null);
  const valid = new RegExp(`^${CODE}$`).test(code ?? "");
  const [typed, setTyped] = useState(valid ? code : randomCode());
  useEffect(() => { dialog.current.showModal(); }, []);
  const agree = (event) => {
    event.preventDefault();
    const participant = { code: typed, session: randomCode() };
    write(typed, participant);
    onAnswer(participant);
  };
  const decline = () => {
    if (code) write(code, { declined: true });
    onAnswer({ declined: true });
  };
  // Esc is no answer: the question stays.
  return html`<dialog ref=${dialog} class="consent" aria-labelledby="consent-title" onCancel=${(event) => event.preventDefault()} onClose=${() => dialog.current?.isConnected && dialog.current.showModal()}>
    <form onSubmit=${agree}><h2 id="consent-title">Before you play</h2><p id="consent-text">${text}</p>
      ${code !== null && !valid && html`<p class="error" role="alert">The link’s participant code cannot be used: ask the researcher for yours.</p>`}
      <label>Participant code <input value=${typed} onInput=${(event) => setTyped(event.target.value)} maxlength="32" pattern=${CODE} required autocomplete="off" /></label>
      <div class="row"><button type="submit" class="main">I agree</button><button type="button" onClick=${decline}>Play without being recorded</button></div></form></dialog>`;
}
