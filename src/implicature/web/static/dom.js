// Elements without markup: text stays text, whatever it contains.

export function element(name, properties = {}, ...children) {
  const created = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key === "data") Object.assign(created.dataset, value);
    else if (key in created && key !== "list" && key !== "role") created[key] = value;
    else created.setAttribute(key, value);
  }
  created.append(...children.filter((child) => child !== null && child !== undefined));
  return created;
}

export function svg(name, attributes = {}, ...children) {
  const created = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) created.setAttribute(key, value);
  created.append(...children);
  return created;
}

export const byId = (id) => document.getElementById(id);
export const percent = (probability) => `${Math.round(100 * probability)}%`;
