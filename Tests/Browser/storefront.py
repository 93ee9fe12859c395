"""Uses the storefront in a real browser, as a buyer does.

Each test has a page of its own and ends with axe, an empty console, and no request to another origin.
"""

import json
import os
import re
import secrets
import statistics
import time

from playwright.sync_api import expect

from receipts import verify_app_receipt, verify_jws
from stage import AWAY, BUSY, CLUB, COINS, FORMS, PRO, WINTER

TESTS = []


def test(function):
    TESTS.append(function)
    return function


@test
def s1_the_shelf_has_the_prices_of_the_region(stage):
    for region, price, count in [("USA", "$0.99", 8), ("FRA", "€1.19", 8), ("JPN", "¥160", 5), ("KWT", "KWD", 5)]:
        shopper = stage.shopper().sign_in(region=region)
        expect(shopper.card(COINS)).to_contain_text(price)
        expect(shopper.card()).to_have_count(count)
        # Each card has a picture that is drawn, and no two are the same.
        pictures = shopper.card().locator(".picture")
        expect(pictures).to_have_count(count)
        shapes = pictures.evaluate_all("""(pictures) => pictures.map((picture) => {
            const curve = picture.querySelector("path"), sign = picture.querySelector("use");
            const isDrawn = [picture, curve, sign].every((part) => part.getBoundingClientRect().height > 10)
                && getComputedStyle(curve).stroke !== "none";
            return isDrawn ? curve.getAttribute("d") : "nothing";
        })""")
        assert "nothing" not in shapes and len(set(shapes)) == count, shapes
        shopper.check()
        stage.close()


# Everything that a row of the queue has shown since the page was loaded: its state, and the steps it has passed.
SHOWN = """
    window.shown = [];
    new MutationObserver((changes) => {
        for (const { target } of changes) {
            const now = [target.dataset.state, target.dataset.steps];
            if (window.shown.at(-1)?.join() !== now.join()) window.shown.push(now);
        }
    }).observe(document, { subtree: true, attributes: true, attributeFilter: ["data-steps"] });
"""


@test
def s2_coins_pass_every_step_and_are_credited_once(stage):
    for width, scheme in FORMS:
        shopper = stage.shopper(width, scheme, SHOWN)
        shopper.check_axe()
        shopper.sign_in()
        # The slow payment shows that the page does not run ahead of the store.
        is_slow = (width, scheme) == FORMS[0]
        shopper.buy(COINS, "sandbox_slow" if is_slow else "sandbox_success")
        expect(shopper.newest).to_have_attribute("data-steps", "purchasing purchased delivered finished")
        shown = shopper.page.evaluate("() => window.shown")
        assert not is_slow or shown[0] == ["purchasing", "purchasing"], shown
        assert all(steps == "purchasing" for state, steps in shown if state == "purchasing"), shown
        assert all(later.startswith(steps) for (_, steps), (_, later) in zip(shown, shown[1:])), shown
        assert shown[-1] == ["purchased", "purchasing purchased delivered finished"], shown
        expect(shopper.newest).to_contain_text("receipt was verified")
        expect(shopper.newest).to_be_in_viewport()
        shopper.expect_coins(100)
        shopper.page.locator("summary").click()
        # The method, the path, the status, the time and the trace of each of the last ten.
        expect(shopper.page.locator("#requests tr")).to_have_count(10)
        for request in shopper.page.locator("#requests tr").all_inner_texts():
            assert re.fullmatch(r"(GET|POST) /\S+\s+20\d\s+\d+ ms\s+[0-9a-f]{32}", request), request
        shopper.check()
        shopper.card().first.get_by_role("button").click()
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
    shopper.expect_coins(200)
    shopper.check()


# How each payment method ends, in the words of the page. A method that the page offers and this list lacks fails the test.
ENDS = {
    "sandbox_success": "It is yours", "sandbox_slow": "It is yours", "sandbox_flaky": "It is yours",
    "sandbox_unknown_charged": "It is yours", "sandbox_processing": "It is yours",
    "sandbox_throttled": "It is yours", "sandbox_stored_error": "It is yours",
    "sandbox_refund_pending": "It is yours", "sandbox_refund_failed": "It is yours",
    "sandbox_needs_action": "Your bank asks you", "sandbox_needs_approval": "Waiting for approval",
    "sandbox_interrupted": "support can resume it", "sandbox_unknown_not_charged": "was refused",
    "sandbox_wrong_amount": "the money is given back", "sandbox_decline": "was declined",
    "sandbox_insufficient_funds": "not enough money", "sandbox_cancelled": "You cancelled",
}
# How renewals end that are paid so; tested below.
RENEWALS = ["sandbox_renewal_recovers", "sandbox_renewal_declined"]


@test
def s4_each_method_ends_where_its_line_says(stage):
    shopper = stage.shopper().sign_in()
    assert sorted(shopper.methods(COINS)) == sorted(ENDS)
    assert sorted(shopper.methods(CLUB)) == sorted([*ENDS, *RENEWALS])
    for method, words in ENDS.items():
        shopper.buy(COINS, method)
        expect(shopper.newest).to_contain_text(words, timeout=60_000)
        if method == "sandbox_needs_action":
            shopper.newest.get_by_role("button", name="Confirm at the bank").click()
            shopper.page.click("#bank-confirm")
        elif method == "sandbox_needs_approval":
            # Somebody approves elsewhere, and the page moves by itself.
            operator = stage.operator()
            operator.page.goto(operator.url + "purchases/" + shopper.newest.get_attribute("data-id"))
            operator.page.get_by_role("button", name="Approve…").click()
            dialog = operator.page.locator("dialog[open]")
            dialog.get_by_label("Reason").fill("asked by phone")
            dialog.get_by_role("button", name="Approve", exact=True).click()
        elif method == "sandbox_interrupted":
            shopper.expect_finished()
            shopper.newest.get_by_role("button", name="Resume as support").click()
            expect(shopper.page.locator("#queue > li").nth(1)).to_contain_text("It was resumed")
        elif method == "sandbox_refund_pending":
            shopper.expect_finished()
            shopper.newest.get_by_role("button", name="Refund as support").click()
            expect(shopper.newest).to_contain_text("no longer yours", timeout=60_000)
        if method in ("sandbox_needs_action", "sandbox_needs_approval", "sandbox_interrupted"):
            expect(shopper.newest).to_contain_text("It is yours", timeout=60_000)
        shopper.expect_finished(timeout=60_000)
    shopper.check()


@test
def approvals_are_given_and_refused_in_the_shop(stage):
    shopper = stage.shopper().sign_in()
    for decision, words in [("Approve", "It is yours"), ("Decline", "It was not approved")]:
        shopper.buy(COINS, "sandbox_needs_approval")
        expect(shopper.newest).to_contain_text("Waiting for approval")
        shopper.newest.get_by_role("button", name=f"{decision} as parent").click()
        expect(shopper.newest).to_contain_text(words)
        shopper.expect_finished()
    shopper.expect_coins(100)
    shopper.check()


@test
def the_bank_asks_and_the_buyer_decides(stage):
    for width, scheme in FORMS[:2]:
        shopper = stage.shopper(width, scheme).sign_in()
        for decision, words in [("Confirm", "It is yours"), ("Refuse", "Nothing was charged")]:
            shopper.buy(COINS, "sandbox_needs_action")
            expect(shopper.newest).to_contain_text("Your bank asks you")
            shopper.newest.get_by_role("button", name="Confirm at the bank").click()
            bank = shopper.page.get_by_role("dialog", name="Your bank asks")
            expect(bank).to_contain_text("Do you pay $0.99")
            shopper.check_axe()
            bank.get_by_role("button", name="Later").click()
            shopper.newest.get_by_role("button", name="Confirm at the bank").click()
            bank.get_by_role("button", name=decision, exact=True).click()
            expect(shopper.newest).to_contain_text(words)
            shopper.expect_finished()
        shopper.expect_coins(100)
        shopper.check()
        stage.close()


@test
def s5_what_is_not_finished_comes_again(stage):
    shopper = stage.shopper().sign_in()
    shopper.page.check("#hold")
    shopper.buy(COINS)
    expect(shopper.newest).to_have_attribute("data-steps", "purchasing purchased delivered")
    # A reload turns the switch off, so the page turns it on again before anything else.
    shopper.page.add_init_script(
        "addEventListener('DOMContentLoaded', () => { document.getElementById('hold').checked = true; })")
    shopper.page.reload()
    expect(shopper.newest).to_have_attribute("data-steps", "purchasing purchased delivered")
    shopper.newest.get_by_role("button", name="Finish").click()
    shopper.expect_finished()
    shopper.page.reload()
    expect(shopper.page.locator("#stream")).to_have_text("live")
    expect(shopper.page.locator("#queue-empty")).to_be_visible()
    expect(shopper.page.locator("#queue > li")).to_have_count(0)
    shopper.check()


# The most rows that the queue has had at once; the switch is on before anything else happens.
ROWS = """
    addEventListener("DOMContentLoaded", () => { document.getElementById("hold").checked = true; });
    window.rowsMax = 0;
    new MutationObserver(() => {
        window.rowsMax = Math.max(window.rowsMax, document.querySelectorAll("#queue > li").length);
    }).observe(document, { subtree: true, childList: true });
"""


@test
def a_buyer_with_many_purchases_sees_some_at_a_time(stage):
    count, finished, streams = 450, set(), []
    price = {"minorUnits": 99, "currency": "USD"}

    def send(route):
        # As the store does, it begins with everything that is not finished.
        streams.append(route)
        changes = [
            {"revision": number, "isDelivered": True, "contents": [], "transaction": {
                "id": str(number), "version": 1, "state": "purchased", "productID": COINS, "quantity": 1, "price": price}}
            for number in range(1, count + 1) if str(number) not in finished]
        body = "".join(f"event: transaction\nid: {change['revision']}\ndata: {json.dumps(change)}\n\n" for change in changes)
        route.fulfill(content_type="text/event-stream", body=body or ": nothing\n\n")

    def finish(route):
        finished.add(route.request.url.split("/")[-2])
        route.fulfill(json={})

    shopper = stage.shopper(script=ROWS).sign_in()
    shopper.page.route("**/api/queue*", send)
    shopper.page.route("**/receipt", lambda route: route.fulfill(json={"isVerified": True}))
    shopper.page.route("**/finish", finish)
    shopper.page.reload()
    more = shopper.page.locator("#queue-more")
    expect(shopper.page.locator("#queue > li")).to_have_count(200)
    expect(more).to_be_visible()
    shopper.check_axe()
    shopper.page.uncheck("#hold")
    deadline = time.monotonic() + 60
    while len(finished) < count:
        assert time.monotonic() < deadline, f"{len(finished)} of {count} are finished"
        shopper.page.wait_for_timeout(100)
    expect(more).to_be_hidden()
    # It has asked for the rest when there was room again.
    assert len(streams) >= count // 200, len(streams)
    rows = shopper.page.evaluate("() => window.rowsMax")
    assert rows == 200, rows
    shopper.page.unroute("**/api/queue*")
    expect(shopper.page.locator("#stream")).to_have_text("live", timeout=30_000)
    shopper.check()


@test
def s6_a_service_that_is_killed_is_named_and_nothing_is_missed(stage):
    shopper = stage.shopper().sign_in()
    shopper.allowed = AWAY
    shopper.buy(COINS)
    shopper.expect_finished()
    before = shopper.revisions()
    start = stage.kill("fulfillment")
    expect(shopper.page.locator("#stream")).to_have_text("reconnecting")
    expect(shopper.page.locator("#banner")).to_contain_text("fulfillment is away")
    shopper.buy(COINS)
    expect(shopper.newest).to_have_attribute("data-state", "purchasing")
    shopper.check_axe()
    start()
    expect(shopper.page.locator("#stream")).to_have_text("live", timeout=60_000)
    shopper.expect_finished(timeout=60_000)
    expect(shopper.page.locator("#banner")).to_be_hidden(timeout=60_000)
    shopper.expect_coins(200)
    # Each row is there once, none went back, and the newest change is that of the newest row.
    after = shopper.revisions()
    assert len(after) == shopper.page.locator("#queue > li").count() == 2, after
    assert all(after[id_] >= revision for id_, revision in before.items()), (before, after)
    assert list(after.values()) == sorted(set(after.values()), reverse=True), after
    shopper.check()


@test
def s7_two_devices_agree_and_restore_brings_what_lasts(stage):
    first = stage.shopper().sign_in()
    second = stage.shopper().sign_in(name=first.name)
    # Only the first device verifies the receipt and finishes.
    second.page.check("#hold")
    first.buy(PRO)
    first.expect_finished()
    second.expect_finished(timeout=1_000)
    expect(first.newest).to_contain_text("receipt was verified")
    expect(second.newest).to_contain_text("Finished on another device")
    expect(second.owned(PRO)).to_have_attribute("data-owned", "verified")
    second.page.uncheck("#hold")
    first.buy(COINS)
    first.expect_coins(100)
    first.expect_finished()
    third = stage.shopper().sign_in(name=first.name)
    # The finish reaches payments by an event.
    for _ in range(600):
        third.page.click("#restore")
        expect(third.page.locator("#restored")).not_to_have_text("Restoring…")
        if "1 restored" in third.page.locator("#restored").inner_text():
            break
        time.sleep(0.1)
    expect(third.newest).to_contain_text("Restored")
    third.expect_coins(100)
    third.check()


@test
def s8_a_receipt_is_decoded_and_a_refund_takes_it_away(stage):
    shopper = stage.shopper().sign_in()
    shopper.buy(PRO)
    expect(shopper.owned(PRO)).to_have_attribute("data-owned", "verified")
    shopper.newest.get_by_role("button", name="Receipt").click()
    expect(shopper.page.locator("#receipt-verdict")).to_contain_text("Verified")
    expect(shopper.page.locator("#receipt-claims")).to_contain_text(PRO)
    shopper.check()
    with shopper.page.expect_download() as download:
        shopper.page.click("#receipt-file")
    # What the page hands out is signed by the store; openssl says so, up to the store's root.
    root = stage.root()
    with open(download.value.path()) as file:
        assert verify_jws(file.read(), root)["productId"] == PRO
    shopper.page.click("#receipt-close")
    with shopper.page.expect_download() as download:
        shopper.page.click("text=App receipt")
    assert PRO.encode() in verify_app_receipt(download.value.path(), root)
    # A refund takes a button of the row away while the receipt is open. Who closes it is still at that row.
    shopper.newest.get_by_role("button", name="Receipt").click()
    expect(shopper.page.locator("#receipt")).to_be_visible()
    stage.command("refund", shopper.newest.get_attribute("data-id"), "--reason", "bought twice")
    expect(shopper.newest).to_contain_text("no longer yours")
    shopper.page.keyboard.press("Escape")
    expect(shopper.newest).to_be_focused()
    expect(shopper.owned(PRO)).to_have_attribute("data-owned", "revoked")
    shopper.check()


@test
def a_refused_receipt_unlocks_nothing(stage):
    def refuse(route):
        route.fulfill(json={**route.fetch().json(), "isVerified": False, "refusal": "made by a test"})

    shopper = stage.shopper().sign_in()
    finished = []
    shopper.page.on("request", lambda request: finished.append(request.url) if request.url.endswith("/finish") else None)
    shopper.page.route("**/receipt", refuse)
    shopper.buy(PRO)
    expect(shopper.newest).to_contain_text("The receipt is refused: made by a test. It is not unlocked.")
    expect(shopper.newest).to_have_attribute("data-steps", "purchasing purchased delivered")
    shopper.newest.get_by_role("button", name="Receipt").click()
    expect(shopper.page.locator("#receipt-verdict")).to_have_text("Refused: made by a test.")
    shopper.check()
    assert not finished, finished
    # The purchase is not lost: it comes again, and is finished once its receipt is verified.
    shopper.page.unroute("**/receipt")
    shopper.page.reload()
    expect(shopper.newest).to_contain_text("receipt was verified")
    shopper.expect_finished()
    assert len(finished) == 1, finished
    shopper.check()


@test
def an_older_purchase_is_unlocked_by_its_receipt(stage):
    def age(route):
        # As of a buyer who has bought more since than one answer has.
        answer = route.fetch().json()
        for product in answer["products"]:
            product.pop("isVerified", None)
            product["isTried"] = False
        route.fulfill(json={**answer, "isCut": True})

    shopper = stage.shopper().sign_in()
    shopper.buy(PRO)
    shopper.expect_finished()
    shopper.page.route("**/api/owned", age)
    shopper.page.reload()
    item = shopper.owned(PRO)
    expect(item).to_have_attribute("data-owned", "unverified")
    expect(item).to_contain_text("An older purchase.")
    expect(shopper.page.locator("#owned")).to_contain_text("Older ones are not listed here")
    shopper.check_axe()
    item.get_by_role("button", name="Receipt").click()
    expect(shopper.page.locator("#receipt-verdict")).to_contain_text("Verified")
    shopper.page.click("#receipt-close")
    expect(item).to_have_attribute("data-owned", "verified")
    expect(item).to_contain_text("Receipt verified.")
    expect(item.get_by_role("button", name="Receipt")).to_be_focused()
    shopper.check()


@test
def what_a_buyer_has_is_given_again_for_nothing(stage):
    shopper = stage.shopper().sign_in()
    expect(shopper.page.locator("#region")).to_have_text("United States")
    expect(shopper.card(PRO)).to_contain_text("Bought once, kept for good")
    shopper.buy(PRO)
    shopper.expect_finished()
    expect(shopper.card(PRO)).to_contain_text("You have it")
    shopper.card(PRO).get_by_role("button").click()
    expect(shopper.page.locator("#pay-terms")).to_contain_text("charges nothing")
    expect(shopper.page.locator("#buy")).to_have_text("Get it again")
    shopper.check_axe()
    shopper.page.click("#buy")
    expect(shopper.page.locator("#queue > li")).to_have_count(2)
    shopper.expect_finished()
    expect(shopper.newest.locator(".price")).to_have_text("$0.00")
    # Nobody else sees what this buyer has. The stream may end before the page closes it.
    shopper.allowed = [r"Failed to load resource.*401", r"net::ERR_"]
    shopper.page.click("#sign-out")
    shopper.sign_in()
    expect(shopper.card(PRO)).to_contain_text("Bought once, kept for good")
    expect(shopper.page.locator("#owned")).to_contain_text("Nothing yet")
    shopper.check()


@test
def a_subscription_that_is_over_says_when_it_ended(stage):
    shopper = stage.shopper().sign_in()
    shopper.buy(CLUB)
    shopper.subscription.get_by_role("button", name="Cancel").click()
    expect(shopper.subscription).to_contain_text("It is not renewed")
    expect(shopper.owned(CLUB)).to_have_attribute("data-owned", "verified")
    shopper.page.get_by_role("button", name="A month passes").click()
    expect(shopper.page.locator("#clock-status")).to_have_text("Everything that fell due is done.", timeout=60_000)
    # By the clock of this computer it goes on for a month.
    expect(shopper.owned(CLUB)).to_have_attribute("data-owned", "over")
    expect(shopper.owned(CLUB)).to_contain_text("It ended on")
    shopper.page.reload()
    expect(shopper.owned(CLUB)).to_have_attribute("data-owned", "over")
    shopper.check()


@test
def s9_no_token_reaches_the_browser(stage):
    shopper = stage.shopper()
    answers = []
    shopper.page.on("response", lambda answer: answers.append(answer))
    shopper.sign_in()
    shopper.buy(COINS)
    shopper.expect_finished()
    seen = [shopper.page.evaluate("() => document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage })"),
            shopper.page.content()]
    for answer in answers:
        seen += [str(answer.all_headers()), str(answer.request.all_headers())]
        # A stream has no end; its body is read below.
        if "/api/queue" not in answer.url:
            seen.append(answer.text())
    shopper.page.check("#hold")
    shopper.buy(COINS)
    expect(shopper.newest).to_have_attribute("data-steps", "purchasing purchased delivered")
    unfinished = shopper.newest.get_attribute("data-id")
    # What the stream says, up to the purchase that is not finished.
    stream = shopper.page.evaluate("""async (id) => {
        const answer = await fetch("/api/queue");
        if (answer.headers.get("x-accel-buffering") !== "no") return "a proxy may hold events back";
        const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
        let text = "";
        for (let part = {}; !part.done && !text.includes(`"${id}"`); text += part.value ?? "") part = await reader.read();
        await reader.cancel();
        return text;
    }""", unfinished)
    assert f'"{unfinished}"' in stream, stream
    seen.append(stream)
    for text in seen:
        for token in re.findall(r"eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+", text):
            # The store's signature under a purchase is no token.
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
    shopper.buy(CLUB)
    item = shopper.subscription
    expect(item).to_contain_text("Then it renews for $2.99")
    expect(shopper.owned(CLUB)).to_contain_text(re.compile(r"Yours until .+ Receipt verified"))
    end = int(item.get_attribute("data-end"))
    cancel = item.get_by_role("button", name="Cancel")
    cancel.focus()
    cancel.press("Enter")
    expect(item).to_contain_text("It is not renewed")
    # The button in the place of the one that was pressed has the focus, so the keys undo what they did.
    again = item.get_by_role("button", name="Renew after all")
    expect(again).to_be_focused()
    again.press("Enter")
    expect(item).to_contain_text("Then it renews for $2.99")
    shopper.check()
    shopper.page.get_by_role("button", name="A month passes").click()
    expect(shopper.page.locator("#clock-status")).to_have_text("Everything that fell due is done.", timeout=60_000)
    for _ in range(600):
        if int(item.get_attribute("data-end")) > end:
            break
        time.sleep(0.1)
    assert int(item.get_attribute("data-end")) > end
    item.get_by_role("button", name=re.compile("^Upgrade to")).click()
    terms = "What is left of your running period is given back."
    expect(shopper.page.locator("#pay-terms")).to_contain_text(terms)
    # A payment that is refused is another wish on the same terms.
    shopper.allowed = [r"Failed to load resource.*409"]
    shopper.page.route("**/api/payments", lambda route: route.fulfill(status=409, json={"code": "stale_price"}), times=1)
    shopper.page.click("#buy")
    expect(shopper.page.locator("#pay-problem")).to_contain_text("Nothing was charged")
    expect(shopper.page.locator("#pay-terms")).to_contain_text(terms)
    shopper.page.click("#buy")
    expect(item).to_have_attribute("data-subscription", "com.example.club.gold.monthly")
    item.get_by_role("button", name=re.compile("^Change to")).click()
    expect(item).to_contain_text("Then it renews as")
    item.get_by_role("button", name=re.compile("^Stay with")).click()
    expect(item).to_contain_text("Then it renews for $5.99")
    shopper.check()


@test
def renewals_end_where_the_line_of_their_method_says(stage):
    shoppers, ends = {}, {}
    for method in RENEWALS:
        shoppers[method] = stage.shopper().sign_in()
        shoppers[method].buy(CLUB, method)
        shoppers[method].expect_finished()
        expect(shoppers[method].subscription).to_contain_text("Then it renews for $2.99")
        ends[method] = shoppers[method].subscription.get_attribute("data-end")
    recovering, declined = (shoppers[method] for method in RENEWALS)
    # The four charges until the end of the period fail. The first one after it pays for one of the two.
    for span in ["A month passes", "A day passes", "A day passes"]:
        declined.page.get_by_role("button", name=span).click()
        expect(declined.page.locator("#clock-status")).to_have_text("Everything that fell due is done.", timeout=60_000)
    expect(declined.subscription).to_contain_text("The renewal was not paid")
    declined.check()
    expect(recovering.subscription).not_to_have_attribute("data-end", ends[RENEWALS[0]], timeout=60_000)
    expect(recovering.subscription).to_contain_text("Then it renews for $2.99")
    recovering.check()


@test
def an_introductory_offer_is_charged_as_it_is_shown(stage):
    terms = {"mode": "payAsYouGo", "numberOfPeriods": 3, "period": "P1M",
             "prices": {"FRA": {"minorUnits": 99, "currency": "EUR"}}}
    free = {"mode": "freeTrial", "numberOfPeriods": 1, "period": "P1W",
            "prices": {"FRA": {"minorUnits": 0, "currency": "EUR"}}}
    changed = "The price has changed meanwhile"
    try:
        stage.offer(CLUB, terms)
        shopper = stage.shopper().sign_in(region="FRA")
        shopper.allowed = [r"Failed to load resource.*409"]
        expect(shopper.card(CLUB)).to_contain_text("€0.99 / month, 3 times, then €3.49 / month")
        shopper.check()
        shopper.card(CLUB).get_by_role("button").click()
        expect(shopper.page.locator("#buy")).to_have_text("Pay €0.99")
        # The offer changes while the buyer looks at it. Nothing else is charged than what was shown.
        stage.offer(CLUB, None)
        shopper.page.click("#buy")
        expect(shopper.page.locator("#pay-problem")).to_contain_text(changed)
        expect(shopper.page.locator("#buy")).to_have_text("Pay €3.49")
        stage.offer(CLUB, free)
        shopper.page.click("#pay-cancel")
        shopper.page.reload()
        expect(shopper.card(CLUB)).to_contain_text("1 week free, then €3.49 / month")
        shopper.card(CLUB).get_by_role("button").click()
        expect(shopper.page.locator("#buy")).to_have_text("Start for free")
        shopper.check_axe()
        stage.offer(CLUB, terms)
        shopper.page.click("#buy")
        expect(shopper.page.locator("#pay-problem")).to_contain_text(changed)
        expect(shopper.page.locator("#buy")).to_have_text("Pay €0.99")
        shopper.page.click("#buy")
        expect(shopper.page.locator("#pay")).not_to_be_visible()
        shopper.expect_finished()
        item = shopper.subscription
        expect(item.locator(".price")).to_have_text("€0.99")
        expect(item).to_contain_text("Then it renews for €0.99")
        # The account has had it.
        expect(shopper.card(CLUB).locator(".price")).to_have_text("€3.49 / month")
        shopper.check()
    finally:
        stage.offer(CLUB, None)


@test
def a_higher_price_is_agreed_to_or_not(stage):
    for answer, words in [("Agree to $9.99", "Then it renews for $9.99."),
                          ("Do not agree", "You did not agree to $9.99, so it ends then.")]:
        shopper = stage.shopper().sign_in()
        shopper.buy(CLUB)
        shopper.expect_finished()
        item = shopper.subscription
        expect(item).to_contain_text("Then it renews for $2.99")
        stage.ask_about_price(shopper.newest.get_attribute("data-id"), 999)
        # The question comes by the stream.
        expect(item).to_contain_text("Then it renews for $9.99 if you agree, and ends if you do not.")
        shopper.check_axe()
        button = item.get_by_role("button", name=answer, exact=True)
        button.focus()
        # A purchase elsewhere makes the buttons anew. Who uses the keys stays on the answer they chose.
        item.evaluate("(item) => { item.dataset.age = 'old'; }")
        stage.shopper().sign_in(name=shopper.name).buy(COINS)
        expect(item).not_to_have_attribute("data-age", "old")
        expect(button).to_be_focused()
        button.press("Enter")
        expect(item).to_contain_text(words)
        expect(item.get_by_role("button", name=re.compile("gree"))).to_have_count(0)
        # The answers are gone, so the subscription has the focus.
        expect(item).to_be_focused()
        shopper.check()
        stage.close()


@test
def hosted_content_is_loaded_with_progress_and_resumed(stage):
    shopper = stage.shopper().sign_in()
    shopper.allowed = AWAY
    line = shopper.context.new_cdp_session(shopper.page)
    line.send("Network.enable")
    slow = {"offline": False, "latency": 0, "downloadThroughput": 1_500_000, "uploadThroughput": -1}
    line.send("Network.emulateNetworkConditions", slow)
    shopper.buy(WINTER)
    expect(shopper.newest).to_contain_text(re.compile(r"Downloading: [1-9.]+ MB of"))
    expect(shopper.newest.get_by_role("progressbar")).to_be_visible()
    shopper.check_axe()
    start = stage.kill("fulfillment")
    expect(shopper.page.locator("#banner")).to_contain_text("fulfillment is away")
    line.send("Network.emulateNetworkConditions", {**slow, "downloadThroughput": -1})
    start()
    shopper.expect_finished(timeout=60_000)
    expect(shopper.page.locator("#banner")).to_be_hidden(timeout=60_000)
    with shopper.page.expect_download() as download:
        shopper.newest.get_by_role("link", name="Save the download").click()
    length = os.path.getsize(download.value.path())
    assert length > 5_000_000, f"the file has {length} bytes"
    shopper.check()


@test
def the_page_says_who_is_away_and_goes_on(stage):
    shopper = stage.shopper().sign_in()
    shopper.allowed = AWAY + [r"Failed to load resource.*401"]
    banner = shopper.page.locator("#banner")
    start = stage.kill("payments")
    shopper.card(COINS).get_by_role("button").click()
    shopper.page.click("#buy")
    expect(banner).to_contain_text("payments is away")
    start()
    # The payment is repeated under its key until it is answered.
    expect(shopper.page.locator("#pay")).not_to_be_visible(timeout=60_000)
    shopper.expect_finished(timeout=60_000)
    shopper.expect_coins(100)
    expect(banner).to_be_hidden(timeout=60_000)
    start = stage.kill("storefront")
    expect(banner).to_contain_text("server cannot be reached")
    shopper.check_axe()
    start()
    # This server keeps its sessions in memory.
    expect(shopper.page.locator("#sign-in-problem")).to_contain_text("session has ended", timeout=60_000)
    expect(banner).to_be_hidden(timeout=60_000)
    shopper.sign_in(name=shopper.name)
    shopper.expect_coins(100)
    shopper.check()


@test
def an_offline_page_says_so_and_misses_nothing(stage):
    shopper = stage.shopper().sign_in()
    shopper.allowed = AWAY
    stream, banner = shopper.page.locator("#stream"), shopper.page.locator("#banner")
    shopper.context.set_offline(True)
    expect(stream).to_have_text("offline")
    shopper.page.click("#restore")
    expect(shopper.page.locator("#restored")).to_contain_text("Nothing was restored")
    expect(banner).to_contain_text("server cannot be reached")
    shopper.check_axe()
    other = stage.shopper().sign_in(name=shopper.name)
    other.buy(COINS)
    other.expect_finished()
    shopper.context.set_offline(False)
    expect(stream).to_have_text("live", timeout=60_000)
    expect(banner).to_be_hidden(timeout=60_000)
    shopper.expect_coins(100)
    shopper.check()


@test
def a_shelf_that_cannot_be_shown_comes_when_the_catalog_is_back(stage):
    shopper = stage.shopper()
    shopper.allowed = AWAY
    shelf, banner = shopper.page.locator("#shelf"), shopper.page.locator("#banner")
    start = stage.kill("catalog")
    shopper.page.fill("#sign-in-name", "buyer-" + secrets.token_hex(4))
    shopper.page.click("#sign-in button")
    expect(shelf).to_contain_text("The shelf cannot be shown. catalog cannot be reached")
    expect(banner).to_contain_text("catalog is away")
    shopper.check_axe()
    shelf.get_by_role("button", name="Try again").click()
    # The button was made anew, so the shelf has the focus.
    expect(shelf).to_be_focused()
    expect(shelf).to_contain_text("The shelf cannot be shown.")
    start()
    expect(shopper.card(COINS)).to_be_visible(timeout=60_000)
    expect(banner).to_be_hidden(timeout=60_000)
    shopper.check()


# A browser without windows shows every tab, so the test says which one is looked at.
LOOKED_AT = """
    Object.defineProperty(document, "hidden", { get: () => Boolean(window.isAside) });
    window.lookAway = (isAside) => {
        window.isAside = isAside;
        document.dispatchEvent(new Event("visibilitychange"));
    };
"""


@test
def seven_tabs_are_open_at_once(stage):
    # The browser has six connections to the server, and each tab that is looked at keeps one for its stream.
    shopper = stage.shopper(script=LOOKED_AT).sign_in()
    tabs = [shopper.page]
    for _ in range(6):
        tabs[-1].evaluate("() => window.lookAway(true)")
        tabs.append(shopper.open())
        expect(tabs[-1].locator("#shelf [data-product]").first).to_be_visible()
        expect(tabs[-1].locator("#stream")).to_have_text("live")
    tabs[-1].evaluate("() => window.lookAway(true)")
    tabs[0].evaluate("() => window.lookAway(false)")
    shopper.buy(COINS)
    shopper.expect_finished()
    # A tab that is looked at again catches up.
    tabs[3].evaluate("() => window.lookAway(false)")
    expect(tabs[3].locator("[data-unit='coins']")).to_have_attribute("data-amount", "100")
    shopper.check()


@test
def two_tabs_are_always_one_buyer(stage):
    shopper = stage.shopper().sign_in()
    # A tab may ask before it hears that the session has ended.
    shopper.allowed = [r"Failed to load resource.*401", r"net::ERR_"]
    other = shopper.open()
    expect(other.locator("#name")).to_have_text(shopper.name)
    shopper.buy(COINS)
    expect(other.locator("#queue > li").first).to_have_attribute("data-steps", re.compile("finished$"))
    expect(other.locator("[data-unit='coins']")).to_have_attribute("data-amount", "100")
    shopper.page.click("#sign-out")
    expect(other.locator("#sign-in")).to_be_visible()
    expect(other.locator("#queue > li")).to_have_count(0)
    bob = "bob-" + secrets.token_hex(4)
    shopper.sign_in(name=bob)
    expect(other.locator("#name")).to_have_text(bob)
    expect(other.locator("#owned")).to_contain_text("Nothing yet")
    shopper.check()


@test
def a_session_that_ended_leads_to_the_sign_in(stage):
    shopper = stage.shopper().sign_in()
    shopper.allowed = [r"Failed to load resource.*401", r"net::ERR_"]
    # Somebody ends the session elsewhere. Its stream must not tell what another device buys.
    ended = shopper.context.request.delete(stage.url + "session", headers={"origin": stage.url.rstrip("/")})
    assert ended.ok, ended.status
    stage.shopper().sign_in(name=shopper.name).buy(COINS)
    expect(shopper.page.locator("#sign-in-problem")).to_contain_text("session has ended")
    expect(shopper.page.locator("#queue > li")).to_have_count(0)
    # A session that somebody made up is worth nothing.
    shopper.context.add_cookies([{
        "name": "__Host-storefront", "value": "0" * 32, "url": stage.url.replace("http", "https"),
        "secure": True, "httpOnly": True, "sameSite": "Strict"}])
    assert shopper.page.evaluate("() => fetch('/api/owned').then((answer) => answer.status)") == 401
    shopper.check()


@test
def a_foreign_page_does_nothing_in_a_buyers_name(stage):
    shopper = stage.shopper().sign_in()
    payment = {"productID": COINS, "quantity": 1, "storefront": "USA", "paymentMethod": "sandbox_success",
               "price": {"minorUnits": 99, "currency": "USD"}}
    for headers in [{"origin": "http://evil.example"}, {"origin": "null"}, {},
                    {"origin": stage.url.rstrip("/"), "sec-fetch-site": "cross-site"}]:
        answer = shopper.context.request.post(
            stage.url + "api/payments", data=payment, headers={**headers, "idempotency-key": secrets.token_hex(8)})
        assert answer.status == 403, f"{headers}: {answer.status}"
    shopper.page.reload()
    expect(shopper.page.locator("#owned")).to_contain_text("Nothing yet")
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
def every_title_is_text_and_fits(stage):
    titles = ["<img src=x onerror=alert(1)>", "A" * 200, "\u202egnp\nexe", "Z\u0338\u0322\u031b" * 40, "مستوى الشتاء",
              "", "👩‍👩‍👧‍👦" * 30, "${alert(1)}"]

    def answer(route):
        page = route.fetch().json()
        for product, title in zip(page["products"], titles):
            product["title"] = product["description"] = title
        route.fulfill(json=page)

    for width, scheme in FORMS:
        shopper = stage.shopper(width, scheme)
        shopper.page.route("**/api/products?*", answer)
        shopper.sign_in()
        headings = shopper.page.locator("#shelf h2").all_inner_texts()
        assert titles[0] in headings, headings
        # What is read is what is written, and a product without a title has its id.
        assert "gnp exe" in headings, headings
        assert any(heading.startswith("com.example.") for heading in headings), headings
        assert shopper.page.locator("#shelf img").count() == 0
        shopper.card().first.get_by_role("button").click()
        shopper.check()
        stage.close()


@test
def a_dialog_is_left_by_escape_and_used_by_keys_alone(stage):
    shopper = stage.shopper().sign_in()
    button = shopper.card(COINS).get_by_role("button")
    button.focus()
    shopper.page.keyboard.press("Enter")
    expect(shopper.page.locator("#pay")).to_be_visible()
    shopper.page.keyboard.press("Escape")
    expect(shopper.page.locator("#pay")).not_to_be_visible()
    expect(button).to_be_focused()
    shopper.page.keyboard.press("Enter")
    expect(shopper.page.locator("#pay")).to_be_visible()
    places = shopper.tab_through(shopper.page.locator("#pay"))
    assert {"buy", "pay-cancel"} <= set(places), places
    shopper.page.locator("#buy").focus()
    shopper.page.keyboard.press("Enter")
    shopper.expect_finished()
    expect(shopper.page.locator("#said")).to_contain_text("It is yours")
    shopper.check()


@test
def every_dialog_is_whole_and_gives_the_focus_back(stage):
    # The dialog that buys and that of the bank have tests of their own.
    for width, scheme in FORMS:
        shopper = stage.shopper(width, scheme).sign_in()
        shopper.buy(CLUB)
        shopper.expect_finished()
        for button, dialog in [(shopper.newest.get_by_role("button", name="Receipt"), "#receipt"),
                               (shopper.page.locator("#code"), "#codes"),
                               (shopper.subscription.get_by_role("button", name="Change the card"), "#card")]:
            button.focus()
            shopper.page.keyboard.press("Enter")
            expect(shopper.page.locator(dialog)).to_be_visible()
            shopper.check_axe()
            shopper.tab_through(shopper.page.locator(dialog))
            shopper.page.keyboard.press("Escape")
            expect(shopper.page.locator(dialog)).not_to_be_visible()
            expect(button).to_be_focused()
        shopper.check()
        stage.close()


@test
def pages_move_only_for_those_who_do_not_mind(stage):
    # All other tests want no motion, and `check` fails if something moves.
    shopper = stage.shopper(motion="no-preference").sign_in()
    shopper.buy(COINS)
    shopper.expect_finished()
    assert "arrive" in shopper.page.evaluate("() => window.moved")
    operator = stage.operator(motion="no-preference")
    operator.search(shopper.newest.get_attribute("data-id"))
    expect(operator.page.locator("#state")).to_have_text("paid")
    for each in [shopper, operator]:
        each.page.evaluate("() => Promise.all(document.getAnimations().map(({ finished }) => finished)).then(() => {})")
        each.check()


# When the shelf is painted, and how long an event of the stream takes until it is painted.
CLOCKS = """
    window.spans = [];
    const painted = (act) => requestAnimationFrame(() => {
        const channel = new MessageChannel();
        channel.port1.onmessage = () => act(performance.now());
        channel.port2.postMessage(0);
    });
    addEventListener("DOMContentLoaded", () => {
        const shelf = document.getElementById("shelf");
        new MutationObserver(() => {
            if (shelf.querySelector("[data-product]")) painted((now) => { window.useful ??= now; });
        }).observe(shelf, { childList: true });
    });
    const Plain = EventSource;
    window.EventSource = class extends Plain {
        addEventListener(kind, act) {
            super.addEventListener(kind, (event) => {
                const start = performance.now();
                act(event);
                painted((now) => window.spans.push(now - start));
            });
        }
    };
"""


# The files of the page, as this server has them.
PAGES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Examples", "Storefront", "Pages")


def weigh(shopper, files=None):
    """Returns the bytes of the files that a page has loaded: as they were sent, and unpacked."""
    entries = shopper.page.evaluate("""() => performance.getEntriesByType("resource")
        .concat(performance.getEntriesByType("navigation"))
        .map(({ name, encodedBodySize, decodedBodySize }) =>
            ({ path: new URL(name).pathname, sent: encodedBodySize, whole: decodedBodySize }))""")
    return {entry["path"]: entry for entry in entries
            if (entry["path"] in files if files else not re.match(r"/(api/|session)", entry["path"]))}


@test
def the_page_is_small_and_quick(stage):
    shopper = stage.shopper(script=CLOCKS).sign_in()
    first = weigh(shopper)
    # The page can load nothing but the files of its folder. They are all asked for here, each as a browser asks.
    files = sorted("/" if name == "index.html" else "/" + name for name in os.listdir(PAGES))
    shopper.page.evaluate("""async (files) => {
        performance.clearResourceTimings();
        for (const file of files) await (await fetch(file, { cache: "reload" })).arrayBuffer();
        const measured = () => performance.getEntriesByType("resource")
            .filter(({ name }) => files.includes(new URL(name).pathname));
        // An entry may come a moment after its answer.
        for (let tries = 0; measured().length < files.length && tries < 100; tries += 1) {
            await new Promise((resolve) => setTimeout(resolve, 20));
        }
    }""", files)
    every = weigh(shopper, files)
    assert len(every) == len(files) > len(first) > 10, (sorted(every), sorted(first))
    sent, whole = (sum(entry[name] for entry in every.values()) for name in ["sent", "whole"])
    whole_first = sum(entry["whole"] for entry in first.values())
    paints = []
    for _ in range(5):
        shopper.page.reload()
        shopper.page.wait_for_timeout(50)
        expect(shopper.card().first).to_be_visible()
        paints.append(shopper.page.evaluate("() => new Promise((done) => { "
                                            "const look = () => window.useful ? done(window.useful) : setTimeout(look, 5); look(); })"))
    for _ in range(3):
        shopper.buy(COINS)
        shopper.expect_finished()
    spans = shopper.page.evaluate("() => window.spans")
    paint, span = statistics.median(paints), statistics.median(spans)
    print(f"  all files of the page: {sent / 1000:.1f} KB as they are sent, {whole / 1000:.1f} KB unpacked, of which "
          f"{whole_first / 1000:.1f} KB are loaded at first; the shelf is painted after {paint:.0f} ms, "
          f"an event of the stream after {span:.0f} ms (at most {max(spans):.0f})", flush=True)
    assert all(entry["sent"] < entry["whole"] for entry in every.values()), f"not compressed: {every}"
    assert 20_000 < sent < 40_000, sent
    assert 40_000 < whole_first < 60_000 < whole < 90_000, (whole_first, whole)
    # Who subscribes to nothing loads no more than the list.
    assert "/subscriptions.js" in first and "/subscription.js" not in first, sorted(first)
    # The quickest shows what the page needs; the others may have waited for a busy machine.
    assert min(paints) < (1000 if BUSY else 300), paints
    assert spans and min(spans) < (500 if BUSY else 100), spans
    shopper.check()
