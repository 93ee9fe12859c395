"""Pictures of a shop and of a console in use, light and dark."""

import os
import subprocess

from playwright.sync_api import expect

from stage import COINS, PRO

# The names differ, so that both buyers begin with an empty queue.
BUYERS = {"light": "alice", "dark": "Alice"}


def pictures(stage, folder):
    """Writes storefront-light.png, console-light.png, and the same in the dark."""
    os.makedirs(folder, exist_ok=True)
    for scheme, name in BUYERS.items():
        take(shop(stage, scheme, name), f"{folder}/storefront-{scheme}.png")
        stage.close()
        take(console(stage, scheme), f"{folder}/console-{scheme}.png")
        stage.close()


def shop(stage, scheme, name):
    """A buyer who has bought coins and a product, and waits for an approval."""
    shopper = stage.shopper(1280, scheme)
    shopper.sign_in(name=name)
    shopper.buy(COINS, quantity=3)
    shopper.expect_coins(300)
    shopper.buy(PRO)
    expect(shopper.owned(PRO)).to_have_attribute("data-owned", "verified")
    shopper.buy(COINS, "sandbox_needs_approval")
    expect(shopper.newest).to_contain_text("Waiting for approval")
    return shopper


def console(stage, scheme):
    """An administrator who looks at a refunded purchase."""
    operator = stage.operator(width=1280, scheme=scheme)
    transaction = stage.buy("sandbox_success")[1]
    stage.settled(transaction)
    stage.command("refund", transaction, "--reason", "bought twice")
    stage.settled(transaction)
    operator.page.goto(operator.url + "purchases/" + transaction)
    # The page is taller than a screen, and who refunded it and why stands at its end.
    operator.page.set_viewport_size({"width": 1280, "height": 1150})
    expect(operator.page.locator(".timeline").get_by_text("bought twice").first).to_be_in_viewport()
    return operator


def take(visitor, path):
    """Takes a picture on which no button has the focus or the mouse."""
    visitor.page.mouse.move(0, 0)
    visitor.page.evaluate("() => { document.activeElement.blur(); scrollTo(0, 0); }")
    visitor.page.screenshot(path=path)
    subprocess.run(["pngquant", "--force", "--strip", "--output", path, "96", path], check=True)
    size = os.path.getsize(path)
    print(f"{path}: {size // 1000} KB", flush=True)
    assert size < 150_000, "the picture is too large for a README"
