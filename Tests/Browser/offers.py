"""Changes the offers of subscriptions in the console, and charges what subscribers owe."""

from playwright.sync_api import expect

from console import check_forms
from jobs import BARS, bars
from stage import AWAY, CLUB

TESTS = []


def test(function):
    TESTS.append(function)
    return function


def save(operator, *lines):
    """Looks at the difference that a form makes, and saves it."""
    operator.page.get_by_role("button", name="Show the difference").click()
    for line in lines:
        expect(operator.page.get_by_label("The difference")).to_contain_text(line)
    operator.check_axe()
    operator.page.get_by_role("button", name="Save").click()
    expect(operator.page.get_by_role("status").first).to_contain_text("Saved: the product is at version")
    operator.check_axe()


@test
def an_offer_is_made_changed_and_removed_once_its_difference_is_seen(stage):
    operator = stage.operator(scopes=["merchandiser"])
    operator.allowed = [r"Failed to load resource.*(412|422)"]
    operator.page.goto(operator.url + "products/" + CLUB)
    operator.page.get_by_role("link", name="All of them, with prices").click()
    expect(operator.page.get_by_label("first-month")).to_contain_text("free")
    operator.check_axe()
    operator.page.get_by_role("link", name="Add a promotional offer").click()
    operator.page.get_by_label("Its id").fill("back-again")
    operator.page.get_by_label("How it is paid").select_option("payAsYouGo")
    operator.page.get_by_label("Number of periods").fill("3")
    operator.page.get_by_label("USA").fill("free")
    operator.check_axe()
    operator.page.get_by_role("button", name="Show the difference").click()
    expect(operator.page.get_by_role("alert")).to_contain_text("“free” is not a price in USD")
    operator.page.get_by_label("USA").fill("0.99")
    save(operator, "back-again", "0.99 USD", "a lower price, paid for each period")
    # Who opened the form before somebody else saved overwrites nothing.
    other = stage.operator(scopes=["merchandiser"])
    other.allowed = operator.allowed
    for each in [operator, other]:
        each.page.goto(each.url + f"products/{CLUB}/offers")
        each.page.get_by_role("link", name="Change back-again").click()
    operator.page.get_by_label("USA").fill("1.49")
    save(operator, "0.99 USD", "1.49 USD")
    other.page.get_by_label("Remove the offer").check()
    other.page.get_by_role("button", name="Show the difference").click()
    expect(other.page.get_by_role("alert")).to_contain_text("changed the product meanwhile")
    expect(other.page.get_by_label("Remove the offer")).to_be_checked()
    other.check_axe()
    save(other, "back-again", "none")
    expect(other.page.get_by_label("back-again")).to_have_count(0)
    other.check()
    reader = stage.operator(scopes=["read"])
    reader.page.goto(reader.url + f"products/{CLUB}/offers")
    expect(reader.page.get_by_label("first-month")).to_be_visible()
    expect(reader.page.get_by_role("link", name="Change")).to_have_count(0)
    reader.check()
    operator.check()


@test
def what_a_subscriber_owes_is_charged_again_at_once(stage):
    account = stage.subscribe("sandbox_renewal_declined")
    stage.command("clock", "advance", "32d")
    operator = stage.operator()
    operator.page.goto(operator.url + "subscriptions?account=" + account)
    operator.page.locator(".rows li").get_by_role("link").first.click()
    expect(operator.page.locator("#state")).to_have_text("unpaid, without service")
    tries = operator.page.locator(".facts > div", has_text="tries for the next period")
    before = tries.locator("dd").inner_text()
    operator.page.get_by_role("button", name="Charge again now…").click()
    dialog = operator.page.locator("dialog[open]")
    expect(dialog).to_contain_text("by the method that was declined")
    dialog.get_by_label("Reason").fill("has a new card")
    operator.check_axe()
    dialog.get_by_role("button", name="Charge again now", exact=True).dblclick()
    expect(operator.page.get_by_role("status").first).to_contain_text("A charge was begun")
    expect(tries.locator("dd")).not_to_have_text(before, timeout=60_000)
    operator.check()


@test
def those_who_subscribe_already_are_counted_and_raised(stage):
    account = stage.subscribe()
    stage.command("products", "price", CLUB, "USA", "3.49")
    operator = stage.operator(script=BARS)
    operator.allowed = AWAY
    operator.page.goto(operator.url + f"products/{CLUB}")
    operator.page.get_by_role("link", name="Raise the price for those who subscribe already").click()
    operator.page.get_by_label("Storefront").select_option("USA")
    operator.page.get_by_label("Price of one period").fill("3.49")
    operator.check_axe()
    operator.page.get_by_role("button", name="Count them").click()
    counted = operator.page.locator("#counted")
    expect(counted).to_contain_text("would be raised to 3.49 USD", timeout=60_000)
    count = counted.inner_text().split()[0].replace(",", "")
    operator.check_axe()
    # The count is a job: a console that was killed still has it.
    start = stage.kill("console")
    expect(operator.page.locator("#connection")).to_contain_text("cannot get newer data")
    start()
    expect(operator.page.locator("#connection")).to_be_hidden(timeout=60_000)
    operator.page.reload()
    operator.page.get_by_role("button", name="Raise them…").click()
    dialog = operator.page.locator("dialog[open]")
    dialog.locator("[name='typed']").fill(count)
    dialog.get_by_label("Reason").fill("it costs more")
    operator.check_axe()
    dialog.get_by_role("button", name="Raise them", exact=True).click()
    expect(operator.page.locator("#raised")).to_contain_text("subscriptions are raised", timeout=60_000)
    operator.page.reload()
    expect(operator.page.locator("#raised")).to_contain_text("subscriptions are raised")
    expect(operator.page.locator("[data-field='raised']")).not_to_have_text("0")
    # A raise of a few may be through before anybody sees its bar.
    bars(operator)
    expect(operator.page.locator(".timeline li")).to_have_count(2)
    expect(operator.page.locator(".timeline")).to_contain_text("began to raise “it costs more”")
    operator.check()
    check_forms(stage, operator.page.url)
    operator.page.get_by_role("link", name="Raises", exact=True).click()
    expect(operator.page.get_by_role("link", name=f"{CLUB} in USA to 3.49 USD").first).to_be_visible()
    operator.check()
    operator.page.goto(operator.url + "subscriptions?account=" + account)
    operator.page.locator(".rows li").get_by_role("link").first.click()
    expect(operator.page.locator(".facts > div", has_text="higher price")).to_contain_text("3.49 USD from")
    operator.check()
    stage.command("products", "price", CLUB, "USA", "2.99")


@test
def a_subscriber_is_extended_once_and_then_all_are(stage):
    account = stage.subscribe()
    operator = stage.operator(scopes=["support", "read"])
    operator.page.goto(operator.url + "subscriptions?account=" + account)
    operator.page.locator(".rows li").get_by_role("link").first.click()
    period = operator.page.locator(".facts > div", has_text="period").first.locator("dd")
    before = period.inner_text()
    operator.page.get_by_role("button", name="Extend…").click()
    dialog = operator.page.locator("dialog[open]")
    expect(dialog).to_contain_text(account)
    dialog.get_by_label("Days").fill("3")
    dialog.get_by_label("Reason;").fill("was offline")
    operator.check_axe()
    form = {field: dialog.locator(f"[name='{field}']").input_value()
            for field in ["act", "version", "days", "code", "reason", "csrf"]}
    dialog.get_by_role("button", name="Extend", exact=True).click()
    expect(operator.page.get_by_role("status").first).to_contain_text("It is extended")
    expect(period).not_to_have_text(before)
    made = operator.page.locator(".facts > div", has_text="by 3 days at")
    expect(made).to_have_count(1)
    expect(operator.page.locator(".timeline")).to_contain_text("was offline")
    operator.check()
    # The form of a page that is loaded again extends nobody twice.
    path = operator.page.url.removeprefix(operator.url).split("?")[0] + "/act"
    answer, _ = operator.send(path, form, {"sec-fetch-site": "same-origin"})
    assert answer.status == 303, answer.status
    operator.page.reload()
    expect(made).to_have_count(1)
    # All subscribers of the product, from its page.
    operator.page.get_by_role("link", name="Extensions of all subscribers").click()
    operator.page.get_by_label("App, by its bundle id").fill("com.example.app")
    operator.page.get_by_label("Days").fill("2")
    operator.check_axe()
    operator.page.get_by_role("button", name="Show whom it is for").click()
    expect(operator.page.get_by_role("status").first).to_contain_text("would get 2 days")
    operator.page.get_by_role("button", name="Extend them…").click()
    dialog = operator.page.locator("dialog[open]")
    expect(dialog).to_contain_text(CLUB)
    dialog.get_by_label("Type the product").fill(CLUB)
    dialog.get_by_label("Reason;").fill("the outage of today")
    operator.check_axe()
    dialog.get_by_role("button", name="Extend them", exact=True).click()
    expect(operator.page.locator("#state")).to_contain_text("done", timeout=60_000)
    expect(operator.page.locator("[data-field='extended']")).not_to_have_text("0")
    expect(operator.page.locator(".timeline")).to_contain_text("the outage of today")
    operator.check()
    check_forms(stage, operator.page.url)
    operator.page.goto(operator.url + "subscriptions?account=" + account)
    operator.page.locator(".rows li").get_by_role("link").first.click()
    expect(operator.page.locator(".facts > div", has_text="by 2 days at")).to_have_count(1)
    operator.page.goto(operator.url + "acts?kind=subscriptions")
    expect(operator.page.locator(".rows li", has_text="the outage of today")).to_contain_text("extends all subscribers")
    operator.check()
    reader = stage.operator(scopes=["read"])
    reader.page.goto(reader.url + f"products/{CLUB}/extensions")
    expect(reader.page.get_by_role("link", name="2 days for those in com.example.app")).to_be_visible()
    expect(reader.page.get_by_role("button", name="Show whom it is for")).to_have_count(0)
    reader.check()
