"""Checks the queue's stream. Schemathesis cannot call this route, because its answer does not end.

The head must be as the document says, and the data of each event must be valid against its schema.
"""

import json
import time

import requests

from examples import faults, validator
from store import told
from strictness import strict_openapi

SCHEMAS = {
    "transaction": "QueueChanged",
    "removed": "QueueChanged",
    "account": "QueueAccountChanged",
    "subscription": "QueueSubscriptionChanged",
}


def events(lines):
    """The events of a stream as (id, name, data), without comments and blank lines."""
    event = {}
    for line in lines:
        if line:
            name, _, value = line.partition(":")
            if name:
                event[name] = value.removeprefix(" ")
        elif event:
            yield event.get("id"), event.get("event"), event.get("data")
            event = {}


def check(store):
    document = strict_openapi(store.openapi("fulfillment"))
    schemas = strict_openapi(store.whole())
    # OpenAPI does not describe the events of a stream, so their schemas come from the AsyncAPI document.
    schemas["components"]["schemas"] |= store.asyncapi()["components"]["schemas"]
    operation = document["paths"]["/v1/queue"]["get"]
    url = store.urls["fulfillment"] + "/v1/queue"
    token = {"Authorization": f"Bearer {store.tokens['accountToken']}"}
    problems = []
    for header in ["", "abc", "-1"]:
        answer = requests.get(
            url, headers=token | {"Last-Event-ID": header}, stream=True, timeout=60
        )
        expected = 400 if header else 200
        if answer.status_code != expected:
            problems.append(f"queue: Last-Event-ID '{header}' is answered {answer.status_code}.")
        answer.close()
    if requests.get(url, timeout=60).status_code != 401:
        problems.append("queue: no token is needed.")
    with requests.get(url, headers=token, stream=True, timeout=60) as answer:
        promised = operation["responses"]["200"]
        if answer.headers["Content-Type"] not in promised["content"]:
            problems.append(f"queue: Content-Type {answer.headers['Content-Type']}")
        for name in promised["headers"]:
            if name not in answer.headers:
                problems.append(f"queue: no header {name}")
        seen = []
        deadline = time.monotonic() + 60
        for id_, name, data in events(answer.iter_lines(decode_unicode=True)):
            value = json.loads(data)
            schema = f"#/components/schemas/{SCHEMAS.get(name)}"
            problems += faults(f"queue: event {name}", validator(schemas, schema), value)
            seen.append(name)
            # The last transaction that was unfinished when the stream was opened.
            if id_ == answer.headers["queue-revision"] or time.monotonic() > deadline:
                break
        if "transaction" not in seen:
            problems.append(f"queue: no transaction was sent, but {seen}")
    told(f"the queue's stream: its head and {len(seen)} events")
    return problems
