import Contracts
public import EventTypes
import Foundation
public import Logging
public import ServiceKit
import StoreAPI
import Synchronization
import TestSupport

/// The differences between a service's routes and those of its contract.
public struct RouteComparison: Sendable {
    /// Routes of the service that the contract does not name.
    public let unwritten: [String]
    /// Routes of the contract that the service does not answer.
    public let unanswered: [String]
    /// Routes of administrators whose scopes the table and the contract do not name alike.
    public let scopedOtherwise: [String]

    /// Never run, so nobody shuts them down; their HTTP clients ask for that before they go.
    private static let composed = Mutex<[Composition]>([])

    /// Composes a service as its executable does, with real keys, and asks its router.
    ///
    /// - Parameters:
    ///   - service: The service.
    ///   - compose: Its own composition.
    /// - Throws: ``HarnessError`` with the settings that are wrong, if it has no HTTP server.
    public init(
        of service: ServiceName,
        composing compose: (inout SettingsReader, Logger) throws -> Composition
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/keys-\(UUID().uuidString)"
        let keys = try await StoreKeys.create(in: folder)
        defer {
            // A folder left in the temporary directory harms no later test.
            try? FileManager.default.removeItem(atPath: folder)
        }
        guard let owner = StoreService(rawValue: service.rawValue) else {
            throw HarnessError("No service is called \(service).")
        }
        var reader = SettingsReader(environment: keys.settings(of: owner))
        let composition = try compose(
            &reader,
            Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        Self.composed.withLock { $0.append(composition) }
        guard let server = composition.services.compactMap({ $0 as? StoreHTTPServer }).first else {
            throw HarnessError("\(service) has no HTTP server: \(reader.problems)")
        }
        // OpenAPI has no parameter that goes over several parts of a path.
        let routes = Set(server.routes.map { $0.replacing("/**", with: "/{request}") })
        let contract = try Contract.operations(of: service)
        unwritten = routes.subtracting(contract).sorted()
        unanswered = contract.subtracting(routes).sorted()
        let scopes = try Contract.administratorScopes(of: service)
        scopedOtherwise = routes.filter { route in
            let needed = AdministratorAccess.scopes[route].map { Set($0.map(\.rawValue)) }
            // A set that is empty would open the route to nobody.
            return route.contains(" /v1/admin/")
                ? needed?.isEmpty != false || needed != scopes[route]
                : needed != nil || scopes[route] != nil
        }.sorted()
    }
}
