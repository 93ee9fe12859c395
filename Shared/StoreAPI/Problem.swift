public import EventTypes

/// The body of every error response: `application/problem+json` of RFC 9457, with a stable code for
/// programs.
public struct Problem: Codable, Hashable, Sendable {
    /// The stable code, such as `stale_price` or `product_unknown`.
    public var code: String
    /// A description of the code.
    ///
    /// It is the same for every problem with this code.
    public var title: String
    /// The HTTP status.
    public var status: Int
    /// The error in this particular request, its place, and the remedy.
    public var detail: String
    /// An identifier that finds the failure in the service's log.
    ///
    /// It is set only if the client cannot solve the problem itself.
    public var incident: String?
    /// The current price of the purchase, for `stale_price`.
    public var currentPrice: Money?
    /// The account's current storefront, for `storefront_changed`.
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
