"""Looks at accounts, at the line of the last minutes and at what a search finds, and ends sessions, in the console."""

import re

from playwright.sync_api import expect

from console import check_forms, reload_until
from stage import COINS

TESTS = []


def test(function):
    TESTS.append(function)
    return function


@test
def an_account_says_what_it_has(stage):
    operator = stage.operator()
    account, _ = stage.buy("sandbox_success")
    operator.page.goto(operator.url + "accounts/" + account)
    expect(operator.page.get_by_label("Balances")).to_contain_text("100")
    expect(operator.page.get_by_label("Has now")).to_contain_text("It owns nothing")
    expect(operator.page.get_by_label("May pay")).to_contain_text("Yes")
    # One unit was bought; what the buyer paid is the revenue and the tax.
    expect(operator.page.get_by_label("Purchases")).to_contain_text(re.compile(r"1 × [\s\S]* USD"))
    expect(operator.page.get_by_label("Money").locator("[data-sum]")).to_have_attribute("data-sum", "0")
    operator.check()
    subscriber = stage.subscribe()
    operator.page.goto(operator.url + "accounts/" + subscriber)
    owned = operator.page.get_by_label("Has now")
    # `fulfillment` hears of the subscription in a moment.
    reload_until(operator.page, lambda: "then it renews" in owned.inner_text())
    expect(owned).to_contain_text("then it renews")
    operator.check()


@test
def a_line_shows_the_purchases_of_the_last_minutes(stage):
    operator = stage.operator()
    stage.buy("sandbox_success")
    expect(operator.page.locator("[data-line]")).to_have_attribute(
        "points", re.compile(r"^\d+,\d+"), timeout=60_000)
    expect(operator.field("line.words")).to_contain_text("a second on average")
    operator.check()
    operator.page.get_by_role("link", name="What receipts could not apply").click()
    expect(operator.page.get_by_role("heading", name="Dead letters")).to_be_visible()
    operator.check()


@test
def the_newest_purchases_are_a_click_away(stage):
    account, transaction = stage.buy("sandbox_success")
    stage.settled(transaction)
    operator = stage.operator(scopes=["read"])
    operator.page.get_by_role("link", name="The newest purchases").click()
    row = operator.page.locator(".rows li", has_text=transaction)
    expect(row).to_contain_text("paid")
    expect(row.get_by_role("link", name=account)).to_be_visible()
    operator.check()
    row.get_by_role("link").first.click()
    expect(operator.page).to_have_url(operator.url + "purchases/" + transaction)
    check_forms(stage, operator.url + "purchases")
    operator.check()


@test
def a_search_leads_to_a_product(stage):
    operator = stage.operator()
    operator.search(COINS)
    expect(operator.page.get_by_role("heading", name=f"Product {COINS}")).to_be_visible()
    operator.search("no.such.product")
    for words in ["the account no.such.product", "the product no.such.product"]:
        expect(operator.page.locator("main")).to_contain_text(words)
    operator.check()


@test
def who_ends_all_sessions_is_signed_out_everywhere(stage):
    operator, other = stage.operator(), stage.operator()
    # Chromium writes of the answer by which the other page learns that its session is over.
    other.allowed = [r"Failed to load resource.*401"]
    operator.page.get_by_role("button", name="End all my sessions").click()
    expect(operator.page).to_have_url(operator.url + "sign-in")
    expect(other.page).to_have_url(other.url + "sign-in")
    operator.check()
    other.check()
