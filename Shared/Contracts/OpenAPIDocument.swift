import EventTypes
import Foundation

/// An OpenAPI document: that of all services, assembled from its files, or a part of it.
struct OpenAPIDocument {
    private static let methods: Set<String> = [
        "get", "put", "post", "delete", "options", "head", "patch", "trace",
    ]
    /// The field that names the services of a path.
    private static let services = "x-services"

    private(set) var members: JSONObject

    private var paths: [String: JSONObject] {
        (members["paths"] ?? JSONObject()).objects
    }

    /// Assembles the document of all services.
    init() throws(ContractError) {
        members = try JSONObject(parsing: PackageResources.openapi_json)
        for file in [
            PackageResources.components_json, PackageResources.domain_json,
            PackageResources.schemas_json, PackageResources.server_schemas_json,
        ] {
            try members.merge(JSONObject(parsing: file))
        }
        for file in [
            PackageResources.accounts_json, PackageResources.catalog_json,
            PackageResources.codes_json, PackageResources.families_json,
            PackageResources.subscriptions_json, PackageResources.clock_json,
            PackageResources.testing_json,
            PackageResources.content_json,
            PackageResources.environment_json, PackageResources.every_service_json,
            PackageResources.fulfillment_json, PackageResources.payments_json,
            PackageResources.refund_requests_json, PackageResources.receipts_json,
            PackageResources.server_api_json,
            PackageResources.server_extensions_json, PackageResources.server_finish_json,
        ] {
            var part = try JSONObject(parsing: file)
            let services = part.removeTexts("services")
            var paths = JSONObject()
            for (path, item) in (part["paths"] ?? JSONObject()).objects {
                var item = item
                item.set(Self.services, to: services)
                paths[path] = item
            }
            part["paths"] = paths
            try members.merge(part)
        }
    }

    /// The routes of one service, with exactly the schemas that they need.
    func part(_ service: Contract.Service) -> OpenAPIDocument {
        var part = self
        var kept = JSONObject()
        for (path, item) in paths where item.texts(Self.services).contains(service.rawValue) {
            kept[path] = item
        }
        part.members["paths"] = kept
        part.removeLinksElsewhere()
        part.removeUnusedComponents()
        return part
    }

    /// Each method and path: `GET /v1/products`.
    var operations: Set<String> {
        var operations: Set<String> = []
        for (path, item) in paths {
            for method in item.objects.keys where Self.methods.contains(method) {
                operations.insert("\(method.uppercased()) \(path)")
            }
        }
        return operations
    }

    /// The scopes of each method and path that takes an administrator's token.
    var administratorScopes: [String: Set<String>] {
        var scopes: [String: Set<String>] = [:]
        for (path, item) in paths {
            for (method, operation) in item.objects where Self.methods.contains(method) {
                let schemes = operation.list("security").filter { $0.has("administratorToken") }
                guard !schemes.isEmpty else { continue }
                scopes["\(method.uppercased()) \(path)"] = Set(
                    schemes.flatMap { $0.texts("administratorToken") }
                )
            }
        }
        return scopes
    }

    /// Removes links to operations that are not in this document.
    private mutating func removeLinksElsewhere() {
        var known: Set<String> = []
        members["paths"]?.visit { if let id = $0.text("operationId") { known.insert(id) } }
        members["paths"]?.change { object in
            guard let links = object["links"] else { return }
            let kept = links.objects.filter { _, link in
                link.text("operationId").map(known.contains) ?? true
            }
            object["links"] = kept.isEmpty ? nil : JSONObject(kept)
        }
    }

    /// Removes the components that no path needs, directly or indirectly.
    private mutating func removeUnusedComponents() {
        let components = members["components"] ?? JSONObject()
        var needed: Set<String> = []
        var waiting = (members["paths"] ?? JSONObject()).references
        while let reference = waiting.popFirst() {
            guard needed.insert(reference).inserted else { continue }
            let parts = reference.split(separator: "/").map(String.init)
            guard parts.count == 4, let component = components[parts[2]]?[parts[3]] else {
                continue
            }
            waiting.formUnion(component.references)
        }
        var kept = JSONObject()
        for (kind, named) in components.objects {
            guard kind != "securitySchemes" else {
                kept[kind] = named
                continue
            }
            let used = named.objects.filter { name, _ in
                needed.contains("#/components/\(kind)/\(name)")
            }
            if !used.isEmpty { kept[kind] = JSONObject(used) }
        }
        members["components"] = kept
    }
}
