import EventTypes
import Foundation
import Hummingbird
import HummingbirdTesting
import Logging
import Postgres
import ReceiptValidation
import ServiceKit
import StoreAPI
import TestSupport

@testable import Receipts

/// App receipts and `verifyReceipt` over a database, and over HTTP.
struct AppReceiptsUnderTest: Sendable {
    let events: ReceiptsUnderTest
    let chain: SigningChain
    let reader: AppReceiptReader

    static let alice = (account: AccountID(unchecked: "alice"), bundle: purchased().bundleID)

    init(
        _ client: PostgresClient,
        chain: SigningChain,
        environment: StoreEnvironment = .sandbox,
        now: StoreTime = TestChain.now
    ) throws {
        self.chain = chain
        events = ReceiptsUnderTest(client, chain: chain, now: now)
        reader = AppReceiptReader(
            client: client,
            signer: try AppReceiptSigner(chain: chain, at: now),
            environment: environment,
            now: { now }
        )
    }

    /// Applies purchases, as the events of `payments` report them.
    func buy(_ transactions: Transaction...) async throws {
        try await events.apply(try transactions.map { try .of(.transactionPurchased, $0) })
    }

    /// Returns alice's receipt as bytes.
    func receipt(_ question: AppReceiptQuestion = AppReceiptQuestion()) async throws -> [UInt8] {
        try await reader.receipt(of: Self.alice, question)
    }

    /// Returns alice's receipt as a device reads it.
    func read(_ question: AppReceiptQuestion = AppReceiptQuestion()) async throws -> AppReceipt {
        try validator().appReceipt(try await receipt(question))
    }

    /// Returns a validator as a device has it.
    func validator(bundleID: String = "com.example.app") -> ReceiptValidator {
        ReceiptValidator(
            ReceiptTrust(
                roots: [chain.rootCertificate],
                bundleID: bundleID,
                environment: reader.environment.ofReceipts
            )
        )
    }

    /// Returns the handler of `verifyReceipt`.
    func handler(
        secrets: SharedSecrets = SharedSecrets(),
        formerRoots: [[UInt8]] = []
    ) -> VerifyReceiptHandler {
        VerifyReceiptHandler(
            reader: reader,
            roots: [chain.rootCertificate] + formerRoots,
            secrets: secrets,
            logger: Logger(label: "test")
        )
    }

    /// Serves the routes.
    func withHTTP(
        keys: TokenKeys,
        secrets: SharedSecrets = SharedSecrets(),
        _ body: @escaping @Sendable (any TestClientProtocol) async throws -> Void
    ) async throws {
        let router = storeRouter(
            authenticator: try keys.authenticator(),
            readiness: [],
            logger: Logger(label: "test")
        )
        AppReceiptRoutes(reader: reader).add(to: router)
        VerifyReceiptRoutes(handler: handler(secrets: secrets)).add(to: router)
        try await Application(responder: router.buildResponder()).test(.router, body)
    }

    /// Runs a test with a database of its own.
    static func with(
        chain: SigningChain,
        environment: StoreEnvironment = .sandbox,
        _ body: @Sendable (AppReceiptsUnderTest) async throws -> Void
    ) async throws {
        try await withTestDatabase(migrations: ReceiptsMigrations.all) { database in
            try await database.withClient(role: "counterfoil_receipts") { client in
                try await body(
                    AppReceiptsUnderTest(client, chain: chain, environment: environment)
                )
            }
        }
    }

    /// Returns an instance whose database is never available.
    static func withoutDatabase(chain: SigningChain) throws -> AppReceiptsUnderTest {
        let client = PostgresClient(
            settings: PostgresSettings(
                url: "postgresql://127.0.0.1:\(try freePort())/receipts",
                applicationName: "receipts",
                acquireTimeout: .milliseconds(50)
            ),
            logger: Logger(label: "test")
        )
        return try AppReceiptsUnderTest(client, chain: chain)
    }
}
