import EventTypes
import Foundation
import Logging
import Messaging
import NIOHTTP1
import Postgres
import ServiceFoundation
import ServiceKit
import ServiceLifecycle
import StoreAPI
import TestSupport

@testable import Catalog

/// A catalog that runs in this process with its own database, and clients for it.
struct CatalogUnderTest: Sendable {
    let database: TestDatabase
    let keys: StoreKeys
    let url: String
    let adminToken: String
    let accountToken: String

    /// Sends a request as the administrator.
    func admin(
        _ method: HTTPMethod,
        _ path: String,
        _ json: String? = nil,
        headers: [(String, String)] = []
    ) async throws -> StoreResponse {
        try await send(method, path, json, token: adminToken, headers: headers)
    }

    /// Sends a request.
    func send(
        _ method: HTTPMethod,
        _ path: String,
        _ json: String? = nil,
        token: String?,
        headers: [(String, String)] = []
    ) async throws -> StoreResponse {
        var headers = headers
        if let token { headers.append(("Authorization", "Bearer \(token)")) }
        if json != nil, !headers.contains(where: { $0.0 == "Content-Type" }) {
            headers.append(("Content-Type", "application/json"))
        }
        return try await StoreHTTP.send(
            method,
            url + path,
            headers: headers,
            body: json.map { Array($0.utf8) }
        )
    }

    /// Asks for products as a buyer.
    func products(
        _ ids: String,
        storefront: String = "USA",
        language: String = "en-US"
    ) async throws -> ProductsResponse {
        let path = "\(Routes.products)?ids=\(ids)&storefront=\(storefront)&language=\(language)"
        return try await send(.GET, path, token: accountToken).decode(ProductsResponse.self)
    }

    /// Creates or changes a product.
    @discardableResult
    func put(
        _ id: ProductID = Builder.premium,
        _ draft: ProductDraft = Builder.draft(),
        headers: [(String, String)] = []
    ) async throws -> StoreResponse {
        let json = String(decoding: try JSONEncoder().encode(draft), as: UTF8.self)
        return try await admin(.PUT, Routes.adminProduct(id), json, headers: headers)
    }

    /// The versions in a product's history, oldest first.
    func history(of id: ProductID = Builder.premium) async throws -> [Int] {
        try await database.withClient { client in
            try await client.withConnection { connection in
                try connection.query(
                    "SELECT version FROM product_versions WHERE product_id = \(id) ORDER BY version"
                ).map { try $0.decode(Int.self) }
            }
        }
    }

    /// The versions of a product in the outbox, in the order of publication.
    func published(of id: ProductID = Builder.premium) async throws -> [Int] {
        try await changes(of: id).map(\.product.version)
    }

    /// The changes of a product in the outbox, in the order of publication.
    func changes(of id: ProductID = Builder.premium) async throws -> [ProductChanged] {
        let events: [[UInt8]] = try await database.withClient { client in
            try await client.withConnection { connection in
                try connection.query(
                    """
                    SELECT unpacked_json(data)::json FROM outbox
                    WHERE key = \(id) ORDER BY xid, position
                    """
                ).map { try $0.decode(PostgresJSON.self).bytes }
            }
        }
        return try events.map { try EventCoding.decode(ProductChanged.self, from: $0) }
    }
}

/// Runs the catalog over a fresh database.
func withCatalog<R: Sendable>(
    kafka: String = "127.0.0.1:1",
    kafkaProperties: [String: String] = [:],
    isMigrated: Bool = true,
    settings: [String: String] = [:],
    _ body: @escaping @Sendable (CatalogUnderTest) async throws -> R
) async throws -> R {
    try await withTestDatabase(migrations: isMigrated ? CatalogMigrations.all : []) { database in
        let keys = try await testKeys.value
        return try await withReplica(
            of: database,
            keys: keys,
            kafka: kafka,
            kafkaProperties: kafkaProperties,
            settings: settings
        ) { catalog in
            if isMigrated { try await waitUntilLoaded(catalog) }
            return try await body(catalog)
        }
    }
}

/// Runs another catalog over the same database.
func withReplica<R: Sendable>(
    of database: TestDatabase,
    at databaseURL: String? = nil,
    keys: StoreKeys,
    kafka: String = "127.0.0.1:1",
    kafkaProperties: [String: String] = [:],
    settings more: [String: String] = [:],
    machineClock: @escaping @Sendable () -> PostgresTimestamp = PostgresClock.machine,
    _ body: @escaping @Sendable (CatalogUnderTest) async throws -> R
) async throws -> R {
    let environment = [
        "HTTP_PORT": "0",
        "DATABASE_URL": databaseURL ?? database.url(role: "counterfoil_catalog"),
        "DATABASE_POOL_SIZE": "3",
        "KAFKA_BOOTSTRAP_SERVERS": kafka,
        "KAFKA_PROPERTIES": kafkaProperties.map { "\($0)=\($1)" }.joined(separator: ","),
        "APP_KEYS_DIRECTORY": keys.apps,
        "ADMIN_KEYS_DIRECTORY": keys.administrators,
        "CATALOG_IMPORT_BYTES_MAX": "65536",
    ]
    var reader = SettingsReader(environment: environment.merging(more) { $1 })
    let settings = CatalogSettings(&reader)
    try reader.check()
    let (ports, port) = AsyncStream.makeStream(of: Int.self)
    let quiet = Logger(label: "catalog") { _ in SwiftLogNoOpLogHandler() }
    let frame = try ServiceFrame(
        .catalog,
        settings.common,
        machineClock: machineClock,
        logger: quiet,
        didListen: { port.yield($0) }
    )
    let composition = composeCatalog(settings, on: frame)
    let group = ServiceGroup(services: composition.services, logger: quiet)
    return try await withThrowingTaskGroup(of: R?.self) { tasks in
        tasks.addTask {
            try await group.run()
            return nil
        }
        tasks.addTask {
            guard let port = await ports.first(where: { _ in true }) else { return nil }
            let catalog = CatalogUnderTest(
                database: database,
                keys: keys,
                url: "http://127.0.0.1:\(port)",
                adminToken: try keys.administratorToken(),
                accountToken: try keys.token(account: AccountID(unchecked: "ada"))
            )
            let result: Result<R, any Error>
            do {
                result = .success(try await body(catalog))
            } catch {
                result = .failure(error)
            }
            await group.triggerGracefulShutdown()
            return try result.get()
        }
        var answer: R?
        for try await result in tasks where result != nil { answer = result }
        guard let answer else { throw HarnessError("The catalog ended before the test.") }
        return answer
    }
}

/// Waits until requests for products are answered.
func waitUntilLoaded(_ catalog: CatalogUnderTest) async throws {
    try await eventually("the catalog to read its products") {
        let response = try await catalog.send(
            .GET,
            Routes.products + "?ids=a&storefront=USA",
            token: catalog.accountToken
        )
        return response.status == 200 ? true : nil
    }
}

/// The keys that all tests share.
private let testKeys = Task {
    try await StoreKeys.create(
        in: FileManager.default.temporaryDirectory
            .appending(path: "counterfoil-catalog-tests-\(UUID().uuidString)").path
    )
}
