import EventTypes
import StoreAPI

/// The rules for changes of accounts and purchase intents (spec rules 1 to 9 and 116).
///
/// Pure.
enum AccountRules {
    /// The maximum number of open purchase intents of an account.
    static let purchaseIntentsMax = 20

    /// Applies an administrator's change; fields that it omits stay as they are.
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

    /// The verdict on a request to begin a purchase intent.
    enum Beginning: Hashable, Sendable {
        case begin
        /// The same request began this intent before.
        case begun(PurchaseIntent)
        case refused(AccountRefusal)
    }

    /// Judges a request to begin a purchase intent.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - earlier: The intent that was begun under the same key; `nil` if there is none.
    ///   - account: The account of the buyer.
    ///   - product: The product at its newest known version; `nil` if there is none.
    /// - Returns: The verdict.
    static func beginning(
        _ request: PurchaseIntentRequest,
        after earlier: PurchaseIntent?,
        for account: Account,
        product: Product?
    ) -> Beginning {
        if let earlier {
            let isSame =
                earlier.productID == request.productID && earlier.quantity == request.quantity
            return isSame ? .begun(earlier) : .refused(.payment(.idempotencyKeyReused))
        }
        let refusal = refusal(of: request, for: account, product: product)
        return refusal.map { .refused($0) } ?? .begin
    }

    /// The reason why a purchase intent cannot be begun for an account; `nil` if it can be.
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

    /// The verdict on a request to decline a purchase intent.
    enum Declining: Hashable, Sendable {
        case decline
        /// It was declined or bought before, and stays as it is.
        case ended
        case refused(AccountRefusal)
    }

    /// Judges a request to decline a purchase intent.
    ///
    /// - Parameter hasEnded: Whether the intent has ended; `nil` if the account has no such intent.
    /// - Returns: The verdict.
    static func declining(hasEnded: Bool?) -> Declining {
        guard let hasEnded else { return .refused(.purchaseIntentUnknown) }
        return hasEnded ? .ended : .decline
    }

    /// The reason why an accepted payment must not be charged any more; `nil` if it may be (spec
    /// rules 2 and 9).
    static func failure(
        of account: AccountStanding,
        in storefront: Storefront
    ) -> FailureReason? {
        switch account.obstacle(in: storefront) {
        case nil: nil
        case .paymentsNotAllowed: .paymentsNotAllowed
        case .storefrontChanged: .storefrontChanged
        }
    }
}
