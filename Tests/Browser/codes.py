"""Redeems codes as a buyer does, and makes and ends them in the console."""

import re

from playwright.sync_api import expect

from stage import AWAY, CLUB, FORMS

TESTS = []
WELCOME = "WELCOME"
OFFER = "first-month"


def test(function):
    TESTS.append(function)
    return function


def open_code_page(shopper):
    """Goes from the shop to the store's page for codes. Returns that page."""
    shopper.page.get_by_role("button", name="Redeem a code").click()
    dialog = shopper.page.get_by_role("dialog", name="Redeem a code")
    expect(dialog).to_be_visible()
    dialog.get_by_role("button", name="Continue").click()
    link = dialog.get_by_role("link", name="Open the store’s page")
    expect(link).to_be_focused()
    shopper.check_axe()
    with shopper.context.expect_page() as opened:
        link.click()
    expect(dialog).not_to_be_visible()
    expect(opened.value.get_by_label("Code")).to_be_visible()
    shopper.check_axe(opened.value)
    return opened.value


def redeem(shopper, page, code):
    page.get_by_label("Code").fill(code)
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("button", name="Redeem")).to_be_visible()
    shopper.check_axe(page)
    page.get_by_role("button", name="Redeem").click()
    expect(page.get_by_role("heading", name="Your code was redeemed")).to_be_visible()
    shopper.check_axe(page)


def refuse(shopper, page, code):
    """Types a code that the page refuses. Returns its words."""
    shopper.allowed = [r"Failed to load resource.*422"]
    page.get_by_label("Code").fill(code)
    page.get_by_role("button", name="Continue").click()
    alert = page.get_by_role("alert")
    expect(alert).to_be_visible()
    shopper.check_axe(page)
    return alert


@test
def a_code_buys_a_subscription(stage):
    for width, scheme in FORMS[:2]:
        shopper = stage.shopper(width, scheme).sign_in()
        page = open_code_page(shopper)
        assert page.evaluate("() => document.referrer + (window.opener ?? '')") == ""
        # Nobody gives a code to the account of somebody else.
        expect(page.get_by_text("It is for the account")).to_be_visible()
        refuse(shopper, page, "NEVERMADE")
        redeem(shopper, page, WELCOME)
        # The shop hears of it by its queue, without a reload.
        shopper.expect_finished()
        item = shopper.page.locator("#subscriptions > li")
        expect(item).to_have_attribute("data-subscription", CLUB)
        expect(item).to_contain_text("Then it renews for $2.99")
        expect(shopper.owned(CLUB)).to_have_attribute("data-owned", "verified")
        # The address is gone from the page.
        assert shopper.page.locator("a[href*='ticket']").count() == 0
        shopper.check()
        stage.close()


@test
def a_code_is_redeemed_once_by_each_account(stage):
    shopper = stage.shopper().sign_in()
    redeem(shopper, open_code_page(shopper), WELCOME)
    shopper.expect_finished()
    page = open_code_page(shopper)
    expect(refuse(shopper, page, WELCOME)).to_contain_text("redeemed")
    shopper.check()


@test
def the_way_to_the_code_page_says_who_is_away(stage):
    shopper = stage.shopper().sign_in()
    shopper.allowed = AWAY
    start = stage.kill("payments")
    shopper.page.get_by_role("button", name="Redeem a code").click()
    shopper.page.get_by_role("button", name="Continue").click()
    expect(shopper.page.locator("#codes-problem")).to_contain_text("payments cannot be reached")
    expect(shopper.page.locator("#banner")).to_contain_text("payments is away")
    start()
    expect(shopper.page.locator("#banner")).to_be_hidden(timeout=60_000)
    shopper.page.get_by_role("button", name="Continue").click()
    expect(shopper.page.get_by_role("link", name="Open the store’s page")).to_be_visible()
    shopper.check()


@test
def codes_are_made_once_shown_once_and_ended(stage):
    operator = stage.operator()
    operator.allowed = [r"Failed to load resource.*409"]
    operator.page.goto(operator.url + f"products/{CLUB}/offers")
    operator.page.get_by_role("link", name=f"Make codes of {OFFER}").click()
    # The form is open, and has the ids of the offer.
    for name, text in [("Subscription", CLUB), ("Code offer", OFFER)]:
        expect(operator.page.get_by_label(name).first).to_have_value(text)
    for name, text in [("App", "com.example.app"), ("Number of", "3"), ("Reason", "Leaflets")]:
        operator.page.get_by_label(name).first.fill(text)
    operator.check_axe()
    operator.page.get_by_role("button", name="Make codes").click()
    codes = operator.page.locator("#codes").inner_text().split()
    assert len(codes) == len(set(codes)) == 3, codes
    operator.check_axe()
    # Sending the form again makes no second campaign.
    operator.page.reload()
    expect(operator.page.get_by_role("heading", name=re.compile("form was sent before"))).to_be_visible()
    operator.page.get_by_role("link", name="Back to the codes").click()
    campaign = operator.page.locator("ol.rows > li").first
    expect(campaign).to_contain_text("0 of 3 redeemed")
    assert codes[0] not in operator.page.content()
    shopper = stage.shopper().sign_in()
    redeem(shopper, open_code_page(shopper), codes[0])
    shopper.expect_finished()
    operator.page.reload()
    expect(campaign).to_contain_text("1 of 3 redeemed")
    campaign.get_by_role("link").click()
    operator.check_axe()
    number = re.search(r"/codes/(\d+)$", operator.page.url)[1]
    operator.page.get_by_role("button", name="Deactivate").first.click()
    dialog = operator.page.get_by_role("dialog")
    dialog.get_by_label("Type the number").fill(number)
    dialog.get_by_label("Reason").fill("They were lost")
    operator.check_axe()
    dialog.get_by_role("button", name="Deactivate").click()
    expect(operator.page.locator("#state")).to_have_text("deactivated")
    expect(operator.page.locator("main")).to_contain_text("They were lost")
    operator.check()
    refuse(shopper, open_code_page(shopper), codes[1])
    shopper.check()
