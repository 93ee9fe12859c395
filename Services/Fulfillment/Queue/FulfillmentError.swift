import ServiceKit

/// A failure of fulfillment itself; what the database or the broker report comes as
/// `PostgresError` and `KafkaError`.
struct FulfillmentError: Error, CustomStringConvertible {
    /// The kinds of failure.
    struct Code: Hashable, Sendable, CustomStringConvertible {
        let description: String
        /// The amount of a credit, times the quantity, is more than a balance can hold.
        static let creditTooLarge = Code(description: "creditTooLarge")
        /// The signing secret of webhooks is not `whsec_` and base64.
        static let secretMalformed = Code(description: "secretMalformed")
    }

    let code: Code
    let message: String

    /// No failure of this kind goes away by itself.
    var isRetriable: Bool { false }

    var description: String { "\(code): \(message)" }

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
