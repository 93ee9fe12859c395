"""Checks the rules for docker-compose.yml and deploy/kubernetes.

Reads docker-compose.yml from standard input, as JSON that Compose itself has written, and the other files
from the folder that is its argument. Prints every finding, and exits with 1 if there is one.
"""

import json
import os
import pathlib
import re
import sys

import jsonschema
import kubernetes_validate
import yaml

ROOT = pathlib.Path(sys.argv[1])
SERVICES = ["catalog", "payments", "receipts", "fulfillment"]
KUBERNETES = "1.37"  # Whose schemas kubernetes-validate brings.
findings = []


def find(place, what):
    findings.append(f"{place}: {what}")


def text(path):
    return (ROOT / path).read_text(encoding="utf-8")


# Facts from other files of the repository


def settings(service):
    """The settings that deploy/env lists, which a tidy test compares with the code."""
    found = re.findall(r"^#?([A-Z][A-Z0-9_]*)=", text(f"deploy/env/{service}.env.example"), re.M)
    return set(found)


def topics():
    """The topics of deploy/kafka/topics.sh, with clean-up policy and number of partitions."""
    script = text("deploy/kafka/topics.sh")
    partitions = int(re.search(r"KAFKA_TOPIC_PARTITIONS:-(\d+)", script)[1])
    found = re.findall(r"^topic (\S+) (\S+)(?: (\d+))?$", script, re.M)
    return {name: (policy, int(count or partitions)) for name, policy, count in found}


def metrics():
    """The names of the metrics on /metrics, derived from the code."""
    names = {"process_cpu_seconds_total", "process_resident_memory_bytes", "process_open_fds",
             "process_start_time_seconds"}
    kinds = {"Counter": ["_total"], "Gauge": [""], "Recorder": ["_bucket", "_sum", "_count"],
             "Timer": ["_seconds_bucket", "_seconds_sum", "_seconds_count"]}
    for folder in ("Shared", "Services"):
        for path in (ROOT / folder).rglob("*.swift"):
            code = path.read_text(encoding="utf-8")
            for kind, argument in re.findall(
                r"\b(Counter|Gauge|Recorder|Timer)\(\s*label: (\"\w+\"|\w+)", code
            ):
                if not argument.startswith('"'):
                    argument = re.search(rf"let {argument} = (\"\w+\")", code)[1]
                for end in kinds[kind]:
                    names.add(argument.strip('"') + end)
    if "outbox_consumer_lag_events" not in names or "event_hop_seconds_bucket" not in names:
        find("deploy/check/manifests.py", "no longer finds metrics in the code")
    return names


# Rules for every container


def check_image(place, image):
    tag = re.search(r"[:@]([\w.:-]+)$", image)
    if not tag or tag[1] == "latest":
        find(place, f"the image {image} is not pinned")


def check_environment(place, image, names, values):
    """Finds settings that nothing reads, and secrets in the environment."""
    product = re.fullmatch(r"(?:.*/)?counterfoil/(\w+):.*", image)
    name = product[1] if product else ""
    if name in SERVICES + ["console"]:
        for key in sorted(set(names) - settings(name)):
            find(place, f"sets {key}, which {name} does not read")
        for key in sorted(names):
            if f"{key}_FILE" in settings(name):
                find(place, f"sets {key}; put it in a file, and set {key}_FILE")
    if name == "console" and str(values.get("CONSOLE_READ_ONLY")).lower() != "true":
        find(place, "lets people act, although nobody has said so: its CONSOLE_READ_ONLY is not true")
    if name == "tools":
        # Variables PG… belong to libpq, and the scripts of some steps read a few more.
        known = settings("operator") | set(re.findall(r"\$\{([A-Z_]+)", text("deploy/compose/secrets")))
        for key in sorted(each for each in set(names) - known if not each.startswith("PG")):
            find(place, f"sets {key}, which counterfoil does not read")
    for key, value in values.items():
        if re.search(r"PASSWORD|SECRET|TOKEN|PRIVATE", key) and not re.search(r"_FILE$", key):
            if not re.search(r"DISABLE|ENABLED", key):
                find(place, f"sets {key}, which is a secret")
        if re.search(r"://[^/@\s]+:[^/@\s]+@", str(value or "")):
            find(place, f"has a password in {key}")


def check_compose():
    document = json.load(sys.stdin)
    for name, service in document["services"].items():
        place = f"docker-compose.yml: {name}"
        check_image(place, service["image"])
        if not service.get("read_only"):
            find(place, "its root file system can be written")
        if service.get("cap_drop") != ["ALL"] or service.get("cap_add"):
            find(place, "has capabilities")
        if "no-new-privileges:true" not in service.get("security_opt", []):
            find(place, "may gain privileges")
        if service.get("privileged") or str(service.get("user", "")).split(":")[0] in ("0", "root"):
            find(place, "runs as root")
        if service["image"].split(":")[0] in ("postgres", "nginx") and not service.get("user"):
            find(place, "runs as root, which is this image's default")
        if not service.get("mem_limit"):
            find(place, "has no memory limit")
        if service.get("memswap_limit") != service.get("mem_limit"):
            find(place, "may swap: its memswap_limit is not its mem_limit")
        if not service.get("pids_limit"):
            find(place, "has no limit of processes and threads")
        if not service.get("init"):
            find(place, "has no init, so an orphan becomes its process 1's child")
        log = service.get("logging") or {}
        if log.get("driver") != "json-file" or not {"max-size", "max-file"} <= set(log.get("options") or {}):
            find(place, "has a log without a limit")
        # In a public registry the names of our images belong to somebody else.
        wanted = "build" if service.get("build") else "never"
        if service["image"].startswith("counterfoil/") and service.get("pull_policy") != wanted:
            find(place, f"may ask a registry for {service['image']}: its pull_policy is not {wanted}")
        if name in ("front", "storefront"):
            check_reach(place, name, document["services"])
        is_step = service.get("restart") == "no"
        health = service.get("healthcheck") or {}
        if not is_step and not health.get("test"):
            find(place, "has no health check")
        if not is_step and not service.get("stop_grace_period"):
            find(place, "has no time to stop in")
        environment = service.get("environment") or {}
        check_environment(place, service["image"], environment, environment)
        for port in service.get("ports", []):
            if port.get("host_ip") != "127.0.0.1":
                find(place, f"port {port.get('published')} is open to the network")
        for volume in service.get("volumes", []):
            if volume["type"] == "bind" and not pathlib.Path(volume["source"]).exists():
                find(place, f"mounts {volume['source']}, which is not there")
    return len(document["services"])


def check_reach(place, stranger, services):
    """Checks that what strangers reach has no network in common with the databases, the broker and the operators' pages."""
    own = set(services[stranger].get("networks") or {"default": None})
    for name in ("postgres", "kafka", "console", "prometheus", "grafana", "operator"):
        shared = own & set((services.get(name) or {"networks": {}}).get("networks") or {})
        if shared:
            find(place, f"is reached by strangers, and reaches {name} in the network {', '.join(sorted(shared))}")


# Kubernetes


def resources(folder):
    """Every document that `kubectl apply -k` would send, with the path of its file."""
    kustomization = yaml.safe_load(text(f"{folder}/kustomization.yaml"))
    found = []
    for entry in kustomization.get("resources", []):
        path = os.path.normpath(f"{folder}/{entry}")
        if (ROOT / path).is_dir():
            found += resources(path)
        else:
            found += [(path, each) for each in yaml.safe_load_all(text(path)) if each]
    for generator in kustomization.get("configMapGenerator", []):
        data = {}
        for entry in generator["files"]:
            data[pathlib.Path(entry).name] = text(f"{folder}/{entry}")
        found.append((f"{folder}/kustomization.yaml", {
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": generator["name"]}, "data": data,
        }))
    listed = {os.path.basename(each) for each in kustomization.get("resources", [])}
    for path in sorted((ROOT / folder).glob("*.yaml")):
        if folder == "deploy/kubernetes" and path.name not in listed | {
            "kustomization.yaml", "secrets.example.yaml"
        }:
            find(f"{folder}/{path.name}", "is not in the kustomization")
    return found


def definitions():
    """The schemas of custom resources in the folder CRDS, by API version and kind.

    Unknown members are refused. A cluster would drop them silently.
    """
    schemas = {}
    for path in sorted(pathlib.Path(os.environ.get("CRDS") or "/nowhere").glob("*.yaml")):
        for document in yaml.safe_load_all(path.read_text(encoding="utf-8")):
            if not document or document.get("kind") != "CustomResourceDefinition":
                continue
            spec = document["spec"]
            for version in spec["versions"]:
                schema = strict(version["schema"]["openAPIV3Schema"], is_root=True)
                schemas[f"{spec['group']}/{version['name']} {spec['names']['kind']}"] = schema
    return schemas


def strict(schema, is_root=False):
    if not isinstance(schema, dict):
        return schema
    schema = {key: value for key, value in schema.items() if key != "format"}
    if schema.pop("x-kubernetes-int-or-string", False):
        return {"type": ["integer", "string"]}
    if "properties" in schema:
        schema["properties"] = {key: strict(each) for key, each in schema["properties"].items()}
        if is_root:
            for key in ("apiVersion", "kind", "metadata"):
                schema["properties"][key] = {}
        if not schema.get("x-kubernetes-preserve-unknown-fields"):
            schema.setdefault("additionalProperties", False)
    for key in ("items", "additionalProperties"):
        if key in schema:
            schema[key] = strict(schema[key])
    return schema


def check_schema(place, document, custom):
    kind = f"{document['apiVersion']} {document['kind']}"
    if kind in custom:
        for error in jsonschema.Draft4Validator(custom[kind]).iter_errors(document):
            find(place, f"{'/'.join(map(str, error.path))}: {error.message[:300]}")
        return True
    try:
        kubernetes_validate.validate(document, KUBERNETES, strict=True)
        return True
    except kubernetes_validate.SchemaNotFoundError:
        if re.search(r"(^|[.])k8s[.]io/|^v1 |^(apps|batch|policy|autoscaling)/", kind):
            find(place, f"Kubernetes {KUBERNETES} knows no {kind}")
        return False
    except kubernetes_validate.ValidationError as error:
        find(place, f"{'/'.join(map(str, error.path))}: {error.message[:300]}")
        return True


def check_pod(place, kind, pod, config_maps):
    spec = pod["spec"]
    labels = pod["metadata"]["labels"]
    if labels.get("app.kubernetes.io/part-of") != "counterfoil" or "counterfoil/role" not in labels:
        find(place, "its pods have not the labels that network policies ask for")
    context = spec.get("securityContext", {})
    if not context.get("runAsNonRoot") or not context.get("runAsUser"):
        find(place, "may run as root")
    if context.get("seccompProfile", {}).get("type") != "RuntimeDefault":
        find(place, "has no seccomp profile")
    if spec.get("automountServiceAccountToken") is not False:
        find(place, "has a token of the cluster")
    for container in spec.get("initContainers", []) + spec["containers"]:
        where = f"{place}: {container['name']}"
        check_image(where, container["image"])
        security = container.get("securityContext", {})
        if not security.get("readOnlyRootFilesystem"):
            find(where, "its root file system can be written")
        if security.get("capabilities", {}).get("drop") != ["ALL"]:
            find(where, "has capabilities")
        if security.get("allowPrivilegeEscalation") is not False or security.get("privileged"):
            find(where, "may gain privileges")
        if "memory" not in container.get("resources", {}).get("limits", {}):
            find(where, "has no memory limit")
        values = {each["name"]: each.get("value") for each in container.get("env", [])}
        for each in container.get("env", []):
            if "secretKeyRef" in each.get("valueFrom", {}):
                find(where, f"has the secret {each['name']} in its environment; mount it as a file")
        names = set(values)
        for source in container.get("envFrom", []):
            if "secretRef" in source:
                find(where, "has secrets in its environment; mount them as files")
            else:
                names |= set(config_maps.get(source["configMapRef"]["name"], {}))
        check_environment(where, container["image"], names, values)
        if kind == "Deployment" and labels.get("counterfoil/role") != "operator":
            for probe in ("readinessProbe", "livenessProbe"):
                if probe not in container:
                    find(where, f"has no {probe}")
        mounted = {each["name"] for each in container.get("volumeMounts", [])}
        for missing in sorted(mounted - {each["name"] for each in spec.get("volumes", [])}):
            find(where, f"mounts {missing}, which is no volume")


def selects(selector, labels):
    """Whether a selector of pods selects one with these labels."""
    pairs = list(selector.get("matchLabels", {}).items())
    named = [each for each in selector.get("matchExpressions", []) if each["operator"] == "In"]
    return (all(labels.get(key) == value for key, value in pairs)
            and all(labels.get(each["key"]) in each["values"] for each in named)
            and len(named) == len(selector.get("matchExpressions", [])))


def check_policies(place, pod, policies):
    """Checks that a pod may do nothing by itself, and that policies of its own open what it listens on and needs."""
    mine = [each["spec"] for each in policies if selects(each["spec"]["podSelector"], pod["metadata"]["labels"])]
    if not any(set(each["policyTypes"]) == {"Ingress", "Egress"} and not each.get("ingress") and not each.get("egress")
               for each in mine):
        find(place, "may connect to anybody and be reached by anybody: no network policy forbids it first")
    own = [each for each in mine if each["podSelector"] != {"matchLabels": {"app.kubernetes.io/part-of": "counterfoil"}}]
    inward = [rule for each in own for rule in each.get("ingress", [])]
    outward = [rule for each in own for rule in each.get("egress", [])]
    if not outward:
        find(place, "can reach nothing: no network policy of its role has egress")
    if not all(rule.get("from") and rule.get("ports") for rule in inward):
        find(place, "has a network policy that lets in everybody, or to every port")
    if not all(rule.get("to") and rule.get("ports") for rule in outward):
        find(place, "has a network policy that lets it out to everybody, or to every port")
    reached = {port["port"] for rule in inward for port in rule.get("ports", [])}
    for container in pod["spec"]["containers"]:
        for port in container.get("ports", []):
            if port["containerPort"] not in reached:
                find(place, f"listens on {port['containerPort']}, which no network policy opens")


def referenced(pod):
    """The secrets and configuration maps that a pod mounts or reads, as (kind, name)."""
    for volume in pod["spec"].get("volumes", []):
        for source in [volume] + volume.get("projected", {}).get("sources", []):
            if "secret" in source:
                yield "Secret", source["secret"].get("secretName") or source["secret"]["name"]
            if "configMap" in source:
                yield "ConfigMap", source["configMap"]["name"]
    for container in pod["spec"]["containers"]:
        for source in container.get("envFrom", []):
            yield "ConfigMap", source["configMapRef"]["name"]


def check_kubernetes():
    documents = resources("deploy/kubernetes") + resources("deploy/kubernetes/shop")
    example = "deploy/kubernetes/secrets.example.yaml"
    examples = [(example, each) for each in yaml.safe_load_all(text(example)) if each]
    custom = definitions()
    unknown = sorted({
        f"{each['apiVersion']} {each['kind']}" for path, each in documents + examples
        if not check_schema(f"{path}: {each['metadata']['name']}", each, custom)
    })
    config_maps = {
        each["metadata"]["name"]: each.get("data", {})
        for _, each in documents if each["kind"] == "ConfigMap"
    }
    # The operators of the database and of the broker make these.
    there = {("Secret", name) for name in (
        "postgres-superuser", "postgres-ca", "kafka-cluster-ca-cert", "front-tls")}
    there |= {(each["kind"], each["metadata"]["name"]) for _, each in documents + examples}

    def named(kind):
        return {each["metadata"]["name"] for _, each in documents if each["kind"] == kind}

    for path, each in documents:
        if each["kind"] not in ("Deployment", "Job", "CronJob"):
            continue
        place = f"{path}: {each['metadata']['name']}"
        job = each["spec"]["jobTemplate"] if each["kind"] == "CronJob" else each
        pod = job["spec"]["template"]
        check_pod(place, each["kind"], pod, config_maps)
        check_policies(place, pod, [other for _, other in documents if other["kind"] == "NetworkPolicy"])
        for missing in sorted(set(referenced(pod)) - there):
            find(place, f"needs the {missing[0]} {missing[1]}, which {example} does not show")
        # The operator's pod accepts no connections, and the console and the shop have their sessions in memory.
        role = pod["metadata"]["labels"].get("counterfoil/role")
        if each["kind"] == "Deployment" and role not in ("operator", "console", "shop"):
            name = each["metadata"]["name"]
            if name not in named("PodDisruptionBudget"):
                find(place, "has no PodDisruptionBudget")
            if name in SERVICES and name not in named("HorizontalPodAutoscaler"):
                find(place, "has no HorizontalPodAutoscaler")
            if each["spec"]["replicas"] < 2:
                find(place, "has one replica")
    for key in sorted(set(config_maps["settings"]) - set.intersection(*map(settings, SERVICES))):
        find("deploy/kubernetes/settings.yaml", f"sets {key}, which not every service reads")
    check_kafka(documents)
    return len(documents), unknown


def check_kafka(documents):
    wanted = topics()
    place = "deploy/kubernetes/kafka-topics.yaml"
    made = {}
    for _, each in documents:
        if each["kind"] == "KafkaTopic":
            name, spec = each["metadata"]["name"], each["spec"]
            made[name] = (spec["config"].get("cleanup.policy"), spec["partitions"])
            kept = [spec["config"].get("retention.ms"), spec["config"].get("retention.bytes")]
            if kept != [-1, -1]:
                find(place, f"{name} drops what is old; topics.sh does not")
            safe = (spec["replicas"], spec["config"].get("min.insync.replicas"))
            if safe != (3, 2):
                find(place, f"{name} has not 3 copies, 2 in sync")
        if each["kind"] == "KafkaUser":
            for acl in each["spec"]["authorization"]["acls"]:
                resource = acl["resource"]
                known = wanted if resource["type"] == "topic" else SERVICES + ["counterfoil", "fulfillment.delayed"]
                if resource["name"] not in known:
                    find("deploy/kubernetes/kafka-users.yaml", f"knows no {resource['name']}")
    if made != wanted:
        differing = sorted(set(made.items()) ^ set(wanted.items()))
        find(place, f"its topics are not those of topics.sh: {differing}")


# The proxy


def check_front():
    """Checks that each of the proxy's own errors is a problem document with that status."""
    place = "deploy/front/default.conf.template"
    template = text(place)
    table = re.search(r"map \$status \$problem \{\n(.*?)\n\}", template, re.S)
    problems = {}
    for key, document in re.findall(r"^\s*(\w+) '(.*)';$", table[1] if table else "", re.M):
        problem = json.loads(document.replace("$status", "500"))
        if set(problem) != {"code", "title", "status", "detail"}:
            find(place, f"the problem of {key} has not the members of a problem")
        if str(problem["status"]) != key.replace("default", "500"):
            find(place, f"the problem of {key} has the status {problem['status']}")
        problems[key] = problem
    listed = set()
    for codes, answer in re.findall(r"error_page ((?:\d+ )+)(?:=(\d+) )?(?:@problem|/problem);", template):
        listed |= {answer} if answer else set(codes.split())
    # The status 500 has the default document.
    for status in sorted((listed - {"500"}) ^ (set(problems) - {"default"})):
        find(place, f"the error {status} has no problem, or the problem {status} no error")
    # A variable that is not set stays in the file, and nginx does not start.
    for name in sorted(set(re.findall(r"\$\{(\w+)\}", template))):
        for path in ("docker-compose.yml", "deploy/kubernetes/front.yaml"):
            if not re.search(rf"^[^#]*\b{name}\b", text(path), re.M):
                find(path, f"does not set {name}, which {place} has")
    check_secrets_of_front(place, template)
    check_streams_of_front(place, template)
    return len(problems)


def check_secrets_of_front(place, template):
    """Checks that no log has a query: that of the page for codes has the ticket that signs a buyer in."""
    log = re.search(r"log_format store '([^']*)';", template)
    if not log or re.search(r"\$(request(?!_method|_time)\w*|args|query_string|http_referer)\b", log[1]):
        find(place, "the access log may have a query, which may be a ticket")
    redeem = re.search(r"location = /redeem \{(.*?)\n    \}", template, re.S)
    if not redeem or not re.search(r"^\s*error_log /dev/null crit;$", redeem[1], re.M):
        find(place, "the log of errors would have the tickets of /redeem")
    if not re.search(r"^\s*proxy_set_header X-Forwarded-For \$remote_addr;$", template, re.M) or "proxy_set_header" in (redeem[1] if redeem else ""):
        find(place, "a client could name its own address, by which payments counts unknown codes")


def check_streams_of_front(place, template):
    """Checks that events of a queue are passed on as they come, and that a quiet stream is not cut."""
    queue = re.search(r"location = /v1/queue \{(.*?)\n    \}", template, re.S)
    lines = {} if not queue else dict(re.findall(r"^\s*(\w+) (\S+);$", queue[1], re.M))
    if lines.get("proxy_buffering") != "off":
        find(place, "holds back the events of /v1/queue: its proxy_buffering is not off")
    hours = re.fullmatch(r"(\d+)h", lines.get("proxy_read_timeout", ""))
    if not hours or int(hours[1]) < 1:
        find(place, "cuts the streams of /v1/queue: its proxy_read_timeout is not an hour or more")
    content = re.search(r"location ~ /content\S+ \{(.*?)\n    \}", template, re.S)
    for line in ("proxy_request_buffering off;", "proxy_buffering off;"):
        if not content or not re.search(rf"^\s*{line}$", content[1], re.M):
            find(place, f"keeps whole contents on their way: they have no {line.rstrip(';')}")


# The check


def check_monitoring():
    known = metrics()
    expressions = []
    for panel in json.loads(text("deploy/monitoring/grafana/store.json"))["panels"]:
        for target in panel["targets"]:
            expressions.append((f"grafana/store.json: {panel['title']}", target["expr"]))
    groups = yaml.safe_load(text("deploy/monitoring/alerts.yml"))["groups"]
    if yaml.safe_load(text("deploy/kubernetes/alerts.yaml"))["spec"]["groups"] != groups:
        find("deploy/kubernetes/alerts.yaml", "has other alarms than deploy/monitoring/alerts.yml")
    for group in groups:
        for rule in group["rules"]:
            expressions.append((f"alerts.yml: {rule['alert']}", rule["expr"]))
    adapter = yaml.safe_load(text("deploy/monitoring/prometheus-adapter-values.yaml"))
    for rule in adapter["rules"]["external"]:
        expressions.append(("prometheus-adapter-values.yaml", rule["seriesQuery"]))
    scraped = {
        each["job_name"] for each in yaml.safe_load(text("deploy/monitoring/prometheus.yml"))["scrape_configs"]
    }
    if scraped != set(SERVICES + ["console"]):
        find("deploy/monitoring/prometheus.yml", "does not collect from every service and from the console")
    check_scraping()
    for place, expression in expressions:
        used = set(re.findall(r"\b([a-z]+(?:_[a-z0-9]+)+)\b(?=\s*[{\[)<>]|\s*$|\s+[<>])", expression))
        # A name of one word could be that of a function or a label, so only known ones count.
        used |= {name for name in known if "_" not in name and re.search(rf"\b{name}\b", expression)}
        for name in sorted(used - known - {"histogram_quantile", "max_over_time"}):
            find(f"deploy/monitoring/{place}", f"asks for {name}, which nothing measures")
        if not used & known:
            find(f"deploy/monitoring/{place}", "asks for no metric of the store")
    return len(expressions)


def check_scraping():
    """Checks that Prometheus may reach the pods that it collects from, and that these are all with metrics."""
    monitor = yaml.safe_load(text("deploy/kubernetes/monitoring.yaml"))
    collected = {role for each in monitor["spec"]["selector"]["matchExpressions"] for role in each["values"]}
    reached = set()
    for policy in yaml.safe_load_all(text("deploy/kubernetes/network-policies.yaml")):
        peers = [peer for rule in policy["spec"].get("ingress", []) for peer in rule.get("from", [])]
        if {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}} in [
            peer.get("namespaceSelector") for peer in peers
        ]:
            reached.add(policy["spec"]["podSelector"].get("matchLabels", {}).get("counterfoil/role"))
    for place, roles in [("monitoring.yaml", collected), ("network-policies.yaml", reached - {None})]:
        if roles != {"service", "console"}:
            find(f"deploy/kubernetes/{place}", f"lets Prometheus collect from {sorted(roles)}")


try:
    composed = check_compose()
    documents, unknown = check_kubernetes()
    problems = check_front()
    expressions = check_monitoring()
except yaml.YAMLError as error:
    sys.exit(f"manifests: a file is no YAML: {error}")
for finding in findings:
    print(finding)
print(
    f"manifests: {composed} containers of docker-compose.yml, {documents} resources for Kubernetes "
    f"{KUBERNETES}, {problems} problems of the proxy, {expressions} expressions of dashboard and alarms: "
    + (f"{len(findings)} findings" if findings else "all right")
)
if unknown:
    print(f"manifests: by their rules here alone, without a schema: {', '.join(unknown)}")
sys.exit(1 if findings else 0)
