"""Chooses other cards for subscriptions in the shop, before and after something is owed."""

import time

from playwright.sync_api import expect

from stage import CLUB

TESTS = []


def test(function):
    TESTS.append(function)
    return function


def pass_time(shopper, *spans):
    """Lets the store's time pass, which carries out what falls due."""
    for span in spans:
        shopper.page.get_by_role("button", name=span).click()
        expect(shopper.page.locator("#clock-status")).to_have_text("Everything that fell due is done.", timeout=60_000)


def owe(stage):
    """Signs a buyer in whose renewal was not paid."""
    shopper = stage.shopper().sign_in()
    shopper.buy(CLUB, "sandbox_renewal_declined")
    shopper.expect_finished()
    pass_time(shopper, "A month passes", "A day passes", "A day passes")
    expect(shopper.subscription).to_contain_text("The renewal was not paid")
    return shopper


def ask(shopper, name):
    """Opens the dialog for another card."""
    shopper.subscription.get_by_role("button", name=name).click()
    dialog = shopper.page.get_by_role("dialog", name=name)
    expect(dialog).to_be_visible()
    return dialog


def choose(dialog, method, button):
    dialog.get_by_label("Card").select_option(method)
    dialog.get_by_role("button", name=button, exact=True).click()


@test
def what_is_owed_is_paid_with_another_card(stage):
    shopper = owe(stage)
    dialog = ask(shopper, "Pay with another card")
    expect(dialog).to_contain_text("It is charged at once for what you owe")
    choose(dialog, "sandbox_decline", "Pay")
    expect(dialog.get_by_role("alert")).to_contain_text("This card did not pay", timeout=60_000)
    shopper.check_axe()
    choose(dialog, "sandbox_success", "Pay")
    expect(dialog).not_to_be_visible(timeout=60_000)
    expect(shopper.subscription).to_contain_text("Then it renews for $2.99")
    expect(shopper.subscription.get_by_role("button", name="Change the card")).to_be_focused()
    expect(shopper.owned(CLUB)).to_contain_text("Yours until")
    shopper.check()


@test
def a_card_that_is_changed_in_time_pays_the_next_renewal(stage):
    shopper = stage.shopper().sign_in()
    shopper.buy(CLUB, "sandbox_renewal_declined")
    shopper.expect_finished()
    end = int(shopper.subscription.get_attribute("data-end"))
    dialog = ask(shopper, "Change the card")
    expect(dialog).to_contain_text("Nothing is charged now")
    shopper.check_axe()
    choose(dialog, "sandbox_success", "Change")
    expect(dialog).not_to_be_visible()
    pass_time(shopper, "A month passes", "A day passes", "A day passes")
    for _ in range(600):
        if int(shopper.subscription.get_attribute("data-end")) > end:
            break
        time.sleep(0.1)
    assert int(shopper.subscription.get_attribute("data-end")) > end
    expect(shopper.subscription).to_contain_text("Then it renews for $2.99")
    shopper.check()


@test
def whoever_tries_five_cards_a_day_is_told_to_wait(stage):
    shopper = owe(stage)
    shopper.allowed = [r"Failed to load resource.*409"]
    dialog = ask(shopper, "Pay with another card")
    alert = dialog.get_by_role("alert")
    for _ in range(5):
        choose(dialog, "sandbox_decline", "Pay")
        expect(alert).to_contain_text("This card did not pay", timeout=60_000)
    choose(dialog, "sandbox_success", "Pay")
    expect(alert).to_contain_text("The card is saved")
    shopper.check()
    dialog.get_by_role("button", name="Not now").click()
    # The card of the sixth try was saved, and pays at the store's own next try.
    pass_time(shopper, "A month passes")
    expect(shopper.subscription).to_contain_text("Then it renews for $2.99", timeout=60_000)
    shopper.check()
