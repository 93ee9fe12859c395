"""What schemathesis loads.

The contract is closed, so that a member that it does not name is found. A certificate status
request is sent as it is. Most requests get an Idempotency-Key of their own: under one that was used
before nothing but the key is looked at. No call takes the calling app's endpoint of notifications
away. Long texts are sent in marks that join the letter before them, as many code points as were
drawn: a bound that counts what a reader sees as characters would take any number of them. What was
answered is counted.
"""

import atexit
import itertools
import json
import os
import re
from collections import Counter
from pathlib import Path

import schemathesis
from strictness import strict_openapi

schemathesis.serializer.alias(["application/ocsp-request"], "application/octet-stream")

CALLING_APP = "com.example.app"

answers = Counter()
calls = itertools.count(1)
texts = itertools.count(1)


@schemathesis.hook
def before_load_schema(context, raw_schema):
    closed = strict_openapi(raw_schema)
    raw_schema.clear()
    raw_schema.update(closed)


def in_marks(value):
    """The same value with every second long text in combining marks, of the same length."""
    if isinstance(value, str) and len(value) > 32:
        return value[0] + "\u0301" * (len(value) - 1) if next(texts) % 2 else value
    if isinstance(value, list):
        return [in_marks(entry) for entry in value]
    if isinstance(value, dict):
        return {name: in_marks(entry) for name, entry in value.items()}
    return value


@schemathesis.hook
def before_call(context, case, kwargs):
    if isinstance(case.body, (dict, list)):
        case.body = in_marks(case.body)
    key = (case.headers or {}).get("Idempotency-Key")
    # One in four stays what was drawn; what is no key always does.
    if isinstance(key, str) and re.fullmatch("[!-~]{1,255}", key) and (call := next(calls)) % 4:
        case.headers["Idempotency-Key"] = f"call-{call}"
    # Without its endpoint the app that calls would be told nothing more.
    if case.method == "DELETE" and (case.path_parameters or {}).get("bundle") == CALLING_APP:
        case.path_parameters["bundle"] = "com.example.other"


@schemathesis.hook
def after_call(context, case, response):
    # Also calls by a method that the operation does not have come here.
    if case.method == case.operation.method.upper():
        answers[f"{case.operation.label} {response.status_code}"] += 1


@atexit.register
def tell():
    Path(os.environ["CONTRACTS_ANSWERS"]).write_text(json.dumps(answers))
