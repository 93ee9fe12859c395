public import Foundation

extension Product {
    /// An offer of a subscription: a price below the ordinary one for some time.
    public struct SubscriptionOffer: Hashable, Sendable {
        /// The kind of an offer.
        public struct OfferType: RawRepresentable, Hashable, Sendable {
            /// The name of the kind.
            public let rawValue: String
            /// Makes a kind from its name.
            public init(rawValue: String) { self.rawValue = rawValue }
            /// An offer to accounts that never had one in the product's group.
            public static let introductory = OfferType(rawValue: "Introductory")
            /// An offer to accounts that have, or had, a subscription in the product's group.
            public static let promotional = OfferType(rawValue: "Promotional")
            /// An offer to accounts whose subscription in the product's group has ended.
            public static let winBack = OfferType(rawValue: "WinBack")
        }

        /// The way in which an offer is paid.
        public struct PaymentMode: RawRepresentable, Hashable, Sendable {
            /// The name of the mode.
            public let rawValue: String
            /// Makes a mode from its name.
            public init(rawValue: String) { self.rawValue = rawValue }
            /// A lower price is paid for each of some ordinary periods.
            public static let payAsYouGo = PaymentMode(rawValue: "PayAsYouGo")
            /// One price is paid for the whole length of the offer.
            public static let payUpFront = PaymentMode(rawValue: "PayUpFront")
            /// Nothing is paid for the whole length of the offer.
            public static let freeTrial = PaymentMode(rawValue: "FreeTrial")
        }

        /// The identifier of a promotional or win-back offer; `nil` in an introductory one.
        public let id: String?
        /// The kind of the offer.
        public let type: OfferType
        /// The price of one period; zero for a free trial.
        public let price: Decimal
        /// The formatted price, such as `$0.99`.
        public let displayPrice: String
        /// The length of one period of the offer.
        public let period: SubscriptionPeriod
        /// The number of periods; 1 unless the offer is paid as you go.
        public let periodCount: Int
        /// The way in which the offer is paid.
        public let paymentMode: PaymentMode

        init(_ discount: SKProductDiscount, _ type: OfferType, of product: SKProduct) {
            id = discount.identifier
            self.type = type
            price = discount.price
            displayPrice = discount.price.formatted(product.priceFormatStyle)
            period = SubscriptionPeriod(discount.subscriptionPeriod)
            periodCount = discount.numberOfPeriods
            paymentMode =
                switch discount.paymentMode {
                case .payAsYouGo: .payAsYouGo
                case .payUpFront: .payUpFront
                case .freeTrial: .freeTrial
                }
        }
    }
}
