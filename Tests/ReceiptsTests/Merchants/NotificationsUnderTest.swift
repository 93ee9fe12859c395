import Callbacks
import EventTypes
import Foundation
import Logging
import Postgres
import ReceiptValidation
import StoreAPI
import TestSupport
import Testing

@testable import Receipts

/// `receipts` with a merchant's server that receives notifications, and a clock.
struct NotificationsUnderTest: Sendable {
    static let bundle = BundleID(unchecked: "com.example.app")

    let database: TestDatabase
    let receipts: ReceiptsUnderTest
    let merchant: WebhookReceiver
    let handler: NotificationHandler
    let outgoing: OutgoingNotifications
    let clock: ManualClock
    let chain: SigningChain

    func setEndpoint(_ url: String) async throws {
        try await receipts.client.withTransaction { connection in
            try NotificationStore.save(
                NotificationEndpoint(bundleID: Self.bundle, url: url),
                at: clock.now(),
                on: connection
            )
        }
    }

    /// Sends due notifications until a total number of tries were made.
    func untilSent(_ count: Int) async throws {
        try await eventually("\(count) tries are made") {
            for notification in try await outgoing.take(limit: 100, excluding: []) {
                await outgoing.perform(notification)
            }
            return merchant.deliveries.count >= count ? true : nil
        }
        #expect(merchant.deliveries.count == count)
    }

    /// Returns a validator that trusts this store's root, as devices and servers have it.
    func validator() -> ReceiptValidator {
        ReceiptValidator(
            ReceiptTrust(
                roots: [chain.rootCertificate],
                environment: receipts.handler.notificationWriter.signer.environment.ofReceipts
            )
        )
    }

    /// Returns the notifications that the merchant received, each verified against the store's
    /// root.
    func sent() throws -> [JWSNotification] {
        try merchant.deliveries.map { delivery in
            try validator().verify(
                Self.signedPayload(in: delivery.body),
                as: JWSNotification.self
            )
        }
    }

    /// Returns the signed payload in the body of a notification.
    static func signedPayload(in body: [UInt8]) throws -> String {
        struct Body: Decodable { var signedPayload: String }
        return try JSONDecoder().decode(Body.self, from: Data(body)).signedPayload
    }

    /// Returns the same store, restarted with another key and chain.
    func rotated(to chain: SigningChain) -> NotificationsUnderTest {
        let receipts = ReceiptsUnderTest(
            receipts.client,
            chain: chain,
            environment: receipts.handler.notificationWriter.signer.environment
        )
        return NotificationsUnderTest(
            database: database,
            receipts: receipts,
            merchant: merchant,
            handler: NotificationHandler(
                client: receipts.client,
                writer: receipts.handler.notificationWriter,
                testsPerMinute: 10,
                now: clock.now,
                machineNow: clock.machineNow,
                wake: {}
            ),
            outgoing: OutgoingNotifications(
                client: receipts.client,
                transport: outgoing.transport,
                signer: receipts.handler.notificationWriter.signer,
                lease: outgoing.lease,
                now: clock.now,
                machineNow: clock.machineNow,
                logger: outgoing.logger
            ),
            clock: clock,
            chain: chain
        )
    }

    func transaction(in told: JWSNotification) throws -> SignedTransactionPayload {
        let signed = try #require(told.data?.signedTransactionInfo)
        _ = try validator().verify(signed, as: JWSTransaction.self)
        let part = try #require(signed.split(separator: ".").dropFirst().first)
        let payload = try #require(StrictBase64.decode(part))
        return try JSONDecoder().decode(SignedTransactionPayload.self, from: Data(payload))
    }

    func states() async throws -> [String] {
        try await receipts.client.withConnection { connection in
            try connection.query("SELECT state FROM notifications ORDER BY position").map {
                try $0.decode(String.self)
            }
        }
    }

    func results() async throws -> [String] {
        try await receipts.client.withConnection { connection in
            try connection.query("SELECT result FROM notification_attempts ORDER BY attempt").map {
                try $0.decode(String.self)
            }
        }
    }
}

extension NotificationsUnderTest {
    /// The reader of the statuses that this store answers.
    var statuses: SubscriptionStatusReader {
        SubscriptionStatusReader(
            store: receipts.handler.serverAPI,
            client: receipts.client,
            signer: receipts.handler.signer,
            now: { TestChain.now }
        )
    }
}

func withNotifications(
    in environment: StoreEnvironment = .sandbox,
    timeout: Duration = .seconds(60),
    _ body: @Sendable (NotificationsUnderTest) async throws -> Void
) async throws {
    let chain = try TestChain().signingChain()
    let merchant = try await WebhookReceiver.start()
    try await withTestDatabase(migrations: ReceiptsMigrations.all) { database in
        try await database.withClient(role: "counterfoil_receipts") { client in
            let clock = ManualClock(TestChain.now)
            let receipts = ReceiptsUnderTest(client, chain: chain, environment: environment)
            let store = NotificationsUnderTest(
                database: database,
                receipts: receipts,
                merchant: merchant,
                handler: NotificationHandler(
                    client: client,
                    writer: receipts.handler.notificationWriter,
                    testsPerMinute: 10,
                    now: clock.now,
                    machineNow: clock.machineNow,
                    wake: {}
                ),
                outgoing: OutgoingNotifications(
                    client: client,
                    transport: CallbackTransport(timeout: timeout, confirming: 200..<207),
                    signer: receipts.handler.notificationWriter.signer,
                    lease: .seconds(30),
                    now: clock.now,
                    machineNow: clock.machineNow,
                    logger: Logger(label: "test")
                ),
                clock: clock,
                chain: chain
            )
            let result: Result<Void, any Error>
            do {
                try await store.setEndpoint(merchant.url)
                result = .success(try await body(store))
            } catch {
                result = .failure(error)
            }
            try await store.outgoing.shutDown()
            try result.get()
        }
    }
    await merchant.stop()
}
