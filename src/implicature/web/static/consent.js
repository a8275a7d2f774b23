// Participants who agree to be recorded: their code comes with the link, their agreement lasts as long as the tab.

import { byId } from "./dom.js";

const randomCode = () => Array.from(crypto.getRandomValues(new Uint8Array(6)), (byte) => (byte % 36).toString(36)).join("");

export async function askConsent(text, code) {
  if (text === null) return null;
  const known = JSON.parse(sessionStorage.getItem("participant") ?? "null");
  if (known && (!code || known.code === code || known.declined)) return known.declined ? null : known;
  byId("consent-text").textContent = text;
  byId("code").value = /^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/.test(code ?? "") ? code : randomCode();
  const dialog = byId("consent");
  dialog.showModal();
  const participant = await new Promise((resolve) => {
    byId("agree").onclick = () => byId("code").reportValidity() && resolve({ code: byId("code").value, session: randomCode() });
    byId("decline").onclick = () => resolve({ declined: true });
    dialog.oncancel = () => resolve({ declined: true });
  });
  dialog.close();
  sessionStorage.setItem("participant", JSON.stringify(participant));
  return participant.declined ? null : participant;
}
