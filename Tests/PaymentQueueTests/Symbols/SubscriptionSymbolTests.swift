import Foundation
import PaymentQueue
import Testing

/// The types of subscriptions by Apple's documented names.
@Suite struct SubscriptionSymbolTests {
    private static var members: [String: Any] {
        [
            "Product.subscription": \Product.subscription
                as KeyPath<Product, Product.SubscriptionInfo?>,
            "SubscriptionInfo.subscriptionGroupID": \SubscriptionInfo.subscriptionGroupID,
            "SubscriptionInfo.groupDisplayName": \SubscriptionInfo.groupDisplayName
                as KeyPath<SubscriptionInfo, String>,
            "SubscriptionInfo.groupLevel": \SubscriptionInfo.groupLevel
                as KeyPath<SubscriptionInfo, Int>,
            "SubscriptionInfo.subscriptionPeriod": \SubscriptionInfo.subscriptionPeriod
                as KeyPath<SubscriptionInfo, Product.SubscriptionPeriod>,
            "SubscriptionInfo.introductoryOffer": \SubscriptionInfo.introductoryOffer
                as KeyPath<SubscriptionInfo, Product.SubscriptionOffer?>,
            "SubscriptionInfo.promotionalOffers": \SubscriptionInfo.promotionalOffers
                as KeyPath<SubscriptionInfo, [Product.SubscriptionOffer]>,
            "SubscriptionInfo.winBackOffers": \SubscriptionInfo.winBackOffers
                as KeyPath<SubscriptionInfo, [Product.SubscriptionOffer]>,
            "SubscriptionInfo.isEligibleForIntroOffer": { (info: SubscriptionInfo) in
                await info.isEligibleForIntroOffer as Bool
            },
            "SubscriptionInfo.isEligibleForIntroOffer(for:)": { (group: String) in
                await SubscriptionInfo.isEligibleForIntroOffer(for: group) as Bool
            },
            "SubscriptionOffer.id": \Product.SubscriptionOffer.id
                as KeyPath<Product.SubscriptionOffer, String?>,
            "SubscriptionOffer.type": \Product.SubscriptionOffer.type
                as KeyPath<Product.SubscriptionOffer, Product.SubscriptionOffer.OfferType>,
            "SubscriptionOffer.price": \Product.SubscriptionOffer.price
                as KeyPath<Product.SubscriptionOffer, Decimal>,
            "SubscriptionOffer.displayPrice": \Product.SubscriptionOffer.displayPrice,
            "SubscriptionOffer.period": \Product.SubscriptionOffer.period
                as KeyPath<Product.SubscriptionOffer, Product.SubscriptionPeriod>,
            "SubscriptionOffer.periodCount": \Product.SubscriptionOffer.periodCount,
            "SubscriptionOffer.paymentMode": \Product.SubscriptionOffer.paymentMode
                as KeyPath<Product.SubscriptionOffer, Product.SubscriptionOffer.PaymentMode>,
            "SubscriptionInfo.status": { (info: SubscriptionInfo) in
                try await info.status as [SubscriptionStatus]
            },
            "SubscriptionInfo.status(for:)": { (group: String) in
                try await SubscriptionInfo.status(for: group) as [SubscriptionStatus]
            },
            "SubscriptionPeriod.unit": \Product.SubscriptionPeriod.unit
                as KeyPath<Product.SubscriptionPeriod, Product.SubscriptionPeriod.Unit>,
            "SubscriptionPeriod.value": \Product.SubscriptionPeriod.value
                as KeyPath<Product.SubscriptionPeriod, Int>,
            "Status.state": \SubscriptionStatus.state as KeyPath<SubscriptionStatus, RenewalState>,
            "Status.transaction": \SubscriptionStatus.transaction
                as KeyPath<SubscriptionStatus, VerificationResult<PaymentQueue.Transaction>>,
            "Status.renewalInfo": \SubscriptionStatus.renewalInfo
                as KeyPath<SubscriptionStatus, VerificationResult<RenewalInfo>>,
            "Status.updates": {
                for await status in SubscriptionStatus.updates { _ = status as SubscriptionStatus }
            },
            "RenewalInfo.originalTransactionID": \RenewalInfo.originalTransactionID,
            "RenewalInfo.currentProductID": \RenewalInfo.currentProductID,
            "RenewalInfo.willAutoRenew": \RenewalInfo.willAutoRenew as KeyPath<RenewalInfo, Bool>,
            "RenewalInfo.autoRenewPreference": \RenewalInfo.autoRenewPreference
                as KeyPath<RenewalInfo, String?>,
            "RenewalInfo.expirationReason": \RenewalInfo.expirationReason
                as KeyPath<RenewalInfo, RenewalInfo.ExpirationReason?>,
            "RenewalInfo.isInBillingRetry": \RenewalInfo.isInBillingRetry,
            "RenewalInfo.gracePeriodExpirationDate": \RenewalInfo.gracePeriodExpirationDate
                as KeyPath<RenewalInfo, Date?>,
            "RenewalInfo.priceIncreaseStatus": \RenewalInfo.priceIncreaseStatus
                as KeyPath<RenewalInfo, RenewalInfo.PriceIncreaseStatus>,
            "RenewalInfo.renewalDate": \RenewalInfo.renewalDate as KeyPath<RenewalInfo, Date?>,
            "RenewalInfo.renewalPrice": \RenewalInfo.renewalPrice
                as KeyPath<RenewalInfo, Decimal?>,
            "RenewalInfo.currency": \RenewalInfo.currency
                as KeyPath<RenewalInfo, Locale.Currency?>,
            "RenewalInfo.offer": \RenewalInfo.offer
                as KeyPath<RenewalInfo, PaymentQueue.Transaction.Offer?>,
            "RenewalInfo.appAccountToken": \RenewalInfo.appAccountToken
                as KeyPath<RenewalInfo, UUID?>,
            "RenewalInfo.appTransactionID": \RenewalInfo.appTransactionID
                as KeyPath<RenewalInfo, String?>,
            "RenewalInfo.recentSubscriptionStartDate":
                \RenewalInfo.recentSubscriptionStartDate as KeyPath<RenewalInfo, Date>,
            "RenewalInfo.environment": \RenewalInfo.environment
                as KeyPath<RenewalInfo, AppStore.Environment>,
            "RenewalInfo.signedDate": \RenewalInfo.signedDate,
            "RenewalInfo.eligibleWinBackOfferIDs": \RenewalInfo.eligibleWinBackOfferIDs
                as KeyPath<RenewalInfo, [String]>,
            "RenewalInfo.jsonRepresentation": \RenewalInfo.jsonRepresentation
                as KeyPath<RenewalInfo, Data>,
        ]
    }

    /// The members that Apple documents and that need no family.
    private static let documented: [String: [String]] = [
        "Product": ["subscription"],
        "SubscriptionInfo": [
            "subscriptionGroupID", "groupDisplayName", "groupLevel", "subscriptionPeriod",
            "status", "status(for:)",
            "introductoryOffer", "promotionalOffers", "winBackOffers", "isEligibleForIntroOffer",
            "isEligibleForIntroOffer(for:)",
        ],
        "SubscriptionOffer": [
            "id", "type", "price", "displayPrice", "period", "periodCount", "paymentMode",
        ],
        "SubscriptionPeriod": ["unit", "value"],
        "Status": ["state", "transaction", "renewalInfo", "updates"],
        "RenewalInfo": [
            "originalTransactionID", "currentProductID", "willAutoRenew", "autoRenewPreference",
            "expirationReason", "isInBillingRetry", "gracePeriodExpirationDate",
            "priceIncreaseStatus", "renewalDate", "eligibleWinBackOfferIDs",
            "renewalPrice", "currency", "recentSubscriptionStartDate", "environment",
            "signedDate", "jsonRepresentation", "offer", "appAccountToken", "appTransactionID",
        ],
    ]

    @Test func theTypesHaveEveryMemberThatIsDocumented() {
        let names = Self.documented.flatMap { type, members in members.map { "\(type).\($0)" } }
        #expect(Set(Self.members.keys) == Set(names))
    }

    @Test func offersHaveApplesNumbersAndWords() {
        typealias Transaction = PaymentQueue.Transaction
        let types: [Transaction.OfferType] = [.introductory, .promotional, .code, .winBack]
        #expect(types.map(\.rawValue) == [1, 2, 3, 4])
        let modes: [Transaction.Offer.PaymentMode] = [.freeTrial, .payAsYouGo, .payUpFront]
        #expect(modes.map(\.rawValue) == ["FREE_TRIAL", "PAY_AS_YOU_GO", "PAY_UP_FRONT"])
    }

    @Test func statesAndReasonsHaveApplesNumbers() {
        let states: [RenewalState] = [
            .subscribed, .expired, .inBillingRetryPeriod, .inGracePeriod, .revoked,
        ]
        #expect(states.map(\.rawValue) == [1, 2, 3, 4, 5])
        let reasons: [RenewalInfo.ExpirationReason] = [
            .autoRenewDisabled, .billingError, .didNotConsentToPriceIncrease, .productUnavailable,
            .unknown,
        ]
        #expect(reasons.map(\.rawValue) == [1, 2, 3, 4, 5])
    }
}
