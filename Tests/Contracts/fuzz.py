"""Runs schemathesis against each service for its share of the time."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from documents import METHODS
from store import REPOSITORY, SERVICES, told

HERE = Path(__file__).resolve().parent

# No 5xx, and no answer that its document does not have.
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

# What is not called, and why.
EXCLUDED = {
    "/v1/queue": "a stream that does not end; stream.py checks it",
}

# What says in the body of a 200 what is wrong with the request, as its specification has it.
ANSWERS_OK = [
    "/verifyReceipt",  # Apple's status
    "/ocsp",  # the response status of RFC 6960
    "/ocsp/{request}",
]

# Of the time, by how much there is to call.
SHARES = {"catalog": 2, "payments": 4, "receipts": 6, "fulfillment": 4}


def configuration(store):
    """What schemathesis is told: tokens by security scheme, and values that are there."""
    known = {
        "transactions": store.transactions,
        "hosted": store.hosted,
        "products": ["com.example.coins.100", "com.example.pro", "com.example.hint"],
        "subscriptions": ["com.example.club.monthly"],
        # Not the one that calls: blocked, it would pay no more.
        "accounts": ["grace", "linus"],
        "apps": [store.bundle],
        # Not the one that calls: without an endpoint it would be told nothing more.
        "bundles": ["com.example.other"],
    }
    often = {"probability": 0.4}
    mostly = {"probability": 0.8}
    return {
        "dictionaries": {name: {"values": values} for name, values in known.items()},
        "parameters": {
            "path.id": {"dictionary": "transactions"} | often,
            "path.productID": {"dictionary": "products"} | often,
            "path.product": {"dictionary": "subscriptions"} | often,
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
        ],
    }


def toml(value):
    """TOML of what JSON can say: inline tables."""
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
    # The catalog comes last: what it takes off sale cannot be bought any more.
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
        "--request-timeout", "15",
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
    """Tells how much of the document was seen; a token that opens nothing makes calls worthless."""
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
