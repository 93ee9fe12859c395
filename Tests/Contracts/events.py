"""Checks the headers, the key and the data of every event that crossed the broker during the run."""

import json

from examples import faults, validator
from store import told
from strictness import strict_asyncapi


def check(store):
    document = strict_asyncapi(store.asyncapi())
    channels = document["channels"]
    problems, types = [], {}
    headers = validator(document, "#/components/schemas/EventHeaders")
    for line in store.events.read_text().splitlines():
        event = json.loads(line)
        name = event["headers"].get("ce_type")
        types[name] = types.get(name, 0) + 1
        if name not in channels[event["topic"]]["messages"]:
            problems.append(f"{event['topic']}: {name} is no message of it.")
            continue
        message = document["components"]["messages"][name]
        problems += faults(f"{name}: headers", headers, event["headers"])
        data = validator(document, message["payload"]["$ref"])
        problems += faults(f"{name}: data", data, json.loads(event["data"]))
        key = message["bindings"]["kafka"]["key"] | {"components": document["components"]}
        problems += faults(f"{name}: key", type(data)(key), event["key"])
    told(f"{sum(types.values())} events of {len(types)} types, as they crossed the broker")
    if "transaction.purchased.v1" not in types:
        problems.append(f"No purchase crossed the broker: {types}")
    return problems[:20]
