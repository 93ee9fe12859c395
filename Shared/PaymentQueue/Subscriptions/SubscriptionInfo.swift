extension Product {
    /// The terms of a product that renews automatically.
    public struct SubscriptionInfo: Hashable, Sendable {
        /// The group of the product.
        ///
        /// An account has at most one running subscription in a group.
        public let subscriptionGroupID: String
        /// The localized name of the group; its identifier if the merchant has not named it.
        public let groupDisplayName: String
        /// The rank of the product in its group, of which 1 is the highest service.
        public let groupLevel: Int
        /// The length of one paid period.
        public let subscriptionPeriod: Product.SubscriptionPeriod
        /// The offer to accounts that never had one in the group; `nil` if there is none.
        public let introductoryOffer: Product.SubscriptionOffer?
        /// The offers that the merchant's server gives to accounts that have, or had, a subscription.
        public let promotionalOffers: [Product.SubscriptionOffer]
        /// The offers to accounts whose subscription in the group has ended.
        ///
        /// Everybody sees them. ``RenewalInfo/eligibleWinBackOfferIDs`` says which the account may have.
        public let winBackOffers: [Product.SubscriptionOffer]

        /// Whether the account may have the introductory offer of a product in the group.
        ///
        /// It may once, and not while its subscription in the group runs. The purchase decides again.
        /// The answer is `false` if the store cannot be asked.
        public var isEligibleForIntroOffer: Bool {
            get async { await Self.isEligibleForIntroOffer(for: subscriptionGroupID) }
        }

        /// Returns whether the account may have the introductory offer of a product in a group.
        ///
        /// The answer is `false` if the store cannot be asked.
        public static func isEligibleForIntroOffer(for groupID: String) async -> Bool {
            await SKPaymentQueue.default().mayHaveIntroductoryOffer(of: groupID)
        }

        /// The account's statuses in the group of the product.
        ///
        /// - Throws: ``SKError``, or `CancellationError`.
        public var status: [Status] {
            get async throws { try await Self.status(for: subscriptionGroupID) }
        }

        /// Returns the account's statuses in a group: that of its own subscription, and of one that its
        /// family shares.
        ///
        /// `effective(among:)` of these is the one that counts.
        ///
        /// - Throws: ``SKError``, or `CancellationError`.
        public static func status(for groupID: String) async throws -> [Status] {
            try await Status.all().first { $0.groupID == groupID }?.statuses ?? []
        }
    }

    /// The terms of the subscription; `nil` if the product does not renew automatically.
    public var subscription: SubscriptionInfo? {
        guard let groupID = product.subscriptionGroupIdentifier,
            let level = product.subscriptionLevel, let period = product.subscriptionPeriod
        else { return nil }
        return SubscriptionInfo(
            subscriptionGroupID: groupID,
            groupDisplayName: product.subscriptionGroupName ?? groupID,
            groupLevel: level,
            subscriptionPeriod: SubscriptionPeriod(period),
            introductoryOffer: product.introductoryPrice.map {
                SubscriptionOffer($0, .introductory, of: product)
            },
            promotionalOffers: product.discounts.map {
                SubscriptionOffer($0, .promotional, of: product)
            },
            winBackOffers: product.winBackOffers.map {
                SubscriptionOffer($0, .winBack, of: product)
            }
        )
    }
}

/// ``Product/SubscriptionInfo`` by its short name.
public typealias SubscriptionInfo = Product.SubscriptionInfo
