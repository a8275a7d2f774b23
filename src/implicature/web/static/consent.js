// Who agrees to be recorded: their code comes with the link, their agreement lasts as long as the tab.

import { by } from "./dom.js";

const random = () => Array.from(crypto.getRandomValues(new Uint8Array(6)), (one) => (one % 36).toString(36)).join("");

export async function agreed(line, given) {
  if (line === null) return null;
  const known = JSON.parse(sessionStorage.getItem("person") ?? "null");
  if (known && (!given || known.participant === given || known.declined)) return known.declined ? null : known;
  by("consent-line").textContent = line;
  by("code").value = /^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/.test(given ?? "") ? given : random();
  const dialog = by("consent");
  dialog.showModal();
  const person = await new Promise((done) => {
    by("agree").onclick = () => by("code").reportValidity() && done({ participant: by("code").value, session: random() });
    by("decline").onclick = () => done({ declined: true });
    dialog.oncancel = () => done({ declined: true });
  });
  dialog.close();
  sessionStorage.setItem("person", JSON.stringify(person));
  return person.declined ? null : person;
}
