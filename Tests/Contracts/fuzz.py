"""Runs schemathesis against each service, for a share of the time."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from documents import METHODS
from store import REPOSITORY, SERVICES, told

HERE = Path(__file__).resolve().parent

# The checks: no 5xx, and no answer that the document does not describe.
CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "missing_required_header",
    "unsupported_method",
    "allow_header_conformance",
    "ignored_auth",
]

# The paths that are not called, each with the reason.
EXCLUDED = {
    "/v1/queue": "a stream that does not end; stream.py checks it",
}

# Paths that answer 200 to a wrong request and name the error in the body, as specified by Apple or RFC 6960.
ANSWERS_OK = [
    "/verifyReceipt",  # Apple's status
    "/ocsp",  # the response status of RFC 6960
    "/ocsp/{request}",
]

# The paths that name something else than a transaction, with the dictionary of each parameter.
NAMED = {
    "/v1/admin/code-campaigns/{id}": {"id": "campaigns"},
    "/v1/admin/code-campaigns/{id}/deactivation": {"id": "campaigns"},
    "/v1/admin/families/{id}": {"id": "families"},
    "/v1/admin/families/{id}/end": {"id": "families"},
    "/v1/admin/families/{id}/members/{account}": {"id": "families", "account": "accounts"},
    "/v1/admin/families/{id}/members/{account}/removal": {"id": "families", "account": "accounts"},
    "/v1/admin/refund-requests/{id}/{number}": {"id": "refundRequests", "number": "numbers"},
    "/v1/admin/refund-requests/{id}/{number}/decision": {
        "id": "refundRequests",
        "number": "numbers",
    },
    "/v1/subscriptions/{id}": {"id": "subscriptions"},
    "/v1/subscriptions/{id}/action": {"id": "subscriptions"},
    "/v1/subscriptions/{id}/auto-renew": {"id": "subscriptions"},
    "/v1/subscriptions/{id}/payment-method": {"id": "subscriptions"},
    "/v1/subscriptions/{id}/price-increase": {"id": "subscriptions"},
    "/v1/subscriptions/{id}/product": {"id": "subscriptions"},
    "/v1/admin/subscriptions/{id}": {"id": "subscriptions"},
    "/v1/admin/subscriptions/{id}/auto-renew": {"id": "subscriptions"},
    "/v1/admin/subscriptions/{id}/extensions": {"id": "subscriptions"},
    "/v1/admin/subscriptions/{id}/price-increase": {"id": "subscriptions"},
    "/v1/admin/subscriptions/{id}/product": {"id": "subscriptions"},
    # Not its expiry: what has ended answers little else.
    "/v1/admin/test/subscriptions/{id}/price-increase": {"id": "subscriptions"},
    "/v1/admin/test/subscriptions/{id}/renewal": {"id": "subscriptions"},
    "/v1/admin/test/subscriptions/{id}/resolution": {"id": "subscriptions"},
    "/inApps/v1/subscriptions/extend/mass/{productID}/{requestID}": {
        "productID": "clubs",
        "requestID": "massExtensions",
    },
}

# Each service's share of the time, by the number of its routes.
SHARES = {"catalog": 2, "payments": 9, "receipts": 5, "fulfillment": 3}


def configuration(store):
    """The configuration of schemathesis: tokens for each security scheme, and values that exist."""
    known = {
        "transactions": store.transactions,
        "hosted": store.hosted,
        "products": ["com.example.coins.100", "com.example.pro", "com.example.hint"],
        "clubs": ["com.example.club.monthly"],
        "groups": ["club"],
        "numbers": [1],
        # Without the calling account: if it were blocked, it could not pay any more.
        "accounts": ["grace", "linus"],
        "apps": [store.bundle],
        # Without the calling app: if it lost its endpoint, it would not be notified any more.
        "bundles": ["com.example.other"],
    } | store.known
    often = {"probability": 0.4}
    mostly = {"probability": 0.8}
    return {
        "dictionaries": {name: {"values": values} for name, values in known.items()},
        "parameters": {
            "path.id": {"dictionary": "transactions"} | often,
            "path.productID": {"dictionary": "products"} | often,
            "path.group": {"dictionary": "groups"} | often,
            "path.account": {"dictionary": "accounts"} | often,
            "path.bundle": {"dictionary": "bundles"} | often,
            "query.bundleID": {"dictionary": "apps"} | often,
        },
        "auth": {
            "openapi": {name: {"bearer": token} for name, token in store.tokens.items()},
        },
        "checks": {"enabled": False} | {name: {"enabled": True} for name in CHECKS},
        "operations": [
            {"include-path": path, "checks": {"negative_data_rejection": {"enabled": False}}}
            for path in ANSWERS_OK
        ]
        + [
            {
                "include-path": "/v1/transactions/{id}/content/{identifier}",
                "parameters": {
                    "path.id": {"dictionary": "hosted"} | mostly,
                    "path.identifier": {"dictionary": "products"} | mostly,
                },
            }
        ]
        + [
            {
                "include-path": path,
                "parameters": {
                    f"path.{name}": {"dictionary": dictionary} | mostly
                    for name, dictionary in names.items()
                },
            }
            for path, names in NAMED.items()
        ],
    }


def toml(value):
    """Writes a JSON value as TOML, with inline tables."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(toml(entry) for entry in value) + "]"
    return json.dumps(value)


def check(store, seconds, seed, only):
    print(f"  schemathesis for {seconds} s, seed {seed}", flush=True)
    for path, reason in EXCLUDED.items():
        print(f"  · {path} is left out: {reason}", flush=True)
    folder = store.events.parent
    settings = folder / "schemathesis.toml"
    settings.write_text(
        "\n".join(f"{name} = {toml(value)}" for name, value in configuration(store).items())
    )
    # The catalog comes last, because a product that it takes off sale cannot be bought any more.
    services = [only] if only else sorted(SERVICES, key=lambda service: service == "catalog")
    shares = sum(SHARES[service] for service in services)
    problems = []
    for service in services:
        time = max(5, seconds * SHARES[service] // shares)
        problems += run(store, service, time, seed, settings)
    return problems


def run(store, service, seconds, seed, settings):
    command = [
        str(Path(sys.executable).with_name("schemathesis")),
        "--config-file", str(settings),
        "run", f"{store.urls[service]}/openapi.json",
        "--url", store.urls[service],
        "--phases", "examples,coverage,fuzzing,stateful",
        "--max-time", str(seconds),
        "--seed", str(seed),
        "--request-timeout", "60",
        "--warnings", os.environ.get("CONTRACTS_WARNINGS", "off"),
        "--continue-on-failure",
    ]  # fmt: skip
    for path in EXCLUDED:
        command += ["--exclude-path", path]
    answers = REPOSITORY / f".build/contracts-{service}.json"
    environment = os.environ | {
        "SCHEMATHESIS_HOOKS": "hooks",
        "PYTHONPATH": str(HERE),
        "CONTRACTS_ANSWERS": str(answers),
    }
    log = REPOSITORY / f".build/contracts-{service}.log"
    with log.open("w") as output:
        status = subprocess.run(
            command, cwd=settings.parent, env=environment, stdout=output, stderr=subprocess.STDOUT
        ).returncode
    text = log.read_text()
    cases = re.search(r"^\s*(\d+) generated.*$", text, re.MULTILINE)
    told(f"{service}, {seconds} s: {cases.group(0).strip() if cases else 'see below'}")
    problems = []
    if status != 0 or not cases:
        print(text, flush=True)
        problems.append(f"{service}: see above; again: make contracts SEED={seed} ONLY={service}")
    if answers.exists():
        problems += seen(store, service, json.loads(answers.read_text()))
    return problems


def seen(store, service, answers):
    """Prints how much of the document was covered. Fails if a token was never accepted."""
    document = store.openapi(service)
    count, total, tokens = 0, 0, {}
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if method not in METHODS or path in EXCLUDED:
                continue
            found = {
                status
                for status in operation["responses"]
                if f"{method.upper()} {path} {status}" in answers
            }
            count += len(found)
            total += len(operation["responses"])
            for scheme in operation["security"]:
                for name in scheme:
                    tokens[name] = tokens.get(name, False) or any(s[0] == "2" for s in found)
    told(f"{service}: {count} of its {total} answers were seen")
    return [f"{service}: {name} opened no route" for name, opens in tokens.items() if not opens]
