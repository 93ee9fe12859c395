import EventTypes
import Foundation
import Logging
import ServiceFoundation
import ServiceKit
import TestSupport
import Testing

@testable import Payments

/// The parts that accept payments, as the service joins them.
@Suite(.timeLimit(.minutes(10))) struct AcceptancePartsTests {
    /// Renewals give way as soon as somebody asks, so the database may even be away.
    @Test func whoeverAsksToBuyCountsAsABuyer() async throws {
        let noKeys =
            FileManager.default.temporaryDirectory.path + "/no-keys-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: noKeys,
            withIntermediateDirectories: true
        )
        defer {
            // An empty folder in the temporary directory harms nobody.
            try? FileManager.default.removeItem(atPath: noKeys)
        }
        let (settings, problems) = PaymentsSettingsTests().read([
            "STORE_ENVIRONMENT": "Sandbox", "DATABASE_WAIT_MAX_MS": "100",
            "APP_KEYS_DIRECTORY": noKeys, "ADMIN_KEYS_DIRECTORY": noKeys,
        ])
        #expect(problems.isEmpty)
        let frame = try ServiceFrame(
            .payments,
            settings.common,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        let products = ProductStore()
        let charging = try ChargingParts(settings, products: products, on: frame)
        let acceptance = try AcceptanceParts(settings, charging, products: products, on: frame)
        let start = ContinuousClock.now
        #expect(!charging.runner.renewals.hasBuyers(at: start))
        // Nobody runs the client, so nothing is accepted.
        await #expect(throws: (any Error).self) {
            _ = try await acceptance.pay(
                PaymentSubmission(account: alice, idempotencyKey: "1", request: request())
            )
        }
        // By the time of the start, because a buyer counts for a second only.
        #expect(charging.runner.renewals.hasBuyers(at: start))
    }
}
