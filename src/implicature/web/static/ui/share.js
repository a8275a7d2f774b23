// A link to this game that anybody can open.

import { html, useState } from "../vendor/htm-preact.js";

const isLoopback = (host) => ["localhost", "127.0.0.1", "[::1]"].includes(host);

export function ShareButton({ label = "Copy a link to this game", announce }) {
  const [text, setText] = useState(null);
  const copy = async () => {
    const link = new URL(location.href);
    link.searchParams.delete("participant");
    const tell = (result) => { setText(result); announce(result); };
    try {
      await navigator.clipboard.writeText(link.href);
      tell(isLoopback(location.hostname) ? "Copied. It opens on this computer only; “implicature play --export” makes a page to share." : "Copied");
    } catch {
      tell("Copy it from the address bar");
    }
  };
  return html`<button type="button" class="quiet" onClick=${copy}>${text ?? label}</button>`;
}
