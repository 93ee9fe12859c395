"""Makes a contract stricter than the promise that it gives to clients.

Clients must ignore members and values that they do not know, so the documents allow them. If a store sends
something that its own documents do not name, somebody has forgotten to describe it. So the checks allow
nothing else in answers and events. The schemas of requests stay as they are.
"""

import copy


def close(schema):
    """Makes a schema strict, with everything in it: no other members, no other values."""
    if isinstance(schema, list):
        for entry in schema:
            close(entry)
    elif isinstance(schema, dict):
        values = schema.pop("x-extensible-enum", None)
        if values is not None:
            schema["enum"] = values
        for entry in schema.values():
            close(entry)
        if isinstance(schema.get("properties"), dict) and "type" in schema:
            schema.setdefault("additionalProperties", False)


def references(node):
    """All references in a part of a document."""
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for value in node.values():
            yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


def reachable(document, node):
    """The names of all schemas that a part of a document needs, directly or indirectly."""
    waiting, seen = list(references(node)), set()
    while waiting:
        reference = waiting.pop()
        if reference in seen:
            continue
        seen.add(reference)
        part = document
        for name in reference.removeprefix("#/").split("/"):
            part = part[name.replace("~1", "/").replace("~0", "~")]
        waiting.extend(references(part))
    return {name.rsplit("/", 1)[1] for name in seen if name.startswith("#/components/schemas/")}


def strict_openapi(document):
    """A copy of an OpenAPI document with strict answers."""
    document = copy.deepcopy(document)
    asked = set()
    for item in document["paths"].values():
        for operation in item.values():
            if isinstance(operation, dict):
                asked |= reachable(
                    document, [operation.get("requestBody"), operation.get("parameters")]
                )
    for name, schema in document["components"]["schemas"].items():
        if name not in asked:
            close(schema)
    return document


def strict_asyncapi(document):
    """A copy of an AsyncAPI document with strict events."""
    document = copy.deepcopy(document)
    close(document["components"]["schemas"])
    return document
