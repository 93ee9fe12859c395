import EventTypes
import StoreAPI

/// The rules that a payment request has to satisfy (spec rules 22 to 31, traps 21 to 26).
///
/// Pure.
enum PaymentRules {
    /// The largest quantity of one payment, the same as Apple's.
    static let quantityMax = 10
    /// The maximum length of an application username in code points; in bytes it is up to four
    /// times as long.
    static let applicationUsernameLengthMax = 255

    /// Decides whether a request can be accepted, and computes the price of the whole purchase.
    ///
    /// - Parameters:
    ///   - request: The buyer's request.
    ///   - account: The buyer's standing.
    ///   - product: The product at its newest known version; `nil` if there is none.
    ///   - intent: The open purchase intent that the request names; `nil` if there is none.
    ///   - offered: The offer that the buyer gets, or why the payment does not get the one that it carries;
    ///     `nil` if there is none. A request that names the ordinary price or that of the offer is charged
    ///     that of the offer.
    ///   - methodRefusal: The processor's reason to refuse the payment method; `nil` if it accepts
    ///     it.
    /// - Returns: The whole price, or the reason why the request is refused.
    static func price(
        of request: PaymentRequest,
        account: AccountStanding = AccountStanding(),
        product: Product?,
        intent: PurchaseIntent? = nil,
        offer offered: Result<PeriodOffer?, PaymentRefusal> = .success(nil),
        methodRefusal: PaymentRefusal?
    ) -> Result<Money, PaymentRefusal> {
        if let obstacle = account.obstacle(in: request.storefront) {
            return .failure(PaymentRefusal(obstacle))
        }
        guard let product else { return .failure(.productUnknown) }
        if let refusal = refusal(ofTypeOf: product) { return .failure(refusal) }
        guard let unitPrice = product.prices[request.storefront] else {
            return .failure(.productUnavailable)
        }
        if let refusal = refusal(ofQuantity: request.quantity, of: product) {
            return .failure(refusal)
        }
        guard request.price.currency == unitPrice.currency else {
            return .failure(.wrongCurrency(expected: unitPrice.currency))
        }
        let offer: PeriodOffer?
        switch offered {
        case .success(let promised): offer = promised
        case .failure(let refusal): return .failure(refusal)
        }
        let isOfferPrice = request.offer == nil && request.price == offer?.price
        guard request.price == unitPrice || isOfferPrice else {
            return .failure(.stalePrice(current: unitPrice))
        }
        if let shown = request.offer, let refusal = refusal(of: shown, meeting: offer) {
            return .failure(refusal)
        }
        guard let total = (offer?.price ?? unitPrice).multiplied(by: request.quantity) else {
            return .failure(.priceOverflow)
        }
        if let methodRefusal { return .failure(methodRefusal) }
        if let username = request.applicationUsername,
            username.unicodeScalars.count > applicationUsernameLengthMax
        {
            return .failure(.applicationUsernameTooLong(max: applicationUsernameLengthMax))
        }
        if request.purchaseIntentID != nil {
            guard let intent, intent.productID == request.productID,
                intent.quantity == request.quantity
            else { return .failure(.purchaseIntentUnknown) }
        }
        return .success(total)
    }

    /// The reason why a payment does not get the offer that its buyer was shown; `nil` if it does.
    ///
    /// - Parameters:
    ///   - shown: The offer that the buyer was shown.
    ///   - offer: The offer that the buyer may have; `nil` if there is none.
    /// - Returns: The reason.
    static func refusal(of shown: ShownOffer, meeting offer: PeriodOffer?) -> PaymentRefusal? {
        guard let offer, offer.type == shown.type, offer.id == shown.id else {
            return .offerNotAvailable
        }
        let terms = OfferListing(
            mode: offer.mode,
            period: offer.period,
            numberOfPeriods: offer.numberOfPeriods,
            price: offer.price
        )
        return shown.terms == nil || shown.terms == terms ? nil : .staleOffer(current: terms)
    }

    /// The reason why products of this type are not sold; `nil` if they are (spec rules 93 and 94).
    static func refusal(ofTypeOf product: Product) -> PaymentRefusal? {
        switch product.type {
        case .consumable, .nonConsumable, .nonRenewingSubscription: nil
        case .autoRenewableSubscription:
            product.subscription == nil ? .productTypeNotSoldYet(product.id) : nil
        case .unknown: .productUnavailable
        }
    }

    /// The reason why a product is not sold in this quantity; `nil` if it is (spec rules 24 and
    /// 25).
    static func refusal(ofQuantity quantity: Int, of product: Product) -> PaymentRefusal? {
        if let refusal = refusal(ofTypeOf: product) { return refusal }
        guard product.isOnSale else { return .productUnavailable }
        let isSoldSingly =
            product.type == .nonConsumable || product.type == .autoRenewableSubscription
        let quantityMax = isSoldSingly ? 1 : quantityMax
        return (1...quantityMax).contains(quantity) ? nil : .quantityOutOfRange(max: quantityMax)
    }

    /// The new transaction of an accepted request; the period is that of a subscription.
    static func transaction(
        id: TransactionID,
        for request: PaymentRequest,
        of account: AccountID,
        in bundle: BundleID,
        product: Product,
        price: Money,
        period: TransactionPeriod? = nil,
        time: StoreTime
    ) -> Transaction {
        Transaction(
            id: id,
            originalID: id,
            reason: .purchase,
            version: 1,
            state: .purchasing,
            accountID: account,
            bundleID: bundle,
            productID: product.id,
            productVersion: product.version,
            productType: product.type,
            quantity: request.quantity,
            storefront: request.storefront,
            price: price,
            applicationUsername: request.applicationUsername,
            deliveryPlan: product.deliveryPlan,
            requestedAt: time,
            subscription: period
        )
    }

    /// The transaction of a payment that redeems an offer for the running product (rule S53).
    ///
    /// It is a copy of the running period: nothing is charged now.
    static func redeeming(_ payment: Transaction, of subscription: Subscription) -> Transaction {
        var copy = payment
        copy.originalID = subscription.id
        copy.reason = .ownedAgain
        copy.price = .zero(payment.price.currency)
        return copy
    }

    /// The first answer about a transaction, for a repeated request.
    ///
    /// - Parameters:
    ///   - transaction: The transaction at any version.
    ///   - chargeAmount: The amount of its charge; `nil` if it was granted without a charge.
    /// - Returns: The transaction in the state and version of its first answer.
    static func firstAnswer(of transaction: Transaction, chargeAmount: Money?) -> Transaction {
        var first = transaction
        first.version = 1
        first.state = .purchasing
        first.purchasedAt = nil
        first.originalPurchasedAt = nil
        first.failureReason = nil
        first.revokedAt = nil
        first.refunds = nil
        first.awaitsBuyer = nil
        // The copy by which an offer was redeemed has its dates from the beginning.
        if transaction.subscription?.isRedemption != true {
            first.subscription?.start = nil
            first.subscription?.end = nil
            if transaction.subscription != nil { first.originalID = transaction.id }
        }
        if let chargeAmount {
            first.price = chargeAmount
            first.originalID = transaction.id
            first.reason = .purchase
        }
        return first
    }

    /// The request that repeats an interrupted payment at the price that the buyer saw.
    ///
    /// A resumption is refused whenever this request would be (traps 25 and 26).
    static func request(
        repeating failed: Transaction,
        by paymentMethod: PaymentMethod
    ) -> PaymentRequest {
        PaymentRequest(
            productID: failed.productID,
            quantity: failed.quantity,
            storefront: failed.storefront,
            // The price of the transaction is the unit price times the quantity.
            price: Money(
                minorUnits: failed.price.minorUnits / Int64(max(failed.quantity, 1)),
                currency: failed.price.currency
            ),
            paymentMethod: paymentMethod,
            applicationUsername: failed.applicationUsername
        )
    }

    /// The new transaction that resumes an interrupted one, for the same payment (spec rule 114).
    ///
    /// The period is that of a subscription, as it is bought today.
    static func resumed(
        id: TransactionID,
        failed: Transaction,
        period: TransactionPeriod? = nil,
        time: StoreTime
    ) -> Transaction {
        var resumed = failed
        resumed.id = id
        resumed.originalID = id
        resumed.version = 1
        resumed.state = .purchasing
        resumed.requestedAt = time
        resumed.failureReason = nil
        resumed.subscription = period
        return resumed
    }

    /// The new transaction that restores a purchase (spec rules 62 to 72).
    static func restored(id: TransactionID, original: Transaction, time: StoreTime) -> Transaction {
        var restored = original
        restored.id = id
        restored.originalID = original.originalID
        restored.reason = .restore
        restored.version = 1
        restored.state = .restored
        restored.price = .zero(original.price.currency)
        restored.requestedAt = time
        restored.purchasedAt = time
        restored.originalPurchasedAt = original.originalPurchasedAt ?? original.purchasedAt
        restored.failureReason = nil
        restored.revokedAt = nil
        restored.refunds = nil
        restored.awaitsBuyer = nil
        // The copy was not charged: only the period itself has the identity of its charge.
        restored.subscription?.charge = nil
        // A copy of what a family shares follows nothing.
        restored.subscription?.shared = nil
        // It redeems nothing again.
        restored.subscription?.redeems = nil
        restored.subscription?.paidBy = original.subscription?.paidBy ?? original.id
        return restored
    }
}

extension PaymentRefusal {
    /// The refusal of a payment by an account that cannot be charged.
    fileprivate init(_ obstacle: AccountStanding.Obstacle) {
        switch obstacle {
        case .paymentsNotAllowed: self = .paymentsNotAllowed
        case .storefrontChanged(let current): self = .storefrontChanged(current: current)
        }
    }
}
