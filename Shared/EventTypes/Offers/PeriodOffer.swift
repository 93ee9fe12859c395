/// The offer at which a period of a subscription is paid.
///
/// It is a copy of the catalog's terms, so that a change of the catalog changes no subscription.
public struct PeriodOffer: Codable, Hashable, Sendable {
    /// The kind of the offer.
    public var type: OfferType
    /// The id of the offer; `nil` for an introductory one.
    public var id: OfferID?
    /// The way in which it is paid.
    public var mode: OfferMode
    /// The length of one of its periods (rule S42).
    public var period: SubscriptionPeriod
    /// The number of its periods.
    public var numberOfPeriods: Int
    /// The number of this period among them, from 1 (rule S43).
    public var number: Int
    /// The price of one of its periods.
    public var price: Money
    /// The effect of a code's offer on the introductory one, or that this is an introductory offer once
    /// more; `nil` for every other offer, and if the account could not have the introductory one.
    public var introductory: IntroductoryUse?

    /// Makes an offer.
    public init(
        type: OfferType,
        id: OfferID? = nil,
        mode: OfferMode,
        period: SubscriptionPeriod,
        numberOfPeriods: Int = 1,
        number: Int = 1,
        price: Money,
        introductory: IntroductoryUse? = nil
    ) {
        self.type = type
        self.id = id
        self.mode = mode
        self.period = period
        self.numberOfPeriods = numberOfPeriods
        self.number = number
        self.price = price
        self.introductory = introductory
    }

    /// The offer of the next period; `nil` if this is the last one.
    public var next: PeriodOffer? {
        guard number < numberOfPeriods else { return nil }
        var next = self
        next.number += 1
        return next
    }
}

// Transaction events are encoded and decoded without Foundation's coders, with the same bytes.

extension PeriodOffer {
    /// Writes the members in alphabetical order.
    package func write(to text: inout PlainJSONText) {
        text.member("id", id?.rawValue)
        text.member("introductory", introductory?.rawValue)
        text.member("mode", mode.rawValue)
        text.member("number", Int64(number))
        text.member("numberOfPeriods", Int64(numberOfPeriods))
        text.member("period", period.description)
        text.member("price", object: price.write)
        text.member("type", type.rawValue)
    }

    /// Reads the members; `nil` if one is missing, wrong, or not in plain form.
    package init?(from json: inout PlainJSON) {
        var (type, mode, period) = (String?.none, String?.none, String?.none)
        var introductory: String?
        var (numberOfPeriods, number) = (Int64?.none, Int64?.none)
        var price: Money?
        var id: OfferID?
        let isRead = json.object { json, name in
            switch name {
            case "type": PlainJSON.keep(json.string(), in: &type)
            case "id": json.null() || PlainJSON.keep(json.identifier(), in: &id)
            case "introductory":
                json.null() || PlainJSON.keep(json.string(), in: &introductory)
            case "mode": PlainJSON.keep(json.string(), in: &mode)
            case "period": PlainJSON.keep(json.string(), in: &period)
            case "numberOfPeriods": PlainJSON.keep(json.integer(), in: &numberOfPeriods)
            case "number": PlainJSON.keep(json.integer(), in: &number)
            case "price": PlainJSON.keep(Money(from: &json), in: &price)
            default: json.skip()
            }
        }
        guard isRead, let type, let mode, let numberOfPeriods, let number, let price,
            let period = period.flatMap(SubscriptionPeriod.init(iso8601:))
        else { return nil }
        self.init(
            type: OfferType(rawValue: type),
            id: id,
            mode: OfferMode(rawValue: mode),
            period: period,
            numberOfPeriods: Int(numberOfPeriods),
            number: Int(number),
            price: price,
            introductory: introductory.map(IntroductoryUse.init(rawValue:))
        )
    }
}
