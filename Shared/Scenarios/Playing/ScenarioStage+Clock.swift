import EventTypes
import Foundation
import NIOHTTP1
import PaymentQueue
import StoreAPI

/// The store's clock.
extension ScenarioStage {
    /// The longest wait for charges before the clock goes forward.
    private static let chargePatience = Duration.seconds(5)

    /// Advances the store's clock, and waits until every service follows it.
    func advance(_ span: ClockSpan, isAwaited: Bool) async throws {
        try await waitForCharges()
        let addresses = connection.store.addresses
        let key = UUID().uuidString
        try await connection.wait.until("an earlier advance of the clock to end") { () -> Void? in
            do {
                try await connection.send(
                    .POST,
                    addresses.payments + Routes.adminClockAdvance,
                    by: .administrator,
                    ClockAdvanceRequest(by: span.description),
                    key: key
                )
            } catch let refusal as ScenarioConnection.Refusal
                where refusal.code == "clock_advancing"
            {
                return nil
            }
            return ()
        }
        guard isAwaited else { return }
        // A store with many subscriptions needs a while for a year.
        let clock = try await connection.wait.whileProgressing("the store's clock to be there") {
            let clock = try await connection.send(
                .GET,
                addresses.payments + Routes.adminClock,
                by: .administrator,
                as: ClockResponse.self
            )
            if clock.status == .failed {
                throw StepFailure("the advance failed: \(clock.failure ?? "no reason is known")")
            }
            return (clock.status == .ready ? clock : nil, clock.step)
        }
        try await waitUntilFollowed(clock.step)
    }

    /// Waits for the charges that are on their way, so that a payment is charged at the time at
    /// which it was made.
    ///
    /// A charge that waits for its buyer, or that the processor holds up, is not waited for to its
    /// end.
    private func waitForCharges() async throws {
        let payments = cast.payments.values.filter { $0.id != nil }
        try await connection.wait.upTo(Self.chargePatience) {
            for payment in payments {
                let transaction = try await connection.transaction(of: payment)
                if transaction.state == .purchasing { return false }
            }
            return true
        }
    }

    /// Freezes the store's clock or lets it run, and waits until every service follows it.
    func set(_ clock: ScenarioClock) async throws {
        let path: String
        var body: ClockRunRequest?
        switch clock {
        case .frozen: path = Routes.adminClockFreeze
        case .running(let rate):
            path = Routes.adminClockRun
            body = ClockRunRequest(rate: rate == .one ? nil : rate.description)
        }
        let answer = try await connection.send(
            .POST,
            connection.store.addresses.payments + path,
            by: .administrator,
            body,
            as: ClockResponse.self
        )
        try await waitUntilFollowed(answer.step)
    }

    /// Waits until so much time has passed on the store's clock, while it runs.
    ///
    /// `fulfillment` is asked for the time, so the step works while `payments` is killed.
    func waitUntilPassed(_ span: ClockSpan) async throws {
        let end = try await connection.storeTime().advanced(by: span.duration)
        try await connection.wait.until("\(span) to pass on the store's clock") {
            try await connection.storeTime() >= end ? () : nil
        }
    }

    private func waitUntilFollowed(_ step: Int64) async throws {
        let addresses = connection.store.addresses
        let services = [
            addresses.catalog, addresses.payments, addresses.receipts, addresses.fulfillment,
        ]
        for service in services {
            try await connection.wait.until("\(service) to follow the store's clock") {
                try await connection.send(
                    .GET,
                    service + FollowedClockResponse.path,
                    by: .nobody,
                    as: FollowedClockResponse.self
                ).step >= step ? () : nil
            }
        }
    }
}

extension ScenarioConnection {
    /// The time on the store's clock.
    func storeTime() async throws -> StoreTime {
        try await send(
            .GET,
            store.addresses.fulfillment + FollowedClockResponse.path,
            by: .nobody,
            as: FollowedClockResponse.self
        ).now
    }
}
