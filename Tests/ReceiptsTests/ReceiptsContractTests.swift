import Contracts
import Foundation
import Logging
import ServiceKit
import Synchronization
import TestSupport
import Testing

@testable import Receipts

@Suite struct ReceiptsContractTests {
    /// Never run, so nobody shuts them down; their HTTP clients ask for that before they go.
    private static let composed = Mutex<[Composition]>([])

    @Test func theContractNamesEveryRouteAndNoOther() async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/keys-\(UUID().uuidString)"
        let keys = try await StoreKeys.create(in: folder)
        defer {
            // A folder left in the temporary directory harms no later test.
            try? FileManager.default.removeItem(atPath: folder)
        }
        var reader = SettingsReader(environment: keys.settings(of: .receipts))
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let composition = try composeReceipts(&reader, logger)
        Self.composed.withLock { $0.append(composition) }
        let server = try #require(
            composition.services.compactMap { $0 as? StoreHTTPServer }.first,
            "\(reader.problems)"
        )
        let contract = try Contract.operations(of: .receipts)
        // OpenAPI has no parameter that goes over several parts of a path.
        let routes = Set(server.routes.map { $0.replacing("/**", with: "/{request}") })
        #expect(routes.subtracting(contract).sorted() == [], "not in the contract")
        #expect(contract.subtracting(routes).sorted() == [], "not in the service")
    }
}
