import StoreAPI

/// A processor that refuses every payment method and charges nobody.
///
/// It is used in production, where no processor can be configured yet. Attempts in the database
/// wait, because their outcomes are unknown here.
struct UnconfiguredProcessor: PaymentProcessor {
    func lane(of paymentMethod: PaymentMethod) -> ChargeLane? { nil }

    func refusal(of paymentMethod: PaymentMethod) -> PaymentRefusal? {
        .paymentMethodNotAvailable(paymentMethod)
    }

    func charge(_ requests: [ChargeRequest]) async -> [ChargeOutcome] {
        requests.map { _ in .unavailable }
    }

    func inquire(_ attempts: [AttemptID]) async -> [InquiryOutcome] {
        attempts.map { _ in .unavailable }
    }

    func refund(_ calls: [UndoCall]) async -> [UndoOutcome] {
        calls.map { _ in .unavailable }
    }

    func reverse(_ calls: [UndoCall]) async -> [UndoOutcome] {
        calls.map { _ in .unavailable }
    }
}
