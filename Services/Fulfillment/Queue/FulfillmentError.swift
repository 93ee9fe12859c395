/// A failure of `fulfillment` itself.
///
/// Failures of the database and the broker are `PostgresError` and `KafkaError`.
struct FulfillmentError: Error, CustomStringConvertible {
    /// The kinds of failure.
    struct Code: Hashable, Sendable, CustomStringConvertible {
        let description: String
        /// The amount of a credit, times the quantity, is too large for a balance.
        static let creditTooLarge = Code(description: "creditTooLarge")
        /// A row that was read and locked before is missing.
        static let rowMissing = Code(description: "rowMissing")
        /// The signing secret of webhooks is not `whsec_` followed by base64.
        static let secretMalformed = Code(description: "secretMalformed")
    }

    let code: Code
    let message: String

    var description: String { "\(code): \(message)" }

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
