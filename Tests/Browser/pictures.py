"""Pictures of a shop in use, light and dark."""

import os
import subprocess

from playwright.sync_api import expect

from stage import COINS, PRO

# The names differ, so that both buyers begin with an empty queue.
BUYERS = {"light": "alice", "dark": "Alice"}


def pictures(stage, folder):
    """Writes storefront-light.png and storefront-dark.png."""
    os.makedirs(folder, exist_ok=True)
    for scheme, name in BUYERS.items():
        shopper = stage.shopper(1280, scheme)
        shopper.sign_in(name=name)
        shopper.buy(COINS, quantity=3)
        shopper.expect_coins(300)
        shopper.buy(PRO)
        expect(shopper.owned(PRO)).to_have_attribute("data-owned", "verified")
        shopper.buy(COINS, "sandbox_needs_approval")
        expect(shopper.newest).to_contain_text("Waiting for approval")
        # No button has the focus or the mouse.
        shopper.page.mouse.move(0, 0)
        shopper.page.evaluate("() => { document.activeElement.blur(); scrollTo(0, 0); }")
        path = f"{folder}/storefront-{scheme}.png"
        shopper.page.screenshot(path=path)
        subprocess.run(["pngquant", "--force", "--strip", "--output", path, "96", path], check=True)
        size = os.path.getsize(path)
        print(f"{path}: {size // 1000} KB", flush=True)
        assert size < 150_000, "the picture is too large for a README"
        stage.close()
