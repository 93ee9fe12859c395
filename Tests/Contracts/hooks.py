"""The hooks that schemathesis loads.

- The contract is made strict, so a member that it does not name is found.
- A certificate status request is sent as it is.
- Most requests get an Idempotency-Key of their own, because a repeated key is all that the service looks at.
- No call removes the calling app's notification endpoint.
- Every second long text consists of combining marks, with as many code points as were drawn. A bound that
  counts visible characters would accept any number of them.
- Answers are counted.
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
    """Replaces every second long text by combining marks, and keeps its length."""
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
    # One key in four stays as it was drawn, and so does every invalid key.
    if isinstance(key, str) and re.fullmatch("[!-~]{1,255}", key) and (call := next(calls)) % 4:
        case.headers["Idempotency-Key"] = f"call-{call}"
    # If the calling app lost its endpoint, it would not be notified any more.
    if case.method == "DELETE" and (case.path_parameters or {}).get("bundle") == CALLING_APP:
        case.path_parameters["bundle"] = "com.example.other"


@schemathesis.hook
def after_call(context, case, response):
    # Calls with a method that the operation does not have arrive here, too.
    if case.method == case.operation.method.upper():
        answers[f"{case.operation.label} {response.status_code}"] += 1


@atexit.register
def tell():
    Path(os.environ["CONTRACTS_ANSWERS"]).write_text(json.dumps(answers))
