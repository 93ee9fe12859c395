"""The store under test, and Apple's client for it."""

import json
import time
from pathlib import Path

import jwt
import requests
from appstoreserverlibrary.api_client import AppStoreServerAPIClient
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier

# The store allows 50 requests a second for one key. A merchant's server has to stay below that.
REQUESTS_PER_SECOND = 40
last_request = 0.0


def paced(execute):
    """Limits the rate of requests. A fast machine would exceed what the store allows."""

    def wait_and_execute(*arguments):
        global last_request
        time.sleep(max(0, last_request + 1 / REQUESTS_PER_SECOND - time.monotonic()))
        last_request = time.monotonic()
        return execute(*arguments)

    return wait_and_execute


class Store:
    """A store that `devstore conformance` has started and described in a file."""

    def __init__(self, description):
        facts = json.loads(Path(description).read_text())
        self.facts = facts
        self.receipts = facts["receiptsURL"]
        self.fulfillment = facts["fulfillmentURL"]
        self.payments = facts["paymentsURL"]
        self.bundle = facts["bundleID"]
        self.app_apple_id = facts["appAppleID"]
        self.keys = Path(facts["keysDirectory"])
        self.counterfoil = facts["counterfoil"]
        self.root = (self.keys / "receipts/root.cer").read_bytes()
        self.transactions = facts["transactions"]
        self.server_key = facts["serverKey"]
        self.busy_key = facts["busyKey"]

    def private_key(self, key_id):
        return (self.keys / f"private/servers/{key_id}.p8").read_bytes()

    def issuer(self, key_id):
        return json.loads((self.keys / f"servers/{key_id}.json").read_text())["issuerID"]

    def client(self, key_id=None, bundle=None):
        """Apple's client. Only its address and its rate of requests are changed."""
        key_id = key_id or self.server_key
        client = AppStoreServerAPIClient(
            self.private_key(key_id),
            key_id,
            self.issuer(key_id),
            bundle or self.bundle,
            Environment.LOCAL_TESTING,
        )
        client._base_url = self.receipts
        if key_id != self.busy_key:
            client._execute_request = paced(client._execute_request)
        return client

    def verifier(self, online=True, root=None, bundle=None, environment=Environment.SANDBOX):
        """Apple's verifier. A new one has an empty cache."""
        return SignedDataVerifier(
            [root or self.root],
            online,
            environment,
            bundle or self.bundle,
            self.app_apple_id,
        )

    def token(self, key=None, header=None, **claims):
        """A token with changed claims. A claim that is None is left out."""
        now = int(time.time())
        payload = {
            "iss": self.issuer(self.server_key),
            "bid": self.bundle,
            "aud": "appstoreconnect-v1",
            "exp": now + 300,
        }
        payload.update(claims)
        return jwt.encode(
            {name: value for name, value in payload.items() if value is not None},
            key or self.private_key(self.server_key),
            algorithm="ES256",
            headers={"kid": self.server_key} | (header or {}),
        )

    def get(self, path, token=None, method="GET", **arguments):
        """A plain request, for what Apple's client cannot send."""
        return requests.request(
            method,
            self.receipts + path,
            headers={"Authorization": f"Bearer {token or self.token()}"},
            timeout=60,
            **arguments,
        )
