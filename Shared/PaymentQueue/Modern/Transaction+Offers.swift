import EventTypes

extension Transaction {
    /// The kind of an offer, with Apple's numbers.
    public struct OfferType: RawRepresentable, Hashable, Sendable {
        /// The number of the kind.
        public let rawValue: Int
        /// Makes a kind from its number.
        public init(rawValue: Int) { self.rawValue = rawValue }
        /// An offer to accounts that never had one in the product's group.
        public static let introductory = OfferType(rawValue: 1)
        /// An offer to accounts that have, or had, a subscription in the product's group.
        public static let promotional = OfferType(rawValue: 2)
        /// An offer that was redeemed with a code.
        public static let code = OfferType(rawValue: 3)
        /// An offer to accounts whose subscription has ended.
        public static let winBack = OfferType(rawValue: 4)
    }

    /// The offer with which a period of a subscription is paid.
    public struct Offer: Hashable, Sendable {
        /// The way in which an offer is paid.
        public struct PaymentMode: RawRepresentable, Hashable, Sendable {
            /// The value in the JWS.
            public let rawValue: String
            /// Makes a mode from its value.
            public init(rawValue: String) { self.rawValue = rawValue }
            /// Nothing is paid for the whole length of the offer.
            public static let freeTrial = PaymentMode(rawValue: "FREE_TRIAL")
            /// A lower price is paid for each of some ordinary periods.
            public static let payAsYouGo = PaymentMode(rawValue: "PAY_AS_YOU_GO")
            /// One price is paid for the whole length of the offer.
            public static let payUpFront = PaymentMode(rawValue: "PAY_UP_FRONT")
        }

        /// The identifier of the offer; `nil` in an introductory one.
        public let id: String?
        /// The kind of the offer.
        public let type: OfferType
        /// The way in which the offer is paid.
        public let paymentMode: PaymentMode?
        /// The length of one period of the offer.
        public let period: Product.SubscriptionPeriod?

        /// Makes an offer from the members of signed data; `nil` if they name no offer.
        init?(type: Int?, id: String?, discountType: String?, period: String?) {
            guard let type else { return nil }
            self.id = id
            self.type = OfferType(rawValue: type)
            paymentMode = discountType.map(PaymentMode.init(rawValue:))
            self.period = period.flatMap { SubscriptionPeriod(iso8601: $0) }
                .map { Product.SubscriptionPeriod(SKProductSubscriptionPeriod($0)) }
        }
    }
}
