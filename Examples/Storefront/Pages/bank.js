// What a bank asks of the buyer before it pays, as with 3-D Secure.
import { Problem, call } from "./api.js";
import { find, money } from "./text.js";

const sandboxPages = "/v1/sandbox/actions/";
let asked;

/** The page on which the buyer of a transaction has to act; `undefined` if there is nothing to do. */
export async function findAction(id) {
  try {
    const { url } = await call("GET", `/api/transactions/${id}/action`);
    return url;
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    return undefined;
  }
}

/** Whether a page belongs to the sandbox's bank, which this shop shows itself. */
export const isOfSandbox = (url) => url.startsWith(sandboxPages);

/** Opens the page of the sandbox's bank; `onDecision` is called after the buyer has decided. */
export function showBank(url, price, title, onDecision) {
  asked = { url, onDecision };
  find("bank-what").textContent = `Do you pay ${money(price)} for ${title}?`;
  find("bank-problem").hidden = true;
  find("bank").showModal();
}

async function decide(decision) {
  const { url, onDecision } = asked;
  try {
    await call("POST", `/api/sandbox/actions/${url.slice(sandboxPages.length)}`, { body: { decision } });
    find("bank").close();
    onDecision();
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    find("bank-problem").textContent = problem.message;
    find("bank-problem").hidden = false;
  }
}

find("bank-confirm").addEventListener("click", () => decide("complete"));
find("bank-refuse").addEventListener("click", () => decide("refuse"));
find("bank-later").addEventListener("click", () => find("bank").close());
