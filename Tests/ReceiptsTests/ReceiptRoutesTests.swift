import Crypto
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
@Suite(.timeLimit(.minutes(2))) struct ReceiptRoutesTests {
    private let chain: SigningChain
    private let keys: TokenKeys

    init() throws {
        chain = try TestChain().signingChain()
        keys = try TokenKeys()
    }

    private func withStore(
        _ body: @escaping @Sendable (any TestClientProtocol) async throws -> Void
    ) async throws {
        try await withTestDatabase(migrations: receiptsMigrations) { database in
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

    @Test func everyoneElseIsToldTheSameAsForATransactionThatDoesNotExist() async throws {
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
            let path = Routes.adminReceipt(purchased().id)
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

    @Test func theAppReceiptHoldsEverythingButFinishedConsumables() async throws {
        try await withTestDatabase(migrations: receiptsMigrations) { database in
            try await database.withClient(role: "counterfoil_receipts") { client in
                let receipts = ReceiptsUnderTest(client, chain: chain)
                let transactions = [
                    purchased(1), purchased(2, type: .nonConsumable),
                    purchased(3), purchased(4, account: "bob"), purchased(5, bundle: "com.other"),
                ]
                try await receipts.apply(
                    try transactions.map { try .of(.transactionPurchased, $0) }
                )
                let reader = ReceiptReader(store: ReceiptStore(), client: client)
                let alice = (account: AccountID(unchecked: "alice"), bundle: purchased().bundleID)
                let whole = try await reader.receipts(of: alice)
                #expect(whole.count == 3)
                #expect(try await reader.receipts(of: alice) == whole, "It is the same twice.")
                let finished = [purchased(1), purchased(2, type: .nonConsumable)]
                try await receipts.apply(try finished.map { try .finished($0, at: TestChain.now) })
                #expect(try await reader.receipts(of: alice) == Array(whole[1...]))
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
        Routes.adminReceipt(purchased().id),
    ])
    func withoutATokenThereIsNothing(_ path: String) async throws {
        try await withStore { store in
            try await store.execute(uri: path, method: .get) { response in
                #expect(response.status == .unauthorized)
            }
        }
    }
}

/// Keys of two apps and an administrator, in directories as the service reads them.
private final class TokenKeys: Sendable {
    private let directory: String
    private let app = P256.Signing.PrivateKey()
    private let admin = P256.Signing.PrivateKey()

    init() throws {
        directory =
            FileManager.default.temporaryDirectory
            .appending(path: "receipts-keys-\(UUID().uuidString)").path()
        for bundle in ["com.example.app", "com.other.app"] {
            try write(app.publicKey.pemRepresentation, "apps/\(bundle)", "test.pem")
        }
        try write(admin.publicKey.pemRepresentation, "admins", "ada.pem")
    }

    deinit {
        // A folder left in the temporary directory harms no later test.
        try? FileManager.default.removeItem(atPath: directory)
    }

    func authenticator() throws -> Authenticator {
        try Authenticator(
            appKeysDirectory: directory + "/apps",
            adminKeysDirectory: directory + "/admins",
            now: { TestChain.now }
        )
    }

    func account(_ account: String, bundle: String = "com.example.app") throws -> String {
        try token(app, kid: "test", issuer: bundle, subject: account, audience: "counterfoil")
    }

    func administrator() throws -> String {
        try token(
            admin,
            kid: "ada",
            issuer: "administrator",
            subject: "ada",
            audience: "counterfoil-admin"
        )
    }

    private func write(_ text: String, _ folder: String, _ name: String) throws {
        let path = "\(directory)/\(folder)"
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true
        )
        try Data(text.utf8).write(to: URL(filePath: "\(path)/\(name)"))
    }

    private func token(
        _ key: P256.Signing.PrivateKey,
        kid: String,
        issuer: String,
        subject: String,
        audience: String
    ) throws -> String {
        let seconds = TestChain.now.millisecondsSinceEpoch / 1000
        let header = "{\"alg\":\"ES256\",\"kid\":\"\(kid)\",\"typ\":\"JWT\"}"
        let claims = """
            {"aud":"\(audience)","exp":\(seconds + 600),"iat":\(seconds),"iss":"\(issuer)",\
            "sub":"\(subject)"}
            """
        let signed = [header, claims].map {
            String(decoding: CompactJWS.base64URL(Array($0.utf8)), as: UTF8.self)
        }.joined(separator: ".")
        let signature = try key.signature(for: Data(signed.utf8)).rawRepresentation
        return signed + "."
            + String(decoding: CompactJWS.base64URL(Array(signature)), as: UTF8.self)
    }
}
