"""Keeps the console and the shop open while a store sells, and measures what that costs (check C17).

A page of the console is open in a browser, and many more are followed without one. So is the page of a buyer who
buys all the time. The heap and the nodes of both pages must not grow, the console must stay small, and many pages
must ask the databases no more often than one.
"""

import concurrent.futures
import http.client
import itertools
import json
import os
import secrets
import threading
import time
import urllib.parse
import uuid

from playwright.sync_api import expect

from stage import AWAY, COINS

RATE = 50
DASHBOARDS = 50
BUYERS = 20
MEMORY_MAX = 80 << 20
DATABASES = ["catalog", "payments", "receipts", "fulfillment"]
WORK = ["sessions", "transactions"]


def soak(stage, seconds):
    """Runs the whole of it. Raises if something grows."""
    operator = stage.operator(scopes=["read"], width=1280, scheme="light")
    expect(operator.field("receipts.health")).to_have_text("ready")
    stop = threading.Event()
    one = work_a_second(stage, 30)
    cookies = "; ".join(f"{cookie['name']}={cookie['value']}" for cookie in operator.context.cookies())
    followers = [threading.Thread(target=follow, args=(stage.console, cookies, stop)) for _ in range(DASHBOARDS)]
    for follower in followers:
        follower.start()
    try:
        many = work_a_second(stage, 30)
        for name in WORK:
            print(f"  {name} of the databases a second: {one[name]:.1f} with one page, {many[name]:.1f} with "
                  f"{DASHBOARDS} more", flush=True)
        shopper = stage.shopper(width=1280, scheme="light").sign_in()
        # A service that is busy for long is away for the page, which goes on by itself.
        shopper.allowed = AWAY
        shop = Buyers(stage, stop, shopper.page.evaluate(
            "() => fetch('/session').then((answer) => answer.json()).then(({ account }) => account)"))
        shop.start()
        # From here on each purchase takes the place of an older one.
        expect(shopper.page.locator("#queue > li").nth(49)).to_be_visible(timeout=120_000)
        pages = {"the console": operator, "the shop": shopper}
        samples = []
        begin, bought = time.monotonic(), shop.bought
        while time.monotonic() - begin < seconds:
            # The page lives only while the driver waits in it.
            operator.page.wait_for_timeout(min(30, seconds / 6) * 1000)
            assert all(follower.is_alive() for follower in followers), "a page could not be followed any more"
            samples.append(sample(pages, stage))
            sizes = ", ".join(f"{name} {samples[-1]['heap of ' + name] / 1e6:.1f} MB of heap and "
                              f"{samples[-1]['nodes of ' + name]} nodes" for name in pages)
            print(f"  {time.monotonic() - begin:4.0f} s: {sizes}; the console's process has {samples[-1]['memory'] / 2**20:.0f} MB; "
                  f"{shop.bought} bought, {samples[-1]['rate']}", flush=True)
        rate = (shop.bought - bought) / (time.monotonic() - begin)
    finally:
        stop.set()
        for follower in followers:
            follower.join()
    judge(pages, samples, one, many, rate, shop)
    # What was bought last is finished, too, and the page still follows the store.
    expect(shopper.page.locator("#stream")).to_have_text("live", timeout=30_000)
    shopper.expect_finished(timeout=30_000)
    for page in pages.values():
        page.check()


def judge(pages, samples, one, many, rate, shop):
    """Compares the end with the beginning, after the pages have warmed up."""
    third = max(1, len(samples) // 3)
    first, last = samples[:third], samples[-third:]
    for name, growth_max in [(f"{kind} of {page}", growth_max) for page in pages
                             for kind, growth_max in [("heap", 1.2), ("nodes", 1.1)]]:
        before, after = min(item[name] for item in first), min(item[name] for item in last)
        assert after <= before * growth_max, f"{name} has grown from {before} to {after}"
    memory = max(item["memory"] for item in samples)
    assert memory < MEMORY_MAX, f"the console has {memory / 2**20:.0f} MB"
    for name in WORK:
        assert many[name] <= one[name] * 1.3 + 1, f"{name}: {many[name]:.1f} with many pages, {one[name]:.1f} with one"
    assert shop.refused == 0, f"{shop.refused} payments were refused: {shop.problem}"
    print(f"  {rate:.1f} purchases a second, {shop.lost} without an answer, at most {memory / 2**20:.0f} MB for the console", flush=True)
    assert rate > RATE * 0.8, f"the store sold only {rate:.1f} a second"


def sample(pages, stage):
    """The pages after their garbage was collected, and the console's memory."""
    found = {"memory": resident(stage.program("console")),
             "rate": pages["the console"].field("rate.purchased").inner_text()}
    for name, visitor in pages.items():
        session = visitor.context.new_cdp_session(visitor.page)
        session.send("HeapProfiler.collectGarbage")
        session.send("Performance.enable")
        metrics = {item["name"]: item["value"] for item in session.send("Performance.getMetrics")["metrics"]}
        session.detach()
        found |= {f"heap of {name}": metrics["JSHeapUsedSize"], f"nodes of {name}": int(metrics["Nodes"])}
    return found


def resident(process):
    with open(f"/proc/{process}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def work_a_second(stage, seconds):
    """How many sessions and transactions all databases have, while nobody buys."""
    def count():
        names = ", ".join(f"'{name}'" for name in DATABASES)
        answer = stage.query(
            stage.owner("payments"),
            f"SELECT sum(sessions), sum(xact_commit + xact_rollback) FROM pg_stat_database WHERE datname IN ({names})")
        return [int(number) for number in answer.split("|")]
    before, begin = count(), time.monotonic()
    for shopper in stage.shoppers:
        shopper.page.wait_for_timeout(seconds * 1000)
    span = time.monotonic() - begin
    return {name: (after - earlier) / span for name, earlier, after in zip(WORK, before, count())}


def follow(url, cookies, stop):
    """Follows the first page as a browser does."""
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc, timeout=30)
    while not stop.wait(2):
        connection.request("GET", "/now", headers={"cookie": cookies})
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200, answer.status


class Buyers(threading.Thread):
    """Buys coins at an even rate, for a few accounts in turns. One of them is looked at in the shop."""

    def __init__(self, stage, stop, watched):
        super().__init__()
        self.stop = stop
        self.bought = self.refused = self.lost = 0
        self.problem = ""
        self.lock = threading.Lock()
        self.local = threading.local()
        self.netloc = urllib.parse.urlsplit(stage.environment["COUNTERFOIL_PAYMENTS_URL"]).netloc
        self.tokens = [
            stage.command("token", "account", "--account", account).strip()
            for account in [watched] + ["soak-" + secrets.token_hex(4) for _ in range(BUYERS - 1)]]

    def run(self):
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            begin = time.monotonic()
            for number, token in enumerate(itertools.cycle(self.tokens)):
                if self.stop.wait(max(0, begin + number / RATE - time.monotonic())):
                    return
                pool.submit(self.buy, token)

    def buy(self, token):
        try:
            status, text = self.pay(token)
        except (OSError, http.client.HTTPException):
            # A connection that was idle for a minute is closed by the service. After a timeout its answer may
            # still come, and the next request of this connection would take it for its own.
            self.local.connection.close()
            with self.lock:
                self.lost += 1
            return
        with self.lock:
            if status in (200, 201):
                self.bought += 1
            else:
                self.refused += 1
                self.problem = text[:200]

    def pay(self, token):
        """Makes a payment. Returns the status and the text of its answer."""
        if not hasattr(self.local, "connection"):
            self.local.connection = http.client.HTTPConnection(self.netloc, timeout=30)
        body = {"productID": COINS, "quantity": 1, "storefront": "USA",
                "price": {"minorUnits": 99, "currency": "USD"}, "paymentMethod": "sandbox_success"}
        self.local.connection.request("POST", "/v1/payments", json.dumps(body), {
            "authorization": "Bearer " + token, "content-type": "application/json",
            "idempotency-key": str(uuid.uuid4())})
        answer = self.local.connection.getresponse()
        return answer.status, answer.read().decode()
