/// The page on which the buyer of a transaction has to act, as with 3-D Secure.
///
/// Answer of `GET /v1/transactions/{id}/action`, and of the same for a subscription.
/// Only the buyer gets it.
public struct BuyerActionResponse: Codable, Hashable, Sendable {
    /// The address of the page.
    public var url: String
    /// The milliseconds that are left to act.
    ///
    /// The payment then fails as interrupted.
    public var endsIn: Int64

    /// Makes an answer.
    public init(url: String, endsIn: Int64) {
        self.url = url
        self.endsIn = endsIn
    }
}
