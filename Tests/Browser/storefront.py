"""Uses the storefront in a real browser, as a buyer does.

Each test has a page of its own and ends with axe, an empty console, and no request to another origin.
"""

import argparse
import os
import re
import secrets
import signal
import subprocess
import sys
import time
import traceback

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

COINS = "com.example.coins.100"
PRO = "com.example.pro"
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
TESTS = []


def test(function):
    TESTS.append(function)
    return function


class Shopper:
    """A browser context with one page. It records the errors of the page."""

    def __init__(self, stage, width=1280, scheme="light", cookies=None):
        self.stage = stage
        self.complaints = []
        self.allowed = []
        self.context = stage.browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, locale="en-US",
            reduced_motion="reduce", accept_downloads=True,
        )
        if cookies:
            self.context.add_cookies(cookies)
        self.page = self.open()

    def open(self):
        page = self.context.new_page()
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", self.check_origin)
        page.goto(self.stage.url)
        return page

    def check_origin(self, request):
        if not request.url.startswith((self.stage.url, "blob:" + self.stage.url)):
            self.complaints.append("a request to " + request.url)

    def sign_in(self, name=None, region="USA"):
        self.name = name or "buyer-" + secrets.token_hex(4)
        self.page.fill("#sign-in-name", self.name)
        self.page.select_option("#sign-in-region", region)
        self.page.click("#sign-in button")
        expect(self.page.locator("#shelf [data-product]").first).to_be_visible()
        expect(self.page.locator("#stream")).to_have_text("live")
        return self

    def buy(self, product, method="sandbox_success", quantity=None, double=False):
        card = self.page.locator(f"#shelf [data-product='{product}']")
        card.get_by_role("button").click()
        self.page.check(f"#methods input[value='{method}']")
        if quantity:
            self.page.fill("#pay input[name='quantity']", str(quantity))
        if double:
            self.page.dblclick("#buy")
        else:
            self.page.click("#buy")
        expect(self.page.locator("#pay")).not_to_be_visible()

    @property
    def newest(self):
        return self.page.locator("#queue > li").first

    def check(self):
        self.check_axe()
        left = [line for line in self.complaints
                if not any(re.search(pattern, line) for pattern in self.allowed)]
        assert not left, f"the console is not empty: {left}"

    def check_axe(self):
        result = Axe().run(self.page, options=RULES)
        found = [(violation["id"], [node["html"][:160] for node in violation["nodes"]])
                 for violation in result.response["violations"]]
        assert not found, f"axe finds {found}"
        wide = self.page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, f"the page is {wide} px too wide"


class Stage:
    def __init__(self, browser, url, store):
        self.browser = browser
        self.url = url
        self.store = store
        self.shoppers = []

    def shopper(self, **options):
        self.shoppers.append(Shopper(self, **options))
        return self.shoppers[-1]

    def close(self):
        for shopper in self.shoppers:
            shopper.context.close()
        self.shoppers = []

    def service(self, name):
        """Returns the process of a service: the child of the store's process that runs its program."""
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{entry}/stat") as file:
                    parent = file.read().rsplit(")", 1)[1].split()[1]
                program = os.path.basename(os.readlink(f"/proc/{entry}/exe"))
            except OSError:
                continue
            if program == name and parent == str(self.store):
                return int(entry)
        raise AssertionError(f"no {name} runs below {self.store}")

    def kill(self, name):
        """Kills a service. Returns a function that starts it again in the same way."""
        process = self.service(name)
        with open(f"/proc/{process}/cmdline", "rb") as file:
            command = file.read().split(b"\0")[:-1]
        with open(f"/proc/{process}/environ", "rb") as file:
            environment = dict(line.split(b"=", 1) for line in file.read().split(b"\0") if b"=" in line)
        program = os.readlink(f"/proc/{process}/exe")
        os.kill(process, signal.SIGKILL)
        return lambda: subprocess.Popen(
            [program, *command[1:]], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@test
def s1_the_shelf_has_the_prices_of_the_region(stage):
    for region, price in [("USA", "$0.99"), ("FRA", "€1.19"), ("JPN", "¥160"), ("KWT", "KWD")]:
        shopper = stage.shopper()
        shopper.sign_in(region=region)
        card = shopper.page.locator(f"#shelf [data-product='{COINS}']")
        expect(card).to_contain_text(price)
        shopper.check()
        stage.close()


@test
def s2_coins_pass_every_step_and_are_credited_once(stage):
    for width, scheme in [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")]:
        shopper = stage.shopper(width=width, scheme=scheme)
        shopper.check_axe()
        shopper.sign_in()
        shopper.buy(COINS)
        expect(shopper.newest).to_have_attribute("data-steps", "purchasing purchased delivered finished")
        expect(shopper.newest).to_contain_text("receipt was verified")
        expect(shopper.page.locator("[data-unit='coins']")).to_have_attribute("data-amount", "100")
        shopper.page.locator("summary").click()
        shopper.check()
        shopper.page.locator("#shelf [data-product]").first.get_by_role("button").click()
        shopper.check()
        stage.close()


@test
def s3_pressing_twice_buys_once(stage):
    shopper = stage.shopper().sign_in()
    shopper.buy(COINS, double=True)
    expect(shopper.newest).to_have_attribute("data-steps", "purchasing purchased delivered finished")
    expect(shopper.page.locator("#queue > li")).to_have_count(1)
    # Sends one request twice under the same key.
    ids = shopper.page.evaluate("""async () => {
        const send = () => fetch("/api/payments", { method: "POST",
            headers: { "content-type": "application/json", "idempotency-key": "the-same-key" },
            body: JSON.stringify({ productID: "com.example.coins.100", quantity: 1, storefront: "USA",
                price: { minorUnits: 99, currency: "USD" }, paymentMethod: "sandbox_success" }) })
            .then((answer) => answer.json()).then((answer) => answer.transaction.id);
        return [await send(), await send()];
    }""")
    assert ids[0] == ids[1], ids
    expect(shopper.page.locator("[data-unit='coins']")).to_have_attribute("data-amount", "200")
    shopper.check()


@test
def s4_each_method_ends_where_its_line_says(stage):
    shopper = stage.shopper().sign_in()
    for method, words in [
        ("sandbox_success", "It is yours"), ("sandbox_slow", "It is yours"), ("sandbox_flaky", "It is yours"),
        ("sandbox_interrupted", "can be resumed"), ("sandbox_unknown_charged", "It is yours"),
        ("sandbox_unknown_not_charged", "Nothing was charged"), ("sandbox_decline", "was declined"),
        ("sandbox_insufficient_funds", "not enough money"), ("sandbox_cancelled", "You cancelled"),
    ]:
        shopper.buy(COINS, method)
        expect(shopper.newest).to_contain_text(words, timeout=30_000)
        expect(shopper.newest).to_have_attribute("data-steps", re.compile("finished$"), timeout=30_000)
    shopper.buy(COINS, "sandbox_needs_approval")
    expect(shopper.newest).to_contain_text("Waiting for approval")
    shopper.newest.get_by_role("button", name="Approve as the parent").click()
    expect(shopper.newest).to_contain_text("It is yours")
    shopper.check()


@test
def s5_what_is_not_finished_comes_again(stage):
    shopper = stage.shopper().sign_in()
    shopper.page.check("#hold")
    shopper.buy(COINS)
    expect(shopper.newest).to_have_attribute("data-steps", "purchasing purchased delivered")
    # A reload turns the switch off, so the page turns it on again before anything else.
    shopper.page.add_init_script("addEventListener('DOMContentLoaded', () => { document.getElementById('hold').checked = true; })")
    shopper.page.reload()
    expect(shopper.newest).to_have_attribute("data-steps", "purchasing purchased delivered")
    shopper.newest.get_by_role("button", name="Finish").click()
    expect(shopper.newest).to_have_attribute("data-steps", re.compile("finished$"))
    shopper.page.reload()
    expect(shopper.page.locator("#stream")).to_have_text("live")
    expect(shopper.page.locator("#queue-empty")).to_be_visible()
    expect(shopper.page.locator("#queue > li")).to_have_count(0)
    shopper.check()


@test
def s6_a_service_that_is_killed_is_named_and_nothing_is_missed(stage):
    shopper = stage.shopper().sign_in()
    # Chromium itself logs each failed request to the console.
    shopper.allowed = [r"Failed to load resource.*50[234]", r"net::ERR_INCOMPLETE_CHUNKED_ENCODING"]
    start = stage.kill("fulfillment")
    expect(shopper.page.locator("#stream")).to_have_text("reconnecting")
    expect(shopper.page.locator("#banner")).to_contain_text("fulfillment is away")
    shopper.buy(COINS)
    expect(shopper.newest).to_have_attribute("data-state", "purchasing")
    shopper.check_axe()
    process = start()
    try:
        expect(shopper.page.locator("#stream")).to_have_text("live", timeout=30_000)
        expect(shopper.newest).to_have_attribute("data-steps", re.compile("finished$"), timeout=30_000)
        expect(shopper.page.locator("#banner")).to_be_hidden(timeout=30_000)
        expect(shopper.page.locator("[data-unit='coins']")).to_have_attribute("data-amount", "100")
        expect(shopper.page.locator("#queue > li")).to_have_count(1)
        shopper.check()
    finally:
        stage.restarted = process


@test
def s7_two_devices_agree_and_restore_brings_what_lasts(stage):
    first = stage.shopper().sign_in()
    second = stage.shopper().sign_in(name=first.name)
    first.buy(PRO)
    expect(second.newest).to_have_attribute("data-steps", re.compile("purchased"))
    expect(second.page.locator(f"#owned [data-product='{PRO}']")).to_have_attribute("data-owned", "verified")
    first.buy(COINS)
    expect(first.page.locator("[data-unit='coins']")).to_have_attribute("data-amount", "100")
    expect(first.newest).to_have_attribute("data-steps", re.compile("finished$"))
    third = stage.shopper().sign_in(name=first.name)
    # Payments learns of the finish from an event, a moment later.
    for _ in range(50):
        third.page.click("#restore")
        expect(third.page.locator("#restored")).not_to_have_text("Restoring…")
        if "1 restored" in third.page.locator("#restored").inner_text():
            break
        time.sleep(0.1)
    expect(third.newest).to_contain_text("Restored")
    expect(third.page.locator("[data-unit='coins']")).to_have_attribute("data-amount", "100")
    third.check()


@test
def s8_a_receipt_is_decoded_and_a_refund_takes_it_away(stage):
    shopper = stage.shopper().sign_in()
    shopper.buy(PRO)
    expect(shopper.page.locator(f"#owned [data-product='{PRO}']")).to_have_attribute("data-owned", "verified")
    shopper.newest.get_by_role("button", name="Receipt").click()
    expect(shopper.page.locator("#receipt-verdict")).to_contain_text("Verified")
    expect(shopper.page.locator("#receipt-claims")).to_contain_text(PRO)
    shopper.check()
    with shopper.page.expect_download() as download:
        shopper.page.click("#receipt-file")
    with open(download.value.path()) as file:
        assert file.read().count(".") == 2
    shopper.page.click("#receipt-close")
    with shopper.page.expect_download() as download:
        shopper.page.click("text=App receipt")
    subprocess.run(
        ["openssl", "cms", "-verify", "-noverify", "-inform", "DER", "-in", str(download.value.path()),
         "-out", os.devnull], check=True, stderr=subprocess.DEVNULL)
    shopper.newest.get_by_role("button", name="Refund as support").click()
    owned = shopper.page.locator(f"#owned [data-product='{PRO}']")
    for _ in range(50):
        if owned.get_attribute("data-owned") == "revoked":
            break
        shopper.page.reload()
        expect(owned).to_be_visible()
    expect(owned).to_have_attribute("data-owned", "revoked")
    shopper.check()


@test
def s9_no_token_reaches_the_browser(stage):
    shopper = stage.shopper()
    bodies = []
    shopper.page.on("response", lambda response: bodies.append(response))
    shopper.sign_in()
    shopper.buy(COINS)
    expect(shopper.newest).to_have_attribute("data-steps", re.compile("finished$"))
    seen = [shopper.page.evaluate("() => document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage })"),
            shopper.page.content()]
    for response in bodies:
        seen += [str(response.all_headers()), str(response.request.all_headers())]
        if "/api/queue" not in response.url:
            seen.append(response.text())
    for text in seen:
        for token in re.findall(r"eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+", text):
            # A signed transaction gives no access: it is not accepted as a token.
            status = shopper.context.request.get(
                "http://127.0.0.1:8084/v1/credits", headers={"authorization": "Bearer " + token}).status
            assert status == 401, f"a token with status {status}"
    cookies = shopper.context.cookies()
    assert [cookie["httpOnly"] and cookie["sameSite"] == "Strict" for cookie in cookies] == [True], cookies
    assert "storefront" not in shopper.page.evaluate("() => document.cookie")
    shopper.check()


@test
def a_subscription_renews_is_cancelled_and_changes(stage):
    shopper = stage.shopper().sign_in()
    shopper.buy("com.example.club.monthly")
    item = shopper.page.locator("#subscriptions > li")
    expect(item).to_contain_text("Then it renews for $2.99")
    end = int(item.get_attribute("data-end"))
    item.get_by_role("button", name="Cancel").click()
    expect(item).to_contain_text("It is not renewed")
    item.get_by_role("button", name="Renew after all").click()
    expect(item).to_contain_text("Then it renews for $2.99")
    shopper.check()
    shopper.page.get_by_role("button", name="A month passes").click()
    expect(shopper.page.locator("#clock-status")).to_have_text("Everything that fell due is done.", timeout=30_000)
    for _ in range(50):
        if int(item.get_attribute("data-end")) > end:
            break
        time.sleep(0.1)
    assert int(item.get_attribute("data-end")) > end
    item.get_by_role("button", name=re.compile("^Upgrade to")).click()
    shopper.page.click("#buy")
    expect(item).to_have_attribute("data-subscription", "com.example.club.gold.monthly")
    item.get_by_role("button", name=re.compile("^Change to")).click()
    expect(item).to_contain_text("Then it renews as")
    shopper.check()


@test
def a_session_that_ended_leads_to_the_sign_in(stage):
    shopper = stage.shopper().sign_in()
    shopper.allowed = [r"Failed to load resource.*401"]
    shopper.context.clear_cookies()
    shopper.page.click("#restore")
    expect(shopper.page.locator("#sign-in")).to_be_visible()
    expect(shopper.page.locator("#sign-in-problem")).to_contain_text("session has ended")
    # A cookie with an invented value is refused.
    shopper.context.add_cookies([{"name": "__Host-storefront", "value": "0" * 32, "url": stage.url.replace("http", "https"),
                                  "secure": True, "httpOnly": True, "sameSite": "Strict"}])
    assert shopper.page.evaluate("() => fetch('/api/owned').then((answer) => answer.status)") == 401
    shopper.check()


@test
def every_name_is_text_and_nothing_else(stage):
    for name in ["<img src=x onerror=alert(1)>", "Zoë", "名前", "مريم", "👩‍👧", "Robert'); DROP TABLE buyers;--"]:
        shopper = stage.shopper(width=390)
        shopper.sign_in(name=name)
        expect(shopper.page.locator("#name")).to_have_text(name)
        assert shopper.page.locator("#who img").count() == 0
        shopper.check()
        stage.close()
    shopper = stage.shopper()
    shopper.allowed = [r"Failed to load resource.*400"]
    shopper.page.fill("#sign-in-name", "a\u202eb")
    shopper.page.click("#sign-in button")
    expect(shopper.page.locator("#sign-in-problem")).to_contain_text("cannot be seen")
    shopper.check()


@test
def a_dialog_is_left_by_escape_and_used_by_keys_alone(stage):
    shopper = stage.shopper().sign_in()
    button = shopper.page.locator(f"#shelf [data-product='{COINS}']").get_by_role("button")
    button.focus()
    shopper.page.keyboard.press("Enter")
    expect(shopper.page.locator("#pay")).to_be_visible()
    shopper.page.keyboard.press("Escape")
    expect(shopper.page.locator("#pay")).not_to_be_visible()
    expect(button).to_be_focused()
    shopper.page.keyboard.press("Enter")
    shopper.page.locator("#buy").focus()
    shopper.page.keyboard.press("Enter")
    expect(shopper.newest).to_have_attribute("data-steps", re.compile("finished$"))
    shopper.check()


def pictures(stage, folder):
    """Takes pictures of a shop in use, in light and in dark."""
    os.makedirs(folder, exist_ok=True)
    for scheme in ["light", "dark"]:
        shopper = stage.shopper(scheme=scheme)
        shopper.sign_in(name="ada" + secrets.token_hex(2))
        for product, method in [(COINS, "sandbox_needs_approval"), (PRO, "sandbox_success"), (COINS, "sandbox_success")]:
            shopper.buy(product, method)
            expect(shopper.newest).to_contain_text(
                "Waiting" if method.endswith("approval") else "It is yours")
        expect(shopper.page.locator(f"#owned [data-product='{PRO}']")).to_have_attribute("data-owned", "verified")
        shopper.page.screenshot(path=f"{folder}/storefront-{scheme}.png")
        stage.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True)
    parser.add_argument("--store", type=int, required=True)
    parser.add_argument("--pictures", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--screenshots")
    options = parser.parse_args()
    failed = []
    begin = time.monotonic()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium-headless-shell", args=["--no-sandbox", "--disable-dev-shm-usage"])
        stage = Stage(browser, options.url, options.store)
        if options.screenshots:
            pictures(stage, options.screenshots)
            return 0
        for run in TESTS:
            if options.only not in run.__name__:
                continue
            start = time.monotonic()
            try:
                run(stage)
                print(f"✓ {run.__name__.replace('_', ' ')} ({time.monotonic() - start:.1f} s)", flush=True)
            except Exception:  # Every kind of failure is reported, and the next test runs.
                failed.append(run.__name__)
                os.makedirs(options.pictures, exist_ok=True)
                for number, shopper in enumerate(stage.shoppers):
                    shopper.page.screenshot(path=f"{options.pictures}/{run.__name__}-{number}.png")
                print(f"✗ {run.__name__.replace('_', ' ')}\n{traceback.format_exc()}", flush=True)
            stage.close()
        if restarted := getattr(stage, "restarted", None):
            restarted.terminate()
            restarted.wait()
    print(f"{len(failed)} failed; {time.monotonic() - begin:.0f} s")
    return 1 if failed else 0


sys.exit(main())
