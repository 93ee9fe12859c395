"""Checks that documents are valid and equal in all services, and that each reference resolves."""

from faststream.specification.asyncapi.v3_0_0.schema import ApplicationSchema
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator
from pydantic import ValidationError

from store import SERVICES, told
from strictness import reachable

METHODS = {"get", "put", "post", "delete", "options", "head", "patch", "trace"}


def check(store):
    problems = []
    count = 0
    for service in [*SERVICES, None]:
        document = store.openapi(service) if service else store.whole()
        name = service or "the store"
        problems += [
            f"OpenAPI of {name}: {error.json_path}: {error.message}"
            for error in OpenAPIV31SpecValidator(document).iter_errors()
        ]
        operations = [
            (path, method)
            for path, item in document["paths"].items()
            for method in item
            if method in METHODS
        ]
        count = len(operations)
        told(f"OpenAPI 3.1 of {name}: {len(document['paths'])} paths, {count} operations")
    documents = {str(store.get(service, "/openapi/store.json").json()) for service in SERVICES}
    if len(documents) != 1:
        problems.append("The services do not serve the same document of the store.")
    return problems + asyncapi(store)


def asyncapi(store):
    document = store.asyncapi()
    problems = []
    try:
        ApplicationSchema.model_validate(document)
    except ValidationError as error:
        problems += [f"AsyncAPI: {entry['loc']}: {entry['msg']}" for entry in error.errors()]
    if not document["asyncapi"].startswith("3."):
        problems.append(f"AsyncAPI: version {document['asyncapi']}")
    for name, schema in document["components"]["schemas"].items():
        problems += [
            f"AsyncAPI: schema {name}: {error.message}"
            for error in Draft202012Validator(Draft202012Validator.META_SCHEMA).iter_errors(schema)
        ]
    needed = reachable(document, [document["channels"], document["operations"]])
    for name in sorted(set(document["components"]["schemas"]) - needed):
        problems.append(f"AsyncAPI: no message needs schema {name}.")
    told(
        f"AsyncAPI 3: {len(document['channels'])} channels, "
        f"{len(document['components']['messages'])} messages"
    )
    return problems
