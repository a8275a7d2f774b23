// Requests to the server; an error is one sentence.

export async function request(path, body) {
  let response;
  try {
    response = await fetch(`api/${path}`, body === undefined ? {} : {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  } catch {
    throw new Error("The server does not answer: is “implicature play” still running?");
  }
  const content = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(content.message ?? `The server answers with ${response.status}.`);
  return content;
}
