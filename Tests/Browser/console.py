"""Uses the console in a real browser, as an operator does.

Each test has a page of its own and ends with axe, an empty console, and no request to another origin.
"""

import concurrent.futures
import json
import re
import secrets
import time

from playwright.sync_api import expect

from stage import AWAY, CLUB, COINS, FORMS

TESTS = []
# Every answer has these; files of the page may be kept and asked for again.
HEADERS = {
    "content-security-policy":
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
        "trusted-types 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}


def test(function):
    TESTS.append(function)
    return function


def refused(operator, status):
    """Lets Chromium write of answers with a status that a test asks for."""
    operator.allowed = [rf"Failed to load resource.*{status}"]
    return operator


def check_forms(stage, url):
    """Opens a page on a desk and on a phone, each in its own scheme."""
    for width, scheme in FORMS[:2]:
        operator = stage.operator(width=width, scheme=scheme)
        operator.page.goto(url)
        expect(operator.page.locator("h1")).to_be_visible()
        operator.check()


@test
def c1_a_ticket_signs_in_once(stage):
    operator = refused(stage.operator(signs_in=False), 403)
    for path in ["", "search?q=ada", "purchases/1000001", "accounts/ada"]:
        operator.page.goto(operator.url + path)
        expect(operator.page).to_have_url(operator.url + "sign-in")
    expect(operator.page.get_by_role("heading", name="Sign in")).to_be_visible()
    operator.check()
    assert operator.send("now")[0].status == 401
    ticket = stage.ticket()
    operator.page.goto(ticket)
    expect(operator.page.get_by_role("heading", name="Now")).to_be_visible()
    assert "ticket" not in operator.page.evaluate("() => location.href + document.referrer")
    assert operator.page.evaluate("() => document.cookie") == ""
    other = refused(stage.operator(signs_in=False), 403)
    other.page.goto(ticket)
    expect(other.page.get_by_role("alert")).to_contain_text("This ticket is not good")
    other.check()
    operator.page.get_by_role("button", name="Sign out").click()
    expect(operator.page).to_have_url(operator.url + "sign-in")
    operator.check()


@test
def c2_a_request_of_another_page_does_nothing(stage):
    operator = stage.operator()
    transaction = stage.buy("sandbox_needs_approval")[1]
    operator.page.goto(operator.url + "purchases/" + transaction)
    form = {"decision": "approve", "reason": "nobody", "csrf": operator.csrf()}
    path = f"purchases/{transaction}/approval"
    for headers, sent in [
        ({"origin": "http://evil.example", "sec-fetch-site": "cross-site"}, form),
        ({"sec-fetch-site": "same-site"}, form),
        ({}, form),
        ({"sec-fetch-site": "same-origin"}, {**form, "csrf": "0"}),
        ({"sec-fetch-site": "same-origin"}, {"decision": "approve", "reason": "nobody"}),
    ]:
        answer, _ = operator.send(path, sent, headers)
        assert answer.status == 403, (headers, answer.status)
    assert stage.why(transaction)["state"] == "deferred"
    operator.check()


@test
def c3_who_only_reads_cannot_act(stage):
    reader = stage.operator(scopes=["read"])
    for method, act, form in [
        ("sandbox_needs_approval", "approval", {"decision": "approve"}),
        ("sandbox_success", "refund", {"key": "a-key"}),
    ]:
        transaction = stage.buy(method)[1]
        before = stage.why(transaction)
        reader.page.goto(reader.url + "purchases/" + transaction)
        expect(reader.page.get_by_role("heading", name="What happened")).to_be_visible()
        expect(reader.page.locator("dialog, [data-opens]")).to_have_count(0)
        form = {**form, "order": before.get("orderID") or "", "reason": "nobody", "csrf": reader.csrf()}
        answer, text = reader.send(
            f"purchases/{transaction}/{act}", form, {"sec-fetch-site": "same-origin"})
        assert answer.status == 403, answer.status
        assert "lacks the scope support" in text
        after = stage.why(transaction)
        assert (after["state"], after["postings"]) == (before["state"], before["postings"])
    reader.check()
    seller = refused(stage.operator(scopes=["merchandiser"]), 403)
    seller.page.goto(seller.url + "purchases/" + transaction)
    expect(seller.page.get_by_role("alert")).to_contain_text("lacks the scope read")
    seller.check()


@test
def c4_every_answer_has_the_headers(stage):
    operator = stage.operator()
    answers = [(path, operator.send(path)[0]) for path in [
        "", "now", "search", "nowhere", "a/b/c", "assets/console.js", "purchases/1", "purchases/none", "sign-in"]]
    for form, status in [({"reason": "x"}, 403), ({"reason": "", "csrf": operator.csrf()}, 400)]:
        answers.append((str(form), operator.send("purchases/1/refund", form, {"sec-fetch-site": "same-origin"})[0]))
        assert answers[-1][1].status == status, answers[-1][1].status
    for path, answer in answers:
        found = {name: answer.headers[name] for name in HEADERS}
        assert found == {**HEADERS, "cache-control": "no-cache" if path.startswith("assets/") else "no-store"}, path
        # Browsers would not come back to a console without HTTPS.
        assert answer.headers["strict-transport-security"] is None, path
    size = sum(len(operator.send(path)[1]) for path in ["", "assets/console.css", "assets/console.js", "assets/icon.svg"])
    assert size < 60_000, f"the first page and its files have {size} bytes"
    operator.check()


@test
def c4_a_title_that_is_a_script_is_text(stage):
    title = "<img src=x onerror=alert(1)>"
    before = stage.exported(COINS)
    operator = stage.operator()
    try:
        operator.page.goto(operator.url + "products/" + COINS)
        operator.page.fill("[name='title.en']", title)
        operator.page.get_by_role("button", name="Show the difference").click()
        expect(operator.page.locator("ins")).to_have_text(title)
        operator.check()
        operator.page.get_by_role("button", name="Save").click()
        expect(operator.page.get_by_role("status").first).to_contain_text("Saved: it is at version")
        expect(operator.page.locator("[name='title.en']")).to_have_value(title)
        operator.check()
        reader = stage.operator(scopes=["read"])
        reader.page.goto(reader.url + "products/" + COINS)
        expect(reader.page.locator("main strong", has_text=title)).to_have_count(1)
        shopper = stage.shopper().sign_in()
        expect(shopper.card(COINS).get_by_role("heading")).to_have_text(title)
        shopper.buy(COINS)
        shopper.expect_finished()
        expect(shopper.newest).to_contain_text(title)
        for each in [operator, reader, shopper]:
            assert each.page.locator("img[src='x']").count() == 0
            each.check()
    finally:
        stage.import_product(COINS, before)
    assert stage.exported(COINS) == before


@test
def a_text_of_several_lines_stays_as_it_is(stage):
    text = "A purse of coins,\nand no more."
    before = stage.exported(COINS)
    operator = stage.operator(scopes=["merchandiser"])
    try:
        operator.page.goto(operator.url + "products/" + COINS)
        operator.page.fill("[name='description.en']", text)
        operator.page.get_by_role("button", name="Show the difference").click()
        operator.check()
        operator.page.get_by_role("button", name="Save").click()
        expect(operator.page.get_by_role("status").first).to_contain_text("Saved: it is at version")
        assert stage.exported(COINS)["localizations"]["en"]["description"] == text
        operator.page.get_by_role("button", name="Show the difference").click()
        expect(operator.page.locator("main")).to_contain_text("Nothing differs.")
        operator.check()
    finally:
        stage.import_product(COINS, before)


@test
def c5_now_follows_the_store(stage):
    for width, scheme in FORMS:
        operator = stage.operator(width=width, scheme=scheme)
        expect(operator.field("receipts.health")).to_have_text("ready")
        operator.check()
        stage.close()
    operator = stage.operator()
    rate = operator.field("rate.purchased")
    expect(rate).to_have_text("0 a second")
    # The rate is that of the last seconds. A machine that stands still meanwhile shows it only the next time.
    for is_last in [False, False, True]:
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for bought in [pool.submit(stage.buy, "sandbox_success") for _ in range(10)]:
                bought.result()
        try:
            expect(rate).to_contain_text(re.compile(r"^[\d.,]*[1-9]"), timeout=10_000)
            break
        except AssertionError:
            if is_last:
                raise
    expect(rate).to_have_text("0 a second", timeout=60_000)
    # The metrics are read every ten seconds, and two readings make a time.
    hop = operator.field("hop.receipts.payments.transactions")
    expect(hop).to_contain_text(re.compile("^half within .+, (99 %|some) "), timeout=60_000)
    # A purchase that its app has not finished is counted until it is.
    unfinished = operator.field("work.unfinished")
    before = int(re.match(r"[\d,]+", unfinished.inner_text())[0].replace(",", ""))
    shopper = stage.shopper().sign_in()
    shopper.page.check("#hold")
    shopper.buy(COINS)
    expect(unfinished).to_have_text(re.compile(f"^{before + 1:,}(, the oldest for .+)?$"))
    shopper.newest.get_by_role("button", name="Finish").click()
    expect(unfinished).to_have_text(re.compile(f"^{before:,}(, the oldest for .+)?$"))
    shopper.check()
    operator.page.evaluate("() => { window.isSamePage = true; }")
    health, verdict = operator.field("receipts.health"), operator.field("verdict")
    for place in [health, verdict]:
        expect(place).to_have_class("tone-good")
    start = stage.kill("receipts")
    expect(health).to_have_text("away", timeout=60_000)
    expect(verdict).to_contain_text("receipts cannot be reached")
    for place in [health, verdict]:
        expect(place).to_have_class("tone-bad")
    stage.buy("sandbox_success", timeout=1)
    expect(hop).to_have_text("unknown", timeout=60_000)
    lag = operator.field("lag.receipts.payments.transactions")
    expect(lag).to_contain_text("the oldest for", timeout=60_000)
    operator.check_axe()
    start()
    expect(health).to_have_text("ready", timeout=60_000)
    for place in [health, verdict]:
        expect(place).to_have_class("tone-good")
    expect(lag).to_have_text("nothing behind", timeout=60_000)
    assert operator.page.evaluate("() => window.isSamePage"), "the page was loaded again"
    operator.check()


@test
def a_page_that_needs_a_service_comes_when_it_is_back(stage):
    transaction = stage.buy("sandbox_success")[1]
    stage.settled(transaction)
    operator = stage.operator()
    operator.allowed = AWAY
    start = stage.kill("receipts")
    operator.page.goto(operator.url + f"purchases/{transaction}/receipt")
    expect(operator.page.get_by_role("alert")).to_contain_text("receipts")
    # Nobody has to wait here: the links to the other pages are there, too.
    for name in ["Try again", "Products"]:
        expect(operator.page.get_by_role("link", name=name, exact=True)).to_be_visible()
    operator.check()
    start()
    # It asks every five seconds.
    expect(operator.page.locator("#payload")).to_contain_text(transaction, timeout=60_000)
    expect(operator.page.get_by_role("alert")).to_have_count(0)
    operator.check()


@test
def c6_every_id_leads_to_its_page(stage):
    operator = stage.operator()
    account, transaction = stage.buy("sandbox_success")
    order = stage.why(transaction)["orderID"]
    # The processor's id of the charge, as its own pages show it.
    charge = stage.query(
        stage.owner("payments"), f"SELECT reference FROM processor_attempts WHERE transaction_id = {transaction}")
    for text, path in [
        (transaction, f"purchases/{transaction}"), (order, f"purchases/{transaction}"),
        (f"delivery_{transaction}_1", f"purchases/{transaction}"),
        (str(2_000_000_000_000_000_000 + int(transaction)), f"purchases/{transaction}"),
        (charge, f"purchases/{transaction}"),
        (account, f"accounts/{account}".replace("-", "%2D")),
    ]:
        operator.search(f"  {text} ")
        expect(operator.page).to_have_url(operator.url + path)
    operator.check()
    expect(operator.page.get_by_role("link", name=COINS)).to_be_visible()
    operator.page.get_by_role("link", name=COINS).click()
    expect(operator.page).to_have_url(operator.url + f"purchases/{transaction}")
    operator.page.get_by_role("link", name=account).click()
    expect(operator.page.get_by_role("heading", name=f"Account {account}")).to_be_visible()
    for text, words in [("12345", "the transaction 12345"), ("nobody", "the account nobody"),
                        ("w000ygj15", "the order W000YGJ15"),
                        ("two words", "neither a transaction"), ("<b>", "the account <b>")]:
        operator.search(text)
        expect(operator.page.locator("main")).to_contain_text(words)
        operator.check()


@test
def c7_a_story_is_that_of_the_command_line(stage):
    operator = stage.operator()
    transaction = stage.buy("sandbox_success")[1]
    story = stage.settled(transaction)
    operator.page.goto(operator.url + "purchases/" + transaction)
    technical = [step for step in story["steps"] if step["kind"] in ("event", "posting")]
    expect(operator.page.locator(".timeline li .what")).to_have_text(
        [step["text"] for step in story["steps"] if step not in technical])
    operator.page.get_by_text(f"{len(technical)} technical steps").click()
    steps = operator.page.locator(".technical li .what")
    expect(steps).to_have_text([step["text"] for step in technical])
    expect(steps.first).to_be_visible()
    # The command line has the same times since the first step, which a phone has no room for.
    expect(operator.page.locator(".since").first).to_have_text(re.compile(r"^\+\d+ ms$"))
    traces = {step["traceID"] for step in technical if step.get("traceID")}
    assert traces and traces == set(operator.page.locator(".technical .trace a").all_inner_texts())
    sums = operator.page.locator("[data-sum]")
    expect(sums).to_have_count(len(story["postings"]))
    assert story["postings"] and all(
        sum(entry["amount"]["minorUnits"] for entry in posting["entries"]) == 0 for posting in story["postings"])
    for index in range(sums.count()):
        expect(sums.nth(index)).to_have_attribute("data-sum", "0")
    operator.check()
    expect(operator.page.locator("footer")).to_contain_text("All times are in UTC.")
    # The purchase leads to its receipt, to its product, and to everything that its account has bought.
    operator.page.get_by_role("link", name="Its receipt").click()
    expect(operator.page.locator("#payload")).to_contain_text(f'"transactionId" : "{transaction}"')
    operator.check()
    operator.page.get_by_role("link", name="The purchase", exact=True).click()
    operator.page.get_by_role("link", name=COINS, exact=True).click()
    expect(operator.page.get_by_role("heading", name=f"Product {COINS}")).to_be_visible()
    operator.page.go_back()
    operator.page.get_by_role("link", name=story["accountID"], exact=True).click()
    operator.page.get_by_role("link", name=f"1 × {COINS}", exact=True).click()
    expect(operator.page.locator("#state")).to_have_text("paid")
    operator.check()


@test
def c8_a_refund_has_a_reason_and_is_made_once(stage):
    operator = refused(stage.operator(), 400)
    account, transaction = stage.buy("sandbox_success")
    order = stage.why(transaction)["orderID"]
    path, same_origin = f"purchases/{transaction}/refund", {"sec-fetch-site": "same-origin"}
    operator.page.goto(operator.url + "purchases/" + transaction)
    dialog = operator.page.locator("#refund")
    operator.page.get_by_role("button", name="Refund…").click()
    for words in [account, "0.99 USD", "and loses it"]:
        expect(dialog).to_contain_text(words)
    operator.check()
    # Without a reason the browser does not send it, and the server refuses it; the server refuses another order, too.
    operator.page.fill("#refund-order", order)
    dialog.get_by_role("button", name="Refund", exact=True).click()
    expect(dialog).to_be_visible()
    assert dialog.locator(":invalid").evaluate_all("(fields) => fields.map(({ name }) => name)") == ["", "reason"]
    form = {"order": order, "key": secrets.token_hex(8), "csrf": operator.csrf()}
    answer, text = operator.send(path, {**form, "reason": " "}, same_origin)
    assert answer.status == 400 and "a reason is missing" in text, answer.status
    operator.page.fill("#refund-order", "W000000000")
    operator.page.fill("#refund-reason", "a case")
    dialog.get_by_role("button", name="Refund", exact=True).click()
    expect(operator.page.get_by_role("alert")).to_contain_text(f"The order of this purchase is {order}")
    operator.page.get_by_role("link", name="Back to the purchase").click()
    operator.page.get_by_role("button", name="Refund…").click()
    reason = "<img src=x onerror=alert(1)> case 4711"
    operator.page.fill("#refund-order", f" {order} ")
    operator.page.fill("#refund-reason", reason)
    dialog.get_by_role("button", name="Refund", exact=True).dblclick()
    timeline = operator.page.locator(".timeline")
    expect(timeline).to_contain_text(f"by admin: {reason}", timeout=60_000)
    expect(operator.page.get_by_role("button", name="Refund…")).to_have_count(0)
    expect(timeline.locator("li", has_text="payments refunded 0.99 USD")).to_have_count(1)
    expect(operator.page.locator("#state")).to_contain_text("taken away")
    # Another refund is another form with another key. There is nothing left to give back.
    answer, text = operator.send(
        path, {**form, "key": secrets.token_hex(8), "reason": "again", "amount": "0.01"}, same_origin)
    assert answer.status == 409 and "Everything that was paid is refunded" in text, (answer.status, text)
    operator.page.reload()
    expect(timeline.locator("li", has_text="payments refunded")).to_have_count(1)
    operator.check()
    # The log of payments says who decided it, and why.
    acts = stage.query(
        stage.owner("payments"),
        f"""SELECT unpacked_json(data)::json ->> 'act' FROM outbox
            WHERE subject = '{transaction}' AND type LIKE 'transaction.refunded.%'""").splitlines()
    assert [json.loads(act) for act in acts] == [{"decidedBy": "admin", "reason": reason}], acts


def reload_until(page, is_there):
    """Loads a page again until something is there, for at most a minute."""
    for _ in range(300):
        if is_there():
            break
        page.wait_for_timeout(200)
        page.reload()


def open_request(operator, account):
    """Opens the request of an account, by the list of those that wait."""
    operator.page.goto(operator.url + "refund-requests")
    # The list has the oldest first, and other tests leave some behind.
    row = operator.page.locator("ol.rows > li", has_text=account)
    expect(row).to_contain_text("open")
    operator.check_axe()
    row.get_by_role("link").first.click()
    expect(operator.page.get_by_role("heading", name=re.compile("^Refund of"))).to_be_visible()


@test
def a_request_for_a_refund_is_approved_in_part_and_declined(stage):
    operator, other = stage.operator(), refused(stage.operator(), 409)
    account, transaction = stage.buy("sandbox_success")
    order = stage.settled(transaction)["orderID"]
    stage.ask_refund(transaction, account)
    open_request(operator, account)
    other.page.goto(operator.page.url)
    expect(operator.page.get_by_label("The request")).to_contain_text("not satisfied")
    operator.page.get_by_role("button", name="Approve…").click()
    dialog = operator.page.get_by_role("dialog")
    operator.page.fill("#approve-order", order)
    operator.page.fill("#approve-amount", "0.40")
    operator.page.fill("#approve-reason", "half of it was broken")
    operator.check_axe()
    dialog.get_by_role("button", name="Approve", exact=True).dblclick()
    expect(operator.page.get_by_role("status").filter(has_text="decision is written")).to_be_visible()
    expect(operator.page.locator("main")).to_contain_text("half of it was broken")
    # The processor confirms it in a moment.
    state = operator.page.locator("#state")
    reload_until(operator.page, lambda: "has the money" in state.inner_text())
    expect(state).to_have_text("approved; the buyer has the money")
    expect(operator.page.get_by_label("The request")).to_contain_text("0.40 USD")
    operator.check()
    # Who was slower reads that it is decided.
    other.page.get_by_role("button", name="Decline…").click()
    other.page.locator("dialog[open]").get_by_label("Reason").fill("too late")
    other.page.locator("dialog[open]").get_by_role("button", name="Decline", exact=True).click()
    expect(other.page.get_by_role("alert")).to_be_visible()
    other.check()
    # What is left of the price can be asked for again.
    stage.ask_refund(transaction, account, "other")
    open_request(operator, account)
    operator.page.get_by_role("button", name="Decline…").click()
    operator.page.fill("#decline-reason", "used up")
    operator.page.locator("dialog[open]").get_by_role("button", name="Decline", exact=True).click()
    expect(operator.page.locator("#state")).to_have_text("declined")
    expect(operator.page.locator("main")).to_contain_text("used up")
    operator.check()
    money = [step["text"] for step in stage.settled(transaction)["steps"] if "refunded 0.40 USD by" in step["text"]]
    assert len(money) == 1, money


@test
def c9_an_approver_decides_once(stage):
    operator, other = stage.operator(), refused(stage.operator(), 409)
    for name, state in [("Approve", "paid"), ("Decline", "failed: it was not approved")]:
        account, transaction = stage.buy("sandbox_needs_approval")
        for each in [operator, other]:
            each.page.goto(each.url + "approvals")
            # `fulfillment` hears in a moment that the purchase waits.
            row = each.page.locator("ol.rows > li", has_text=account)
            reload_until(each.page, row.count)
            expect(row).to_have_count(1)
            each.check_axe()
            row.get_by_role("link").first.click()
            each.page.get_by_role("button", name=name + "…").click()
            each.page.locator("dialog[open]").get_by_label("Reason").fill("asked by phone")
        operator.page.locator("dialog[open]").get_by_role("button", name=name, exact=True).click()
        expect(operator.page.locator("#state")).to_contain_text(state, timeout=60_000)
        expect(operator.page.locator(".timeline")).to_contain_text("by admin: asked by phone")
        operator.check()
    # A decline of what was declined may be repeated, and changes nothing.
    other.page.locator("dialog[open]").get_by_role("button", name="Decline", exact=True).click()
    expect(other.page.locator("#state")).to_have_text("failed: it was not approved")
    other.check()


@test
def an_open_purchase_shows_what_somebody_else_does(stage):
    transaction = stage.buy("sandbox_needs_approval")[1]
    operator = stage.operator(width=390, scheme="light")
    operator.page.goto(operator.url + "purchases/" + transaction)
    expect(operator.page.locator("#state")).to_have_text("waits for approval")
    link = operator.page.get_by_role("link", name=COINS, exact=True)
    link.evaluate("(link) => { link.focus({ preventScroll: true }); scrollTo(0, 150); }")
    top = operator.page.evaluate("() => scrollY")
    assert top > 0, "the page is longer than the window"
    stage.command("approve", transaction, "--reason", "asked by phone")
    expect(operator.page.locator("#state")).not_to_have_text("waits for approval")
    expect(operator.page.locator("#state")).to_have_text("paid", timeout=60_000)
    # It loads itself once more when the coins are delivered, and stays where it was scrolled to.
    operator.page.wait_for_timeout(2_500)
    assert operator.page.evaluate("() => scrollY") == top
    # Whoever moves by keys is where they were.
    expect(link).to_be_focused()
    operator.check()
    # It waits for somebody who writes.
    operator.page.fill("#q", "half an id")
    stage.command("refund", transaction, "--reason", "asked by phone")
    operator.page.wait_for_timeout(2_500)
    expect(operator.page.locator("#q")).to_have_value("half an id")
    operator.page.locator("#q").blur()
    expect(operator.page.locator("#state")).to_contain_text("taken away", timeout=60_000)
    operator.check()


@test
def c9_of_two_who_decide_at_once_one_wins(stage):
    transaction = stage.buy("sandbox_needs_approval")[1]
    deciders = {"Approve": refused(stage.operator(), 409), "Decline": refused(stage.operator(), 409)}
    for name, decider in deciders.items():
        decider.page.goto(decider.url + "purchases/" + transaction)
        decider.page.get_by_role("button", name=name + "…").click()
        decider.page.locator("dialog[open]").get_by_label("Reason").fill("asked by phone")
    moment = time.time() * 1000 + 500
    with deciders["Approve"].page.expect_response(is_sent_form) as approved, \
            deciders["Decline"].page.expect_response(is_sent_form) as declined:
        for decider in deciders.values():
            # The pages wait for the same moment, and then both send.
            decider.page.evaluate("""(moment) => {
                const form = document.querySelector("dialog[open] form");
                setTimeout(() => form.requestSubmit(), moment - Date.now());
            }""", moment)
    statuses = {"Approve": approved.value.status, "Decline": declined.value.status}
    assert sorted(statuses.values()) == [303, 409], statuses
    winner, loser = sorted(deciders, key=statuses.get)
    alert = deciders[loser].page.get_by_role("alert")
    expect(alert).to_contain_text("The first decision on an approval counts; it cannot be taken back.")
    deciders[loser].check()
    alert.get_by_role("link", name="Back to the purchase").click()
    state, words = {"Approve": ("purchased", "paid"), "Decline": ("failed", "failed: it was not approved")}[winner]
    for decider in deciders.values():
        expect(decider.page.locator("#state")).to_have_text(words, timeout=60_000)
        decider.check()
    assert stage.why(transaction)["state"] == state


def is_sent_form(answer):
    return answer.request.method == "POST"


@test
def an_interrupted_payment_is_resumed(stage):
    operator = stage.operator()
    account, transaction = stage.buy("sandbox_interrupted")
    operator.page.goto(operator.url + "purchases/" + transaction)
    reload_until(operator.page, operator.page.get_by_role("button", name="Resume the payment…").count)
    expect(operator.page.locator("#state")).to_have_text("failed: the buyer left to solve a problem")
    operator.page.get_by_role("button", name="Resume the payment…").click()
    dialog = operator.page.locator("dialog[open]")
    expect(dialog).to_contain_text(account)
    operator.check_axe()
    dialog.get_by_role("button", name="Resume the payment", exact=True).click()
    expect(operator.page.get_by_role("status").first).to_contain_text("A new purchase goes on from it")
    operator.check()
    assert len(stage.why(account)["purchases"]) == 2


@test
def a_part_of_a_price_is_refunded(stage):
    operator = refused(stage.operator(), 400)
    transaction = stage.buy("sandbox_success")[1]
    order = stage.why(transaction)["orderID"]
    operator.page.goto(operator.url + "purchases/" + transaction)
    for amount in ["0.301", "0.30"]:
        operator.page.get_by_role("button", name="Refund…").click()
        operator.page.fill("#refund-order", order)
        operator.page.fill("#refund-amount", amount)
        operator.page.fill("#refund-reason", "a scratch")
        operator.page.locator("#refund").get_by_role("button", name="Refund", exact=True).click()
        if amount == "0.301":
            expect(operator.page.get_by_role("alert")).to_contain_text("not an amount in USD")
            operator.page.get_by_role("link", name="Back to the purchase").click()
    timeline = operator.page.locator(".timeline")
    expect(timeline).to_contain_text("refunded 0.30 USD by admin: a scratch", timeout=60_000)
    expect(operator.page.locator("#state")).to_have_text("paid, partly given back")
    expect(operator.page.locator(".facts > div", has_text="given back so far")).to_contain_text("0.30 USD")
    operator.page.get_by_role("button", name="Refund…").click()
    expect(operator.page.locator("#refund")).to_contain_text("0.30 USD was given back already")
    operator.check()


@test
def c10_dead_letters_are_redriven_and_discarded(stage):
    account = stage.poison("receipts", 3)
    reader = stage.operator(scopes=["support"])
    reader.page.goto(reader.url + "dead-letters?key=" + account)
    rows = reader.page.locator("[data-state]")
    expect(rows).to_have_count(3)
    assert [row.get_attribute("data-state") for row in rows.all()] == ["dead", "parked", "parked"]
    expect(reader.page.locator("dialog")).to_have_count(0)
    reader.check()
    rows.first.get_by_role("link").click()
    expect(reader.page.locator("#payload")).to_have_count(0)
    expect(reader.page.locator("main")).to_contain_text("lacks the scope operator")
    reader.check()
    operator = refused(stage.operator(), 400)
    operator.page.get_by_role("link", name="Dead letters").click()
    operator.page.get_by_role("link", name=account).click()
    act(operator, "Redrive", account, "the cause is fixed")
    # Nobody fixed it: the service says so again, and nothing is lost.
    expect(operator.page.get_by_role("status").first).to_contain_text("asked")
    expect(operator.page.locator("[data-state]")).to_have_count(3)
    operator.check()
    operator.page.locator("[data-state='dead']").get_by_role("link").click()
    expect(operator.page.locator("#payload")).to_be_visible()
    letter = operator.page.url.rsplit("/", 1)[1]
    operator.check()
    act(operator, "Discard", "receipts 0", "made by a test")
    expect(operator.page.get_by_role("alert")).to_contain_text(f"Type receipts {letter}")
    operator.page.get_by_role("link", name="Back to the dead letter").click()
    act(operator, "Discard", f"receipts {letter}", "made by a test")
    expect(operator.page.get_by_role("status").first).to_contain_text("discarded")
    # Its name, as the page of the letter has it, leads back to it.
    operator.search(f"receipts {letter}")
    expect(operator.page).to_have_url(operator.url + "dead-letters/receipts/" + letter)
    operator.page.get_by_role("link", name="Acts", exact=True).click()
    operator.page.select_option("#kind", "dead-letters")
    operator.page.get_by_role("button", name="Show").click()
    expect(operator.page.locator(".rows li").first).to_contain_text("made by a test")
    operator.check()
    stage.discard_all(account)


@test
def c10_a_redrive_clears_the_dead_and_the_parked(stage):
    account, transaction = stage.buy("sandbox_success")
    stage.command("refund", transaction, "--reason", "bought twice")
    before = stage.settled(transaction)
    # The service has applied these events, so whatever was wrong with them is mended.
    count = stage.bury(transaction)
    operator = stage.operator()
    operator.page.goto(operator.url + "dead-letters?key=" + account)
    states = operator.page.locator("[data-state]").evaluate_all("(rows) => rows.map(({ dataset }) => dataset.state)")
    assert states == ["dead"] + ["parked"] * (count - 1) and count > 1, states
    act(operator, "Redrive", account, "the cause is fixed")
    notice = operator.page.locator(".notice")
    expect(notice).to_be_visible()
    if "Every event was applied" not in notice.inner_text():
        # A busy service took more than two seconds.
        reload_until(operator.page, lambda: not operator.page.locator("[data-state]").count())
    expect(notice).to_have_text("Every event was applied, in order.")
    expect(operator.page.locator("main")).to_contain_text(f"Nothing of {account} is dead or parked.")
    operator.check()
    # Applied twice, they have changed nothing.
    after = stage.settled(transaction)
    assert (before["state"], before["postings"]) == (after["state"], after["postings"])


def act(operator, name, typed, reason):
    """Opens the dialog of an act, types the confirmation and the reason, and sends it."""
    operator.page.get_by_role("button", name=name + "…").click()
    dialog = operator.page.locator("dialog[open]")
    dialog.locator("[name='typed']").fill(typed)
    dialog.get_by_label("Reason").fill(reason)
    operator.check()
    dialog.get_by_role("button", name=name, exact=True).click()


@test
def c11_a_price_is_changed_once_its_difference_is_seen(stage):
    operator, other = stage.operator(), refused(stage.operator(scopes=["merchandiser"]), 412)
    address = "products/" + COINS
    for each in [operator, other]:
        each.page.get_by_role("link", name="Products").click()
        each.page.get_by_role("link", name=COINS, exact=True).click()
        expect(each.page.locator("[name='price.USA']")).to_have_value("0.99")
        each.check()
    operator.page.fill("[name='price.USA']", "1.29")
    operator.page.get_by_role("button", name="Show the difference").click()
    expect(operator.page.locator("del")).to_have_text("0.99 USD")
    expect(operator.page.locator("ins")).to_have_text("1.29 USD")
    operator.page.get_by_label("Reason").fill("the supplier is dearer")
    operator.check()
    operator.page.get_by_role("button", name="Save").click()
    expect(operator.page.get_by_role("status").first).to_contain_text("Saved: it is at version")
    # Who opened the form before that loses no text.
    title = other.page.locator("[name='title.en']").input_value()
    other.page.fill("[name='title.en']", "Hundred & more")
    other.page.get_by_role("button", name="Show the difference").click()
    expect(other.page.get_by_role("alert")).to_contain_text("changed the product meanwhile")
    expect(other.page.locator("[name='title.en']")).to_have_value("Hundred & more")
    other.check()
    # Nobody wrote a price into the other form, so it does not put the old one back.
    expect(other.page.locator("[name='price.USA']")).to_have_value("1.29")
    other.page.get_by_role("button", name="Show the difference").click()
    expect(other.page.locator("ins")).to_have_text(["Hundred & more"])
    other.page.get_by_role("button", name="Change it again").click()
    other.page.fill("[name='price.USA']", "0.99")
    other.page.fill("[name='title.en']", title)
    other.page.get_by_role("button", name="Show the difference").click()
    other.page.get_by_role("button", name="Save").click()
    expect(other.page.get_by_role("status").first).to_contain_text("Saved")
    other.check()
    reader = stage.operator(scopes=["read"])
    reader.page.goto(reader.url + address)
    expect(reader.page.locator(".editor")).to_have_count(0)
    reader.page.goto(reader.url + "acts?kind=products")
    expect(reader.page.locator(".rows li").first).to_contain_text("changed " + COINS)
    explained = reader.page.locator(".rows li", has_text="the supplier is dearer").first
    expect(explained).to_contain_text("changed " + COINS)
    reader.check()


@test
def subscriptions_are_cancelled_and_renewed(stage):
    operator = stage.operator()
    account = stage.subscribe()
    operator.page.get_by_role("link", name="Subscriptions").click()
    operator.page.fill("#account", account)
    operator.page.get_by_role("button", name="Show").click()
    expect(operator.page.locator(".rows li")).to_have_count(1)
    operator.check()
    operator.page.locator(".rows li").get_by_role("link").first.click()
    life = operator.page.locator(".timeline li")
    expect(life).to_have_count(1)
    expect(operator.page.locator("main")).to_contain_text("next charge")
    operator.page.get_by_role("button", name="Turn renewal off…").click()
    dialog = operator.page.locator("dialog[open]")
    expect(dialog).to_contain_text("keeps the service until")
    operator.check()
    dialog.get_by_label("Reason").fill("asked by phone")
    dialog.get_by_role("button", name="Turn renewal off", exact=True).click()
    expect(operator.page.locator(".timeline")).to_contain_text("by admin: asked by phone")
    operator.page.get_by_role("button", name="Turn renewal on…").click()
    operator.page.locator("dialog[open]").get_by_label("Reason").fill("asked again")
    operator.page.locator("dialog[open]").get_by_role("button", name="Turn renewal on", exact=True).click()
    operator.page.get_by_role("button", name="Renew now…").click()
    operator.page.locator("dialog[open]").get_by_role("button", name="Renew now", exact=True).click()
    expect(operator.page.locator(".timeline")).to_contain_text("renewed by transaction", timeout=60_000)
    operator.check()
    operator.page.get_by_role("link", name="Acts", exact=True).click()
    acts = operator.page.locator(".rows li")
    expect(acts.nth(0)).to_contain_text("asked again")
    expect(acts.nth(1)).to_contain_text("asked by phone")
    operator.check()


@test
def the_clock_is_advanced(stage):
    reader = stage.operator(scopes=["read"])
    reader.page.get_by_role("link", name="Clock").click()
    before = reader.field("advance").inner_text()
    expect(reader.page.locator("dialog")).to_have_count(0)
    reader.check()
    operator = refused(stage.operator(), 400)
    operator.page.get_by_role("link", name="Clock").click()
    for span in ["soon", "1h"]:
        operator.page.get_by_role("button", name="Advance…").click()
        operator.page.fill("#by", span)
        operator.check()
        operator.page.locator("dialog[open]").get_by_role("button", name="Advance", exact=True).click()
        if span == "soon":
            expect(operator.page.get_by_role("alert")).to_contain_text("neither a span")
            operator.page.get_by_role("link", name="Back to the clock").click()
    for each in [operator, reader]:
        # The page of somebody else follows by itself.
        expect(each.field("advance")).not_to_have_text(before, timeout=60_000)
        expect(each.field("advance")).to_contain_text("reached", timeout=60_000)
    operator.check()


@test
def every_page_is_whole_on_a_phone_and_a_desk(stage):
    account, transaction = stage.buy("sandbox_success")
    stage.settled(transaction)
    stage.ask_refund(transaction, account)
    subscription = stage.why(stage.subscribe())["purchases"][0]["transactionID"]
    dead = stage.poison("receipts", 1)
    letter = stage.query(stage.owner("receipts"), f"SELECT id FROM dead_letters WHERE key = '{dead}'")
    pages = ["", "products/none.such", "subscriptions", "products", "products/" + COINS, "dead-letters", "acts", "clock",
             "dead-letters?key=nobody", "purchases/" + transaction, "approvals", "refund-requests?state=all", "codes",
             f"products/{CLUB}", f"products/{CLUB}/offers", f"products/{CLUB}/offers/code", f"products/{CLUB}/raise",
             f"products/{CLUB}/offers/introductory", f"products/{CLUB}/offers/promotional", f"products/{CLUB}/offers/winBack",
             f"products/{CLUB}/extensions", "replays", "proofs", "seals", "reconciliations", "raises", "accounts/" + account,
             "search?q=nobody", "subscriptions/" + subscription, "dead-letters?key=" + dead, "dead-letters/receipts/" + letter,
             f"refund-requests/{transaction}/1", f"purchases/{transaction}/receipt", "sign-in", "a/b/c"]
    # Both widths and both schemes; no rule of the page combines them.
    for width, scheme in FORMS[:2]:
        operator = refused(stage.operator(width=width, scheme=scheme), 404)
        problems = []
        for path in pages:
            operator.page.goto(operator.url + path)
            expect(operator.page.locator("h1")).to_be_visible()
            operator.check()
            if operator.page.get_by_role("alert").count():
                problems.append(path)
        assert problems == ["products/none.such", "a/b/c"], problems
        # The campaign of the newest codes, and the dialog with the most fields.
        operator.page.goto(operator.url + "codes")
        operator.page.locator("ol.rows > li").first.get_by_role("link").click()
        expect(operator.page.locator("#state")).to_be_visible()
        operator.check()
        operator.page.goto(operator.url + "purchases/" + transaction)
        operator.page.get_by_role("button", name="Refund…").click()
        expect(operator.page.locator("#refund")).to_be_visible()
        operator.check()
        operator.page.keyboard.press("Escape")
        button = operator.page.get_by_role("button", name="Sign out").bounding_box()
        assert button["height"] < 50, "the words of a button do not wrap"
        stage.close()
    stage.discard_all(dead)


@test
def two_tabs_of_the_console_are_one_person(stage):
    transaction = stage.buy("sandbox_success")[1]
    operator = stage.operator()
    operator.allowed = [r"Failed to load resource.*40[13]"]
    form = operator.page
    form.goto(operator.url + "purchases/" + transaction)
    form.get_by_role("button", name="Refund…").click()
    form.fill("#refund-order", stage.why(transaction)["orderID"])
    form.fill("#refund-reason", "of the session before")
    # Somebody signs in again in another tab. The form of the first one is not of that session.
    other = operator.open()
    other.goto(stage.ticket())
    expect(other.get_by_role("heading", name="Now")).to_be_visible()
    form.locator("#refund").get_by_role("button", name="Refund", exact=True).click()
    expect(form.get_by_role("heading", name="This form is not of your session")).to_be_visible()
    expect(form.get_by_role("alert")).to_contain_text("nothing was done")
    operator.check()
    assert not any("refunded" in step["text"] for step in stage.why(transaction)["steps"])
    # Who signs out in one tab is signed out in the other.
    form.goto(operator.url)
    expect(form.get_by_role("heading", name="Now")).to_be_visible()
    other.get_by_role("button", name="Sign out").click()
    expect(form).to_have_url(operator.url + "sign-in")
    operator.check()


@test
def an_event_leads_to_what_it_is_about(stage):
    operator = stage.operator()
    transaction = stage.buy("sandbox_success")[1]
    event = stage.event_of(transaction)
    operator.search(event)
    expect(operator.page).to_have_url(operator.url + "purchases/" + transaction)
    operator.search("00000000-0000-7000-8000-000000000000")
    expect(operator.page.locator("main")).to_contain_text("the event 00000000")
    operator.check()


@test
def c14_everything_works_by_keyboard(stage):
    operator = stage.operator()
    transaction = stage.buy("sandbox_success")[1]
    page = operator.page
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    page.locator("#q").focus()
    page.keyboard.type(transaction)
    page.keyboard.press("Enter")
    button = page.get_by_role("button", name="Refund…")
    button.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#refund-order")).to_be_focused()
    places = operator.tab_through(page.locator("#refund"))
    assert {"refund-order", "refund-amount", "refund-effect", "refund-reason", "Cancel", "Refund"} <= set(places), places
    page.keyboard.press("Escape")
    expect(page.locator("#refund")).not_to_be_visible()
    expect(button).to_be_focused()
    operator.check()
