// Requests to this shop's own server, which passes them on to the store.

/** A refusal or failure, with the server's own words. */
export class Problem extends Error {
  constructor(problem) {
    super(problem.detail ?? problem.title ?? "Something went wrong.");
    Object.assign(this, problem);
  }

  /** Whether the same request may succeed in a moment. */
  get isPassing() {
    return this.code === "offline" || [502, 503, 504].includes(this.status);
  }
}

/** Tells of each request (`request`) and purchase (`bought`), of a lost session (`signed-out`), of what is away (`away`). */
export const events = new EventTarget();

const hex = (length) =>
  Array.from(crypto.getRandomValues(new Uint8Array(length)), (byte) => byte.toString(16).padStart(2, "0")).join("");

/** A key under which a request is carried out once, however often it is sent. */
export const newKey = () => hex(16);

/** Sends a request and returns its answer. */
export async function send(method, path, { body, key, headers: further } = {}) {
  const trace = hex(16);
  const headers = { accept: "application/json", traceparent: `00-${trace}-${hex(8)}-01`, ...further };
  if (method !== "GET") headers["content-type"] = "application/json";
  if (key) headers["idempotency-key"] = key;
  const start = performance.now();
  let status = 0;
  try {
    const answer = await fetch(path, { method, headers, body: body && JSON.stringify(body) });
    status = answer.status;
    if (answer.ok) return answer;
    const value = await answer.json().catch(() => ({}));
    throw new Problem({ ...value, status });
  } catch (error) {
    const problem = error instanceof Problem ? error
      : new Problem({ code: "offline", status: 0, detail: "This shop’s server cannot be reached." });
    if (problem.code === "signed_out") events.dispatchEvent(new Event("signed-out"));
    if (problem.isPassing) events.dispatchEvent(new CustomEvent("away", { detail: problem }));
    throw problem;
  } finally {
    const detail = { method, path, status, trace, milliseconds: Math.round(performance.now() - start) };
    events.dispatchEvent(new CustomEvent("request", { detail }));
  }
}

/** Sends a request and returns the value of its answer. */
export const call = async (method, path, options) =>
  (await send(method, path, options)).json().catch(() => ({}));

/** Loads a part of the page when it is needed; `undefined` if the server is away. */
export async function load(module) {
  try {
    return await import(module);
  } catch {
    events.dispatchEvent(new CustomEvent("away", { detail: { code: "offline" } }));
    return undefined;
  }
}

export const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Sends a request again, with growing pauses, until it is answered for good. */
export async function callUntilAnswered(method, path, options) {
  for (let wait = 500; ; wait = Math.min(wait * 2, 5000)) {
    try {
      return await call(method, path, options);
    } catch (problem) {
      if (!problem.isPassing) throw problem;
      await pause(wait);
    }
  }
}
