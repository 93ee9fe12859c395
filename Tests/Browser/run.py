"""Runs the tests of storefront.py and console.py, or takes the pictures of docs/pictures."""

import argparse
import os
import shutil
import sys
import time
import traceback

from playwright.sync_api import expect, sync_playwright

import accounts
import cards
import codes
import console
import jobs
import offers
import storefront
from pictures import pictures
from soak import soak
from stage import Stage


def run(stage, test, folder):
    """Runs a test, and keeps pictures of its pages if it fails. Returns whether it has passed."""
    start = time.monotonic()
    name = test.__name__.replace("_", " ")
    try:
        test(stage)
        print(f"✓ {name} ({time.monotonic() - start:.1f} s)", flush=True)
        return True
    except Exception:  # Every kind of failure is reported, and the next test runs.
        os.makedirs(folder, exist_ok=True)
        print(f"✗ {name}\n{traceback.format_exc()}", flush=True)
        for number, shopper in enumerate(stage.shoppers):
            for tab, page in enumerate(shopper.context.pages):
                page.screenshot(path=f"{folder}/{test.__name__}-{number}-{tab}.png", full_page=True)
        return False
    finally:
        stage.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True)
    parser.add_argument("--store", type=int, required=True)
    parser.add_argument("--counterfoil", required=True, help="the operator's command line")
    parser.add_argument("--environment", required=True, help="the file with its settings")
    parser.add_argument("--failures", required=True, help="the folder for pictures of failed tests")
    parser.add_argument("--only", default="", help="a part of the names of the tests to run, or several with commas")
    parser.add_argument("--screenshots", help="the folder for pictures; no test is run")
    parser.add_argument("--soak", type=int, help="the seconds for which the console stays open; no test is run")
    options = parser.parse_args()
    begin = time.monotonic()
    expect.set_options(timeout=60_000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium-headless-shell"), args=["--no-sandbox", "--disable-dev-shm-usage"])
        stage = Stage(browser, options.url, options.store, options.counterfoil, options.environment)
        if options.screenshots:
            pictures(stage, options.screenshots)
            return 0
        if options.soak:
            try:
                soak(stage, options.soak)
            finally:
                stage.close()
                stage.stop()
            return 0
        tests = (storefront.TESTS + cards.TESTS + codes.TESTS + console.TESTS + accounts.TESTS
                 + offers.TESTS + jobs.TESTS)
        results = [run(stage, test, options.failures) for test in tests
                   if any(part in f"{test.__module__}.{test.__name__}" for part in options.only.split(","))]
        stage.stop()
    print(f"{results.count(True)} passed, {results.count(False)} failed; {time.monotonic() - begin:.0f} s")
    return 0 if results and all(results) else 1


sys.exit(main())
