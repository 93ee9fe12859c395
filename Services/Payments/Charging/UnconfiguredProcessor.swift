/// No processor at all: every payment method is refused, and nobody is charged.
///
/// It stands in production, where no processor can be configured yet. Attempts that are found in the
/// database wait: what became of them is not known here.
struct UnconfiguredProcessor: PaymentProcessor {
    func lane(of paymentMethod: String) -> ChargeLane? { nil }

    func refusal(of paymentMethod: String) -> PaymentRefusal? {
        .paymentMethodNotAvailable(paymentMethod)
    }

    func charge(_ requests: [ChargeRequest]) async -> [ChargeOutcome] {
        requests.map { _ in .unavailable }
    }

    func inquire(_ attempts: [AttemptID]) async -> [InquiryOutcome] {
        attempts.map { _ in .unavailable }
    }

    func refund(_ requests: [RefundRequest]) async -> [RefundOutcome] {
        requests.map { _ in .unavailable }
    }
}
