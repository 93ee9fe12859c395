/// A product that a buyer owns, with what this server found out about its receipt.
struct OwnedProduct: Sendable, Codable, Equatable {
    var productID: String
    var originalTransactionID: String
    /// The time of the grant, in milliseconds since 1970.
    var grantedAt: Int64
    /// The time of the refund that took it away.
    var revokedAt: Int64?
    /// The end of what a subscription gives.
    var endsAt: Int64?
    /// Whether this server tried to verify its receipt.
    var isTried: Bool?
    /// Whether its receipt was verified; `nil` if that was not tried or `receipts` is away.
    var isVerified: Bool?
    /// The reason why the receipt was refused.
    var refusal: String?
}
