import EventTypes
import StoreAPI

/// The terms of a code, as a person is shown and confirms it.
struct CodeTerms: Codable, Hashable, Sendable {
    var product: ProductID
    /// The offers.
    var grant: OfferGrant
    /// The ordinary price, at which the subscription renews afterwards.
    var ordinary: Money
    /// A random text that tells one showing of the page from the next.
    var page = RedemptionTicket.secret()

    init(product: ProductID, grant: OfferGrant, ordinary: Money) {
        self.product = product
        self.grant = grant
        self.ordinary = ordinary
    }

    /// Reads the terms that a form has sent back; `nil` if they are none.
    ///
    /// The payment is refused unless they are what the account gets.
    init?(_ mark: String) {
        guard mark.utf8.count <= 4096 else { return nil }
        self.init(json: Array(mark.utf8))
    }

    /// The terms as a form sends them back.
    var mark: String { String(decoding: json, as: UTF8.self) }
}

// Each redemption reads a mark, so Foundation's coders are not used. A mark has ASCII only, because ids do.

extension CodeTerms: PlainJSONCodable {
    func write(to text: inout PlainJSONText) {
        text.member("grant", object: grant.write)
        text.member("ordinary", object: ordinary.write)
        text.member("page", page)
        text.member("product", product.rawValue)
    }

    init?(from json: inout PlainJSON) {
        var product: ProductID?
        var grant: OfferGrant?
        var ordinary: Money?
        var page: String?
        let isRead = json.object { json, name in
            switch name {
            case "grant": PlainJSON.keep(OfferGrant(from: &json), in: &grant)
            case "ordinary": PlainJSON.keep(Money(from: &json), in: &ordinary)
            case "page": PlainJSON.keep(json.string(), in: &page)
            case "product": PlainJSON.keep(json.identifier(), in: &product)
            default: json.skip()
            }
        }
        guard isRead, let product, let grant, let ordinary, let page else { return nil }
        self.init(product: product, grant: grant, ordinary: ordinary)
        self.page = page
    }
}

extension OfferGrant {
    fileprivate func write(to text: inout PlainJSONText) {
        text.member("beginsLater", beginsLater)
        if let first { text.member("first", object: first.write) }
        if let later { text.member("later", object: later.write) }
    }

    fileprivate init?(from json: inout PlainJSON) {
        var (first, later) = (PeriodOffer?.none, PeriodOffer?.none)
        var beginsLater: Bool?
        let isRead = json.object { json, name in
            switch name {
            case "beginsLater": PlainJSON.keep(json.bool(), in: &beginsLater)
            case "first": json.null() || PlainJSON.keep(PeriodOffer(from: &json), in: &first)
            case "later": json.null() || PlainJSON.keep(PeriodOffer(from: &json), in: &later)
            default: json.skip()
            }
        }
        guard isRead, let beginsLater else { return nil }
        self.init(first: first, later: later, beginsLater: beginsLater)
    }
}

extension OfferListing {
    /// The terms of a period's offer.
    init(of offer: PeriodOffer) {
        self.init(
            mode: offer.mode,
            period: offer.period,
            numberOfPeriods: offer.numberOfPeriods,
            price: offer.price
        )
    }
}
