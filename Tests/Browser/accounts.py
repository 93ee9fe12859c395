"""Looks at an account, and at the acts and the searches around it, in the console."""

from playwright.sync_api import expect

from console import reload_until

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
    operator.check()
    subscriber = stage.subscribe()
    operator.page.goto(operator.url + "accounts/" + subscriber)
    owned = operator.page.get_by_label("Has now")
    # `fulfillment` hears of the subscription in a moment.
    reload_until(operator.page, lambda: "then it renews" in owned.inner_text())
    expect(owned).to_contain_text("then it renews")
    operator.check()
