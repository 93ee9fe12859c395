import EventTypes
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import Messaging
import Postgres
import ServiceKit
import StoreAPI
import TestSupport
import Testing

@testable import Receipts

/// The routes over HTTP, with tokens and a database.
@Suite(.timeLimit(.minutes(10))) struct ReceiptRoutesTests {
    private let chain: SigningChain
    private let keys: TokenKeys

    init() throws {
        chain = try TestChain().signingChain()
        keys = try TokenKeys()
    }

    private func withStore(
        _ body: @escaping @Sendable (any TestClientProtocol) async throws -> Void
    ) async throws {
        try await withTestDatabase(migrations: ReceiptsMigrations.all) { database in
            try await database.withClient(role: "counterfoil_receipts") { client in
                let receipts = ReceiptsUnderTest(client, chain: chain)
                try await receipts.apply([try .of(.transactionPurchased, purchased())])
                let router = storeRouter(
                    authenticator: try keys.authenticator(),
                    readiness: [],
                    logger: Logger(label: "test")
                )
                ReceiptRoutes(
                    reader: ReceiptReader(store: ReceiptStore(), client: client),
                    rootCertificate: chain.rootCertificate
                ).add(to: router)
                try await Application(responder: router.buildResponder()).test(.router, body)
            }
        }
    }

    @Test func theBuyerIsServedTheReceipt() async throws {
        let token = try keys.account("alice")
        try await withStore { [chain] store in
            try await store.execute(
                uri: Routes.receipt(purchased().id),
                method: .get,
                headers: [.authorization: "Bearer \(token)"]
            ) { response in
                #expect(response.status == .ok)
                let body = try JSONDecoder().decode(
                    ReceiptResponse.self,
                    from: Data(Array(buffer: response.body))
                )
                #expect(throws: Never.self) {
                    try ReceiptVerifier(root: chain.rootCertificate)
                        .payload(of: body.signedTransaction)
                }
            }
        }
    }

    @Test func anybodyElseGetsTheAnswerForAnUnknownTransaction() async throws {
        let requests = [
            (try keys.account("mallory"), Routes.receipt(purchased().id)),
            (try keys.account("alice", bundle: "com.other.app"), Routes.receipt(purchased().id)),
            (try keys.account("alice"), Routes.receipt(TransactionID(number: 404))),
            (try keys.account("alice"), "/v1/transactions/-1/receipt"),
            (try keys.account("alice"), "/v1/transactions/9999999999999999999999/receipt"),
            (try keys.account("alice"), "/v1/transactions/abc/receipt"),
        ]
        try await withStore { store in
            var bodies: Set<String> = []
            for (token, path) in requests {
                try await store.execute(
                    uri: path,
                    method: .get,
                    headers: [.authorization: "Bearer \(token)"]
                ) { response in
                    #expect(response.status == .notFound)
                    #expect(response.headers[.contentType] == "application/problem+json")
                    bodies.insert(String(buffer: response.body))
                }
            }
            #expect(bodies.count == 1)
            #expect(bodies.first?.contains("\"code\":\"transaction_unknown\"") == true)
        }
    }

    @Test func anAdministratorIsServedAnyReceiptAndAnAccountIsNot() async throws {
        let administrator = try keys.administrator()
        let account = try keys.account("alice")
        try await withStore { store in
            let path = "\(Routes.adminTransactions)/\(purchased().id)/receipt"
            for (token, status) in [
                (administrator, HTTPResponse.Status.ok), (account, .unauthorized),
            ] {
                try await store.execute(
                    uri: path,
                    method: .get,
                    headers: [.authorization: "Bearer \(token)"]
                ) { response in
                    #expect(response.status == status)
                }
            }
        }
    }

    @Test func theRootCertificateIsServedToBePinned() async throws {
        let token = try keys.account("alice")
        try await withStore { [chain] store in
            try await store.execute(
                uri: Routes.rootCertificate,
                method: .get,
                headers: [.authorization: "Bearer \(token)"]
            ) { response in
                #expect(response.status == .ok)
                #expect(response.headers[.contentType] == "application/pkix-cert")
                #expect(Array(buffer: response.body) == chain.rootCertificate)
            }
        }
    }

    @Test func whileTheDatabaseIsAwayTheAnswerIsToTryAgain() async throws {
        let token = try keys.account("alice")
        let client = PostgresClient(
            settings: PostgresSettings(
                url: "postgresql://127.0.0.1:\(try freePort())/receipts",
                applicationName: "receipts",
                acquireTimeout: .milliseconds(50)
            ),
            logger: Logger(label: "test")
        )
        let router = storeRouter(
            authenticator: try keys.authenticator(),
            readiness: [],
            logger: Logger(label: "test")
        )
        ReceiptRoutes(
            reader: ReceiptReader(store: ReceiptStore(), client: client),
            rootCertificate: chain.rootCertificate
        ).add(to: router)
        try await Application(responder: router.buildResponder()).test(.router) { store in
            try await store.execute(
                uri: Routes.receipt(purchased().id),
                method: .get,
                headers: [.authorization: "Bearer \(token)"]
            ) { response in
                #expect(response.status == .serviceUnavailable)
                #expect(response.headers[.retryAfter] != nil)
            }
        }
    }

    @Test(arguments: [
        Routes.rootCertificate, Routes.receipt(purchased().id),
        "\(Routes.adminTransactions)/\(purchased().id)/receipt",
    ])
    func withoutATokenThereIsNothing(_ path: String) async throws {
        try await withStore { store in
            try await store.execute(uri: path, method: .get) { response in
                #expect(response.status == .unauthorized)
            }
        }
    }
}
