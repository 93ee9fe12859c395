import EventTypes
import StoreAPI

/// What may be said of an account, and what its own word does (spec rules 1 to 9, 106, 107, 116).
///
/// Pure.
enum AccountRules {
    /// The most purchases that wait for an app at once.
    static let purchaseIntentsMax = 20
    /// The most products whose price an account is asked about.
    static let priceConsentsMax = 100

    /// Applies an administrator's change; what it leaves out stays as it is.
    static func apply(
        _ change: AccountChangeRequest,
        to account: Account
    ) -> Result<Account, AccountRefusal> {
        guard change.canMakePayments != nil || change.storefront != nil else {
            return .failure(.changeEmpty)
        }
        var changed = account
        changed.canMakePayments = change.canMakePayments ?? account.canMakePayments
        changed.storefront = change.storefront ?? account.storefront
        return .success(changed)
    }

    /// Why a purchase cannot be begun for an account; `nil` if it can.
    static func refusal(
        of request: PurchaseIntentRequest,
        for account: Account,
        product: Product?
    ) -> AccountRefusal? {
        guard let product else { return .payment(.productUnknown) }
        if let refusal = PaymentRules.refusal(ofQuantity: request.quantity, of: product) {
            return .payment(refusal)
        }
        if let storefront = account.storefront, product.prices[storefront] == nil {
            return .payment(.productUnavailable)
        }
        return account.purchaseIntents.count < purchaseIntentsMax
            ? nil : .tooManyPurchaseIntents(max: purchaseIntentsMax)
    }

    /// Why a payment that was accepted before is not charged after all; `nil` if it is (spec rules
    /// 2 and 9).
    static func failure(
        of account: AccountStanding,
        in storefront: Storefront
    ) -> FailureReason? {
        guard account.canMakePayments else { return .paymentsNotAllowed }
        guard let current = account.storefront, current != storefront else { return nil }
        return .storefrontChanged
    }

    /// What asking an account about a price comes to.
    enum Question: Hashable, Sendable {
        /// It was asked about this price before, whatever it has said.
        case asked(PriceConsent)
        /// It is asked, and what it was asked about this product before is replaced.
        case ask
        case refused(AccountRefusal)
    }

    /// Judges a question about a product's new price.
    static func question(
        about price: Money,
        of product: Product?,
        to account: Account
    ) -> Question {
        guard let product else { return .refused(.payment(.productUnknown)) }
        guard product.type == .autoRenewableSubscription else { return .refused(.notASubscription) }
        guard price.minorUnits >= 0 else { return .refused(.priceNegative) }
        let newest = account.priceConsents.first { $0.productID == product.id }
        if let newest {
            return newest.price == price ? .asked(newest) : .ask
        }
        return account.priceConsents.count < priceConsentsMax
            ? .ask : .refused(.tooManyPriceConsents(max: priceConsentsMax))
    }

    /// What a subscriber's word does: the first counts, the same again is answered the same.
    enum Verdict: Hashable, Sendable {
        case accepted(PriceConsentStatus)
        case repeated
        case refused(AccountRefusal)
    }

    /// Judges a word on a price increase.
    static func verdict(
        on decision: PriceConsentDecisionRequest.Decision,
        of status: PriceConsentStatus,
        isReplaced: Bool
    ) -> Verdict {
        let said: PriceConsentStatus = decision == .agree ? .agreed : .declined
        if status == said { return .repeated }
        guard status == .pending else { return .refused(.decidedOtherwise) }
        return isReplaced ? .refused(.priceConsentReplaced) : .accepted(said)
    }
}
