// Signs the buyer in, and keeps the parts of the page in step.
import { Problem, call, events, newKey } from "./api.js";
import { clearPurchases, onOwnedChange, take } from "./purchases.js";
import { Queue } from "./queue.js";
import { loadShelf, onPurchase, titleOf } from "./shelf.js";
import { clearSubscriptions, loadSubscriptions } from "./subscriptions.js";
import { element, time } from "./text.js";

const find = (id) => document.getElementById(id);
const queue = new Queue();
const requests = [];
let watch;
let ownedTimer;

function enter(session) {
  const isIn = Boolean(session.name);
  find("sign-in").hidden = isIn;
  find("shop").hidden = !isIn;
  find("who").hidden = !isIn;
  clearPurchases(session.hasControls);
  clearSubscriptions(session.hasControls);
  find("owned").replaceChildren();
  find("restored").textContent = "";
  if (!isIn) return queue.close();
  find("name").textContent = session.name;
  find("region").textContent = session.storefront;
  document.body.dataset.storefront = session.storefront;
  loadShelf().then(loadWhatIsOwned);
  queue.open();
}

const loadWhatIsOwned = () => Promise.all([loadOwned(), loadSubscriptions()]);

async function loadOwned() {
  try {
    const { products, balances } = await call("GET", "/api/owned");
    const items = Object.entries(balances).sort().map(([unit, amount]) =>
      element("li", { "data-unit": unit, "data-amount": amount }, element("strong", {}, String(amount)), ` ${unit}`));
    items.push(...products.map(owned));
    find("owned").replaceChildren(...(items.length ? items
      : [element("li", { class: "empty" }, "Nothing yet. What you buy for good stays here, on every device.")]));
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
  }
}

function owned(product) {
  const until = product.endsAt ? `until ${time(product.endsAt)}` : "";
  const state = product.revokedAt ? "revoked" : product.isVerified === false ? "refused"
    : product.isVerified ? "verified" : "unverified";
  const words = {
    revoked: `Refunded on ${time(product.revokedAt ?? 0)}: no longer yours.`,
    refused: `Not unlocked. The receipt is refused: ${product.refusal}`,
    verified: `Yours${until ? ` ${until}` : ` since ${time(product.grantedAt)}`}. Receipt verified.`,
    unverified: "The receipt could not be fetched yet, so it is not unlocked.",
  }[state];
  return element("li", { "data-product": product.productID, "data-owned": state },
    element("strong", { dir: "auto" }, titleOf(product.productID)), element("p", { class: "dim" }, words));
}

/** Asks which service is away until all are back, and then fills what was left empty. */
function watchServices(problem) {
  find("banner").hidden = false;
  find("banner").textContent = problem.code === "offline"
    ? "This shop’s server cannot be reached. What you see may be old; the page goes on by itself."
    : `${problem.service ?? "The store"} is away. What you bought is safe; the page goes on by itself.`;
  if (watch) return;
  watch = setInterval(async () => {
    const answer = await fetch("/api/health").then((answer) => answer.json()).catch(() => undefined);
    if (!answer) return;
    const away = Object.keys(answer).filter((name) => answer[name] !== "ready").sort();
    if (away.length) {
      find("banner").textContent = `${away.join(" and ")} ${away.length > 1 ? "are" : "is"} away. `
        + "What you bought is safe; the page goes on by itself.";
      return;
    }
    clearInterval(watch);
    watch = undefined;
    find("banner").hidden = true;
    if (find("shop").hidden) return;
    if (!document.querySelector("#shelf [data-product]")) loadShelf();
    loadWhatIsOwned();
  }, 1000);
}

function showRequests({ detail }) {
  requests.unshift(detail);
  requests.length = Math.min(requests.length, 10);
  find("requests").replaceChildren(...requests.map((request) => element("tr", {},
    element("td", {}, `${request.method} ${request.path.split("?")[0]}`), element("td", {}, String(request.status || "none")),
    element("td", {}, `${request.milliseconds} ms`), element("td", {}, request.trace))));
}

events.addEventListener("request", showRequests);
events.addEventListener("away", (event) => watchServices(event.detail));
events.addEventListener("signed-out", () => {
  enter({});
  find("sign-in-problem").textContent = "Your session has ended. Sign in again; nothing that you bought is lost.";
  find("sign-in-problem").hidden = false;
});
queue.addEventListener("transaction", (event) => take(event.detail));
queue.addEventListener("removed", (event) => take(event.detail, true));
queue.addEventListener("state", ({ detail }) => {
  find("stream").dataset.state = detail;
  find("stream").textContent = detail;
});
// A stream that is refused has a reason that only another request can read.
queue.addEventListener("refused", () => call("GET", "/api/credits").catch(() => {}));
onPurchase((transaction) => take({ transaction, isDelivered: false }));
onOwnedChange(() => {
  clearTimeout(ownedTimer);
  ownedTimer = setTimeout(loadWhatIsOwned, 150);
});

find("sign-in").addEventListener("submit", async (event) => {
  event.preventDefault();
  find("sign-in-problem").hidden = true;
  try {
    enter(await call("POST", "/session", {
      body: { name: find("sign-in-name").value, storefront: find("sign-in-region").value },
    }));
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    find("sign-in-problem").textContent = problem.message;
    find("sign-in-problem").hidden = false;
  }
});
find("sign-out").addEventListener("click", async () => enter(await call("DELETE", "/session")));
find("restore").addEventListener("click", async () => {
  find("restored").textContent = "Restoring…";
  try {
    const { transactions } = await call("POST", "/api/restores", { body: {}, key: newKey() });
    for (const transaction of transactions) take({ transaction, isDelivered: false });
    find("restored").textContent = transactions.length
      ? `${transactions.length} restored.` : "There is nothing to restore.";
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    find("restored").textContent = `Nothing was restored. ${problem.message}`;
  }
});

call("GET", "/session").then(enter).catch(() => find("sign-in").hidden = false);
