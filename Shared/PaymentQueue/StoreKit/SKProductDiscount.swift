import EventTypes
public import Foundation
import StoreAPI

/// An offer of a subscription: a price below the ordinary one for some time (spec rule 115).
public final class SKProductDiscount: Sendable, Hashable {
    /// The kind of an offer.
    public enum `Type`: UInt, Sendable {
        /// An offer to accounts that never had one in the product's group.
        case introductory = 0
        /// A promotional offer to accounts that have, or had, a subscription in the group.
        case subscription = 1
    }

    /// The way in which an offer is paid.
    public enum PaymentMode: UInt, Sendable {
        /// A lower price is paid for each of some ordinary periods.
        case payAsYouGo = 0
        /// One price is paid for the whole length of the offer.
        case payUpFront = 1
        /// Nothing is paid for the whole length of the offer.
        case freeTrial = 2
    }

    /// The identifier of a promotional offer; `nil` in an introductory one.
    public let identifier: String?
    /// The kind of the offer.
    public var type: `Type` { identifier == nil ? .introductory : .subscription }
    /// The way in which it is paid.
    public let paymentMode: PaymentMode
    /// The length of one period of the offer.
    public let subscriptionPeriod: SKProductSubscriptionPeriod
    /// The number of periods; 1 unless the offer is paid as you go.
    public let numberOfPeriods: Int
    /// The price of one period, in the currency of ``priceLocale``; zero for a free trial.
    public let price: Decimal
    /// The locale of the price: that of the product.
    public let priceLocale: Locale
    /// The offer as the store lists it, which a payment names.
    let listing: OfferListing

    /// Makes an offer; `nil` if only a newer client knows how it is paid.
    init?(_ listing: OfferListing, identifier: OfferID? = nil, priceLocale: Locale) {
        switch listing.mode {
        case .freeTrial: paymentMode = .freeTrial
        case .payAsYouGo: paymentMode = .payAsYouGo
        case .payUpFront: paymentMode = .payUpFront
        case .unknown: return nil
        }
        subscriptionPeriod = SKProductSubscriptionPeriod(listing.period)
        numberOfPeriods = listing.numberOfPeriods
        price = listing.price.decimal
        self.priceLocale = priceLocale
        self.listing = listing
        self.identifier = identifier?.rawValue
    }

    /// Whether two offers have the same terms.
    public static func == (left: SKProductDiscount, right: SKProductDiscount) -> Bool {
        left.paymentMode == right.paymentMode && left.numberOfPeriods == right.numberOfPeriods
            && left.subscriptionPeriod == right.subscriptionPeriod && left.price == right.price
            && left.priceLocale == right.priceLocale && left.identifier == right.identifier
    }

    /// Hashes the terms.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(paymentMode)
        hasher.combine(numberOfPeriods)
        hasher.combine(subscriptionPeriod)
        hasher.combine(price)
    }
}
