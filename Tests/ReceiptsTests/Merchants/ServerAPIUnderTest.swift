import EventTypes
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import Postgres
import ServiceKit
import TestSupport
import Testing

@testable import Receipts

/// The App Store Server API over HTTP, with tokens and a database, and helpers for tests.
struct ServerAPIUnderTest: Sendable {
    let receipts: ReceiptsUnderTest
    let client: any TestClientProtocol
    let token: String

    func send(
        _ method: HTTPRequest.Method = .get,
        _ path: String,
        body: String? = nil,
        token: String? = nil
    ) async throws -> (status: Int, body: [String: Any]) {
        let (status, data) = try await client.execute(
            uri: "/inApps/\(path)",
            method: method,
            headers: [.authorization: "Bearer \(token ?? self.token)"],
            body: body.map { ByteBuffer(string: $0) }
        ) { response in
            (Int(response.status.code), Data(Array(buffer: response.body)))
        }
        // A body that is not an object has no members either.
        let members = try? JSONSerialization.jsonObject(with: data) as? [String: Any]
        return (status, members ?? [:])
    }

    /// Returns the number of an error.
    func code(
        _ method: HTTPRequest.Method = .get,
        _ path: String,
        body: String? = nil
    ) async throws -> Int? {
        try await send(method, path, body: body).body["errorCode"] as? Int
    }

    /// Returns all pages, as the ids of their transactions.
    func walk(_ path: String) async throws -> [[String]] {
        var pages: [[String]] = []
        var revision = ""
        var hasMore = true
        while hasMore {
            let mark = path.contains("?") ? "&" : "?"
            let suffix = revision.isEmpty ? "" : "\(mark)revision=\(revision)"
            let answer = try await send(.get, path + suffix)
            #expect(answer.status == 200)
            let signed = answer.body["signedTransactions"] as? [String] ?? []
            pages.append(try signed.map { try Self.payload(of: $0).transactionId.rawValue })
            revision = answer.body["revision"] as? String ?? ""
            hasMore = answer.body["hasMore"] as? Bool ?? false
        }
        return pages
    }

    static func payload(of jws: String) throws -> SignedTransactionPayload {
        let parts = jws.split(separator: ".")
        let bytes = try #require(StrictBase64.decode(parts[1]))
        return try JSONDecoder().decode(SignedTransactionPayload.self, from: Data(bytes))
    }

    func payload(_ id: Int64) async throws -> SignedTransactionPayload {
        let answer = try await send(.get, "v1/transactions/\(id)")
        return try Self.payload(
            of: try #require(answer.body["signedTransactionInfo"] as? String)
        )
    }

    func buy(_ transactions: Transaction...) async throws {
        try await receipts.apply(try transactions.map { try .of(.transactionPurchased, $0) })
    }

    /// Runs a test with the routes over an empty database.
    static func with(
        _ chain: TestChain,
        _ servers: TestServers,
        requestsPerSecond: Int = 1000,
        laterChain: TestChain? = nil,
        storeAhead: Duration = .zero,
        _ body: @escaping @Sendable (ServerAPIUnderTest) async throws -> Void
    ) async throws {
        let migrations = ReceiptsMigrations.all
        let now: @Sendable () -> StoreTime = { TestChain.now.advanced(by: storeAhead) }
        try await withTestDatabase(migrations: migrations) { database in
            try await database.withClient(role: "counterfoil_receipts") { client in
                let signer = ReceiptSigner(
                    chain: try (laterChain ?? chain).signingChain(),
                    environment: .sandbox
                )
                let store = ServerAPIStore()
                let router = try servers.router()
                ServerAPIRoutes(
                    authenticator: try servers.authenticator(requestsPerSecond: requestsPerSecond),
                    reader: ServerAPIReader(
                        store: store,
                        client: client,
                        signer: signer,
                        now: now
                    ),
                    tokens: AppAccountTokenHandler(
                        receipts: ReceiptStore(),
                        store: store,
                        client: client,
                        signer: signer,
                        now: now
                    ),
                    fulfillment: ServerAPIForwarder(
                        to: .fulfillment,
                        baseURL: "http://127.0.0.1:\(try freePort())",
                        timeout: .seconds(2),
                        logger: Logger(label: "test")
                    ),
                    payments: ServerAPIForwarder(
                        to: .payments,
                        baseURL: "http://127.0.0.1:\(try freePort())",
                        timeout: .seconds(2),
                        logger: Logger(label: "test")
                    ),
                    apps: AppRegistry(
                        directory: servers.keysDirectory,
                        now: { TestChain.now.onMachines },
                        logger: Logger(label: "test")
                    ),
                    now: now
                ).add(to: router)
                let receipts = ReceiptsUnderTest(
                    client,
                    chain: try chain.signingChain(),
                    storeAhead: storeAhead
                )
                let responder = router.buildResponder()
                let token = try servers.token()
                try await Application(responder: responder).test(.router) { client in
                    try await body(Self(receipts: receipts, client: client, token: token))
                }
            }
        }
    }
}
