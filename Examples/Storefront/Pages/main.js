// Signs the buyer in, and keeps the parts of the page in step.
import { Problem, call, events, load } from "./api.js";
import { clearOwned, loadOwned, restore } from "./owned.js";
import { picture } from "./picture.js";
import { clearPurchases, lookAtNewest, onOwnedChange, onQueueFull, showTitles, take } from "./purchases.js";
import { Queue } from "./queue.js";
import { loadOffers, loadShelf } from "./shelf.js";
import { clearSubscriptions, loadSubscriptions } from "./subscriptions.js";
import { element, find } from "./text.js";

const queue = new Queue();
const tabs = new BroadcastChannel("session");
const requests = [];
let account;
let watch;
let ownedTimer;

/** Shows the shop to a buyer, or the form that asks who is there. */
function enter(session) {
  account = session.account;
  const isIn = Boolean(account);
  find("sign-in").hidden = isIn;
  find("shop").hidden = !isIn;
  find("who").hidden = !isIn;
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
  clearPurchases(session.hasControls);
  clearSubscriptions(session.hasControls);
  clearOwned();
  if (!isIn) return queue.close();
  find("sign-in-problem").hidden = true;
  find("name").textContent = session.name;
  find("region").textContent = [...find("sign-in-region").options].find(({ value }) => value === session.storefront)?.text
    ?? session.storefront;
  document.body.dataset.storefront = session.storefront;
  loadShelf().then(showTitles).then(loadWhatIsOwned);
  queue.open();
}

/** Asks who is signed in: all tabs of a browser have one session. */
async function follow() {
  try {
    const session = await call("GET", "/session");
    if (session.account === account && session.storefront === document.body.dataset.storefront) return;
    if (!session.account && account) return end();
    enter(session);
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
  }
}

function end() {
  enter({});
  find("sign-in-problem").textContent = "Your session has ended. Sign in again; nothing that you bought is lost.";
  find("sign-in-problem").hidden = false;
}

const loadWhatIsOwned = () => Promise.all([loadOwned(), loadSubscriptions(), loadOffers()]);

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
    if (find("shop").hidden) return follow();
    if (!document.querySelector("#shelf [data-product]")) loadShelf();
    loadWhatIsOwned();
  }, 1000);
}

function showRequests({ detail }) {
  requests.unshift(detail);
  requests.length = Math.min(requests.length, 10);
  find("requests").replaceChildren(...requests.map((request) => element("tr", {},
    element("td", {}, `${request.method} ${request.path.split("?")[0]}`),
    element("td", { class: request.status < 400 && request.status ? "" : "problem" }, String(request.status || "none")),
    element("td", {}, `${request.milliseconds} ms`), element("td", {}, request.trace))));
}

events.addEventListener("request", showRequests);
events.addEventListener("away", (event) => watchServices(event.detail));
events.addEventListener("signed-out", () => { if (account) end(); });
queue.addEventListener("transaction", (event) => take(event.detail));
queue.addEventListener("removed", (event) => take(event.detail, true));
queue.addEventListener("state", ({ detail }) => {
  find("stream").dataset.state = detail;
  find("stream").textContent = detail;
});
// A stream does not say why it was cut; another request does.
queue.addEventListener("cut", () => call("GET", "/api/credits").catch(() => {}));
events.addEventListener("bought", ({ detail }) => {
  take({ transaction: detail, isDelivered: false }, false, true);
  lookAtNewest();
});
function loadSoon() {
  clearTimeout(ownedTimer);
  ownedTimer = setTimeout(loadWhatIsOwned, 150);
}
onOwnedChange(loadSoon);
onQueueFull((isFull) => { if (isFull) queue.pause(); else queue.open(); });
// Such as a question about a higher price.
queue.addEventListener("subscription", loadSoon);
queue.addEventListener("gap", loadSoon);

find("sign-in").addEventListener("submit", async (event) => {
  event.preventDefault();
  find("sign-in-problem").hidden = true;
  try {
    enter(await call("POST", "/session", {
      body: { name: find("sign-in-name").value, storefront: find("sign-in-region").value },
    }));
    tabs.postMessage("changed");
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    find("sign-in-problem").textContent = problem.message;
    find("sign-in-problem").hidden = false;
  }
});
find("sign-out").addEventListener("click", async () => {
  try {
    enter(await call("DELETE", "/session"));
    tabs.postMessage("changed");
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
  }
});
find("restore").addEventListener("click", () => restore(take));
find("code").addEventListener("click", async () => (await load("./code.js"))?.askForCode());
tabs.addEventListener("message", follow);
document.addEventListener("visibilitychange", () => { if (!document.hidden) follow(); });

find("sign-in").prepend(picture({ id: "counterfoil", type: "seal" }));
call("GET", "/session").then(enter).catch(() => { find("sign-in").hidden = false; });
