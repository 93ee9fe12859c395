/// A higher price for one subscription, which its customer is asked about or informed of (rule S121
/// of docs/subscriptions.md).
public struct PriceIncrease: Codable, Hashable, Sendable {
    /// The change of the catalog, or of a test, that raises the price.
    public var id: PriceChangeID
    /// The product whose price rises.
    public var productID: ProductID
    /// The new price of one period.
    public var price: Money
    /// The time from which on a renewal costs the new price.
    public var effectiveAt: StoreTime
    /// The progress.
    public var status: PriceIncreaseStatus
    /// The time at which the customer was asked or informed; `nil` before.
    public var askedAt: StoreTime?
    /// The milliseconds of notice before the renewal that costs more; `nil` before the increase was
    /// scheduled.
    ///
    /// The increase keeps it, so the time of the notice follows from the subscription alone.
    public var notice: Int64?

    /// Makes an increase.
    public init(
        id: PriceChangeID,
        productID: ProductID,
        price: Money,
        effectiveAt: StoreTime,
        status: PriceIncreaseStatus = .scheduled,
        askedAt: StoreTime? = nil
    ) {
        self.id = id
        self.productID = productID
        self.price = price
        self.effectiveAt = effectiveAt
        self.status = status
        self.askedAt = askedAt
    }
}

// Subscriptions are encoded and decoded without Foundation's coders, with the same bytes.

extension PriceIncrease {
    /// Writes the members in alphabetical order.
    func write(to text: inout PlainJSONText) {
        text.member("askedAt", askedAt)
        text.member("effectiveAt", effectiveAt)
        text.member("id", id.rawValue)
        text.member("notice", notice)
        text.member("price", object: price.write)
        text.member("productID", productID.rawValue)
        text.member("status", status.rawValue)
    }

    /// Reads the members; `nil` if one is missing, wrong, or not in plain form.
    init?(from json: inout PlainJSON) {
        var id: PriceChangeID?
        var productID: ProductID?
        var price: Money?
        var (effectiveAt, askedAt, notice) = (Int64?.none, Int64?.none, Int64?.none)
        var status: String?
        let isRead = json.object { json, name in
            switch name {
            case "id": PlainJSON.keep(json.identifier(), in: &id)
            case "productID": PlainJSON.keep(json.identifier(), in: &productID)
            case "price": PlainJSON.keep(Money(from: &json), in: &price)
            case "effectiveAt": PlainJSON.keep(json.integer(), in: &effectiveAt)
            case "status": PlainJSON.keep(json.string(), in: &status)
            case "askedAt": json.null() || PlainJSON.keep(json.integer(), in: &askedAt)
            case "notice": json.null() || PlainJSON.keep(json.integer(), in: &notice)
            default: json.skip()
            }
        }
        guard isRead, let id, let productID, let price, let effectiveAt, let status else {
            return nil
        }
        self.init(
            id: id,
            productID: productID,
            price: price,
            effectiveAt: StoreTime(millisecondsSinceEpoch: effectiveAt),
            status: PriceIncreaseStatus(rawValue: status),
            askedAt: askedAt.map(StoreTime.init(millisecondsSinceEpoch:))
        )
        self.notice = notice
    }
}
