"""The store under test, and the contracts that it serves."""

import json
from pathlib import Path

import requests

REPOSITORY = Path(__file__).resolve().parent.parent.parent
SERVICES = ["catalog", "payments", "receipts", "fulfillment"]


class Store:
    """A store that `devstore contracts` has started and described in a file."""

    def __init__(self, description):
        facts = json.loads(Path(description).read_text())
        self.urls = facts["urls"]
        self.tokens = facts["tokens"]
        self.bundle = facts["bundleID"]
        self.transactions = facts["transactions"]
        self.hosted = facts["hosted"]
        self.known = facts["known"]
        self.events = Path(facts["eventsFile"])

    def get(self, service, path, **arguments):
        """A plain request with a time limit that is long enough for every document."""
        return requests.get(self.urls[service] + path, timeout=60, **arguments)

    def openapi(self, service):
        return self.get(service, "/openapi.json").json()

    def whole(self):
        return self.get("catalog", "/openapi/store.json").json()

    def asyncapi(self):
        return self.get("catalog", "/asyncapi.json").json()


def told(text):
    print(f"  ✓ {text}", flush=True)
