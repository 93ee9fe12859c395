"""The store under test, and its contracts as it serves them."""

import json
from pathlib import Path

import requests

REPOSITORY = Path(__file__).resolve().parent.parent.parent
SERVICES = ["catalog", "payments", "receipts", "fulfillment"]


class Store:
    """What `devstore contracts` says of the store it has started."""

    def __init__(self, description):
        facts = json.loads(Path(description).read_text())
        self.urls = facts["urls"]
        self.tokens = facts["tokens"]
        self.bundle = facts["bundleID"]
        self.transactions = facts["transactions"]
        self.hosted = facts["hosted"]
        self.events = Path(facts["eventsFile"])

    def get(self, service, path, **arguments):
        """A plain request; no contract, fixture or event is so large that it takes longer."""
        return requests.get(self.urls[service] + path, timeout=15, **arguments)

    def openapi(self, service):
        return self.get(service, "/openapi.json").json()

    def whole(self):
        return self.get("catalog", "/openapi/store.json").json()

    def asyncapi(self):
        return self.get("catalog", "/asyncapi.json").json()


def told(text):
    print(f"  ✓ {text}", flush=True)
