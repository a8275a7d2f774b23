// What is measured beside a decision: when the pictures were painted, whether the page lost focus, and its size.

// How often the page loses focus between this call and the first call of what it returns.
export function watchFocus() {
  const listening = new AbortController();
  let losses = 0;
  const lost = () => { losses += 1; };
  addEventListener("blur", lost, { signal: listening.signal });
  document.addEventListener(
    "visibilitychange", () => { if (document.hidden && document.hasFocus()) lost(); }, { signal: listening.signal },
  );
  return () => { listening.abort(); return losses; };
}

export const viewport = () => `${Math.min(99_999, innerWidth)}x${Math.min(99_999, innerHeight)}`;

// A picture that the style sheet loads: the browser has it already.
function loadSheet(url) {
  const image = new Image();
  image.src = url;
  return image;
}

// Resolves when all pictures inside the element are loaded, decoded and painted: when a participant can see them.
export async function painted(root = document) {
  const images = [...root.querySelectorAll(".cards img")];
  for (const one of root.querySelectorAll(".cards .sheet")) {
    const [, url] = /url\("(.+?)"\)/.exec(getComputedStyle(one).backgroundImage) ?? [];
    if (url) images.push(loadSheet(url));
  }
  await Promise.all(images.map((image) => image.decode().catch(() => {}))); // a picture that is missing is not waited for
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  return performance.now();
}
