public import EventTypes

/// What every refusal and failure looks like: `application/problem+json` of RFC 9457, with a code
/// that never changes for a program to act on.
public struct Problem: Codable, Hashable, Sendable {
    /// The stable code, such as `stale_price` or `product_unknown`.
    public var code: String
    /// The code in words; the same for every problem of one code.
    public var title: String
    /// The HTTP status.
    public var status: Int
    /// What was wrong in this request, where, and what to do.
    public var detail: String
    /// Finds the failure in the service's log; only where the client can do nothing else.
    public var incident: String?
    /// With `stale_price`: what the purchase costs at present.
    public var currentPrice: Money?
    /// With `storefront_changed`: where the account buys at present.
    public var currentStorefront: Storefront?

    /// Makes a problem.
    public init(
        code: String,
        title: String,
        status: Int,
        detail: String,
        incident: String? = nil,
        currentPrice: Money? = nil,
        currentStorefront: Storefront? = nil
    ) {
        self.code = code
        self.title = title
        self.status = status
        self.detail = detail
        self.incident = incident
        self.currentPrice = currentPrice
        self.currentStorefront = currentStorefront
    }
}
