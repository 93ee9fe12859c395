import EventTypes
import Foundation
import Logging
import ReceiptValidation
import StoreAPI
import Synchronization

extension SKPaymentQueue {
    /// Asks the store for the statuses of the account's subscriptions.
    ///
    /// - Parameter untilAnswered: Whether to retry until an unreachable store answers.
    /// - Returns: The statuses, the oldest subscription first.
    /// - Throws: ``SKError``, or `CancellationError`.
    func subscriptionStatuses(
        untilAnswered: Bool = false
    ) async throws -> [Product.SubscriptionInfo.Status] {
        guard let transport else { throw SKError.notConfigured }
        let question = StoreTransport.Question.get(
            transport.configuration.addresses.receipts + Routes.subscriptionStatuses
        )
        do {
            let response: SubscriptionStatusesResponse =
                untilAnswered
                ? try await transport.sendUntilAnswered(question)
                : try await transport.send(question)
            return try response.statuses.map(status)
        } catch let failure as StoreFailure {
            throw failure.error
        }
    }

    /// Asks the store whether the account may have the introductory offer of a group.
    ///
    /// - Returns: `false` if it may not, or if the store does not answer.
    func mayHaveIntroductoryOffer(of group: String) async -> Bool {
        guard let transport, let group = SubscriptionGroupID(rawValue: group) else { return false }
        let address = transport.configuration.addresses.payments
        let question = StoreTransport.Question.get(
            "\(address)\(Routes.introductoryOffers)/\(group)"
        )
        do {
            let answer = try await transport.send(question, as: IntroductoryOfferResponse.self)
            state.withLock { state in
                if answer.isEligible {
                    state.introductoryGroups.insert(group.rawValue)
                } else {
                    state.introductoryGroups.remove(group.rawValue)
                }
            }
            return answer.isEligible
        } catch {
            logger.warning(
                "The store does not say who may have an introductory offer",
                metadata: ["error": "\(error)"]
            )
            return false
        }
    }

    /// The offer that the buyer was shown with a product, as far as the queue knows.
    ///
    /// It is the promotional one that the payment redeems. Otherwise it is the introductory one if the
    /// store has told the app that the account may have it. A payment that names an offer is never
    /// charged the ordinary price instead. A buyer who has to ask gets no free offer. If the merchant's
    /// server decides about the introductory offer, it is named only if that server allows it.
    func shownOffer(of product: SKProduct, for payment: SKPayment) -> ShownOffer? {
        let redeemed =
            payment.fields.paymentDiscount?.identifier ?? payment.fields.promotionalOffer?.offerID
        if let redeemed {
            let discount = product.discounts.first { $0.identifier == redeemed }
            return OfferID(rawValue: redeemed).flatMap { id in
                discount.map { ShownOffer(type: .promotional, id: id, terms: $0.listing) }
            }
        }
        if let redeemed = payment.fields.winBackOffer {
            let discount = product.winBackOffers.first { $0.identifier == redeemed }
            // Whatever the app names, the payment never costs the ordinary price.
            return ShownOffer(
                type: .winBack,
                id: OfferID(unchecked: redeemed),
                terms: discount?.listing
            )
        }
        guard let group = product.subscriptionGroupIdentifier,
            let discount = product.introductoryPrice,
            payment.fields.introductoryOfferEligibility.map(Self.allowsIntroductoryOffer)
                ?? state.withLock({ $0.introductoryGroups.contains(group) }),
            !(payment.simulatesAskToBuyInSandbox && discount.listing.price.isZero)
        else { return nil }
        return ShownOffer(type: .introductory, terms: discount.listing)
    }

    /// Reads whether a JWS of the merchant's server allows the introductory offer.
    ///
    /// Only the store can verify the signature. It refuses a JWS that it cannot read.
    private static func allowsIntroductoryOffer(_ compactJWS: String) -> Bool {
        struct Claims: Decodable {
            var allowIntroductoryOffer: Bool
        }
        guard let payload = SignedText(compactJWS)?.payload else { return false }
        let claims = try? JSONDecoder().decode(Claims.self, from: payload)
        return claims?.allowIntroductoryOffer ?? false
    }

    /// Forgets that the account may have an introductory offer, once the store has refused it.
    ///
    /// The next payment for the product names no offer, and costs the ordinary price.
    func forget(_ offer: ShownOffer?, of product: SKProduct, refusedBy problem: Problem) {
        guard problem.code == "offer_not_available", offer?.type == .introductory,
            let group = product.subscriptionGroupIdentifier
        else { return }
        state.withLock { _ = $0.introductoryGroups.remove(group) }
    }

    /// Verifies what the store has signed about a subscription.
    ///
    /// - Throws: ``SKError`` if it cannot be decoded at all.
    func status(
        _ told: SubscriptionStatusesResponse.Status
    ) throws -> Product.SubscriptionInfo.Status {
        guard let signed = SignedText(told.signedTransaction), let claimed = signed.claimed,
            let text = SignedText(told.signedRenewalInfo),
            let claimedInfo = text.claimed(as: JWSRenewalInfo.self),
            let info = Product.SubscriptionInfo.RenewalInfo(text, payload: claimedInfo)
        else {
            throw SKError(.unknown, detail: "the status of “\(told.groupID)” is not signed data")
        }
        let source = transaction(claimed)
        let transaction = try Self.verify(told.signedTransaction, of: source, by: validator)
        return Product.SubscriptionInfo.Status(
            state: .init(claimed, claimedInfo, unsigned: told.status),
            transaction: transaction,
            renewalInfo: verified(info, ofSubscription: claimed.originalTransactionId),
            groupID: told.groupID.rawValue,
            version: told.version,
            queue: self
        )
    }

    /// Verifies renewal info, which names no app.
    ///
    /// It must be of the same subscription as the transaction, which names one.
    private func verified(
        _ info: Product.SubscriptionInfo.RenewalInfo,
        ofSubscription id: String
    ) -> VerificationResult<Product.SubscriptionInfo.RenewalInfo> {
        guard info.payload.originalTransactionId == id else {
            return .unverified(info, .invalidSignature)
        }
        guard let validator else { return .unverified(info, .invalidCertificateChain) }
        do {
            _ = try validator.verify(info.jws.text, as: JWSRenewalInfo.self)
            return .verified(info)
        } catch {
            return .unverified(info, .init(error))
        }
    }

    /// Returns the object for a transaction that the store has signed.
    ///
    /// If observers already know the transaction, it is their object.
    private func transaction(_ claimed: JWSTransaction) -> SKPaymentTransaction {
        let id = TransactionID(unchecked: claimed.transactionId)
        if let known = state.withLock({ $0.pending.transaction(id) }) { return known }
        let transaction = SKPaymentTransaction(
            payment: SKPayment(product: SKProduct(claimed)),
            fields: .init(
                id: id,
                state: .purchased,
                date: claimed.purchaseDate,
                reason: claimed.transactionReason == "RENEWAL" ? .renewal : .purchase,
                originalID: TransactionID(unchecked: claimed.originalTransactionId),
                originalDate: claimed.originalPurchaseDate,
                revocationDate: claimed.revocationDate,
                isDelivered: true
            )
        )
        transaction.belong(to: self)
        return transaction
    }

    /// Turns the renewal of a subscription on or off.
    func setAutoRenew(_ isOn: Bool, of status: Product.SubscriptionInfo.Status) async throws {
        try await change(status, Routes.autoRenew, AutoRenewRequest(isOn: isOn))
    }

    /// Chooses the product of a subscription's next period.
    func chooseProduct(
        _ product: String,
        of status: Product.SubscriptionInfo.Status
    ) async throws {
        guard let id = ProductID(rawValue: product) else {
            throw SKError(.storeProductNotAvailable, detail: "“\(product)” is not a product's name")
        }
        let request = SubscriptionProductRequest(productID: id)
        try await change(status, Routes.subscriptionProduct, request)
    }

    /// Chooses the payment method of a subscription.
    ///
    /// If an answer is lost and the charge has failed meanwhile, the repetition charges once more.
    func choosePaymentMethod(
        _ method: String,
        of status: Product.SubscriptionInfo.Status
    ) async throws {
        let request = SubscriptionMethodRequest(paymentMethod: PaymentMethod(rawValue: method))
        let subscription = try await change(status, Routes.subscriptionMethod, request)
        if subscription.charge != nil { askForBuyerAction(ofSubscription: subscription.id) }
    }

    /// Processes the stream's event about a subscription that changed without a transaction.
    func receive(subscription data: [UInt8]) {
        guard let change = try? EventCoding.decode(QueueSubscriptionChanged.self, from: data) else {
            // A newer store may send data that only a newer client can read.
            logger.warning("The store says something of a subscription that cannot be read")
            return
        }
        noteChange(of: change.subscription)
    }

    /// Lets those who follow statuses ask for the new one, and the delegate decide about a price
    /// increase.
    func noteChange(of subscription: Subscription) {
        let version = subscription.version
        if let id = UInt64(subscription.id.rawValue) {
            tell { ($0 as? StatusObserver)?.receive(version: version, of: id) }
        }
        takePrices(of: [subscription])
    }

    /// Changes a subscription, and repeats the request until it is answered.
    ///
    /// A repetition changes nothing, as long as nothing is owed.
    ///
    /// - Returns: The subscription afterwards.
    @discardableResult
    private func change(
        _ status: Product.SubscriptionInfo.Status,
        _ path: (TransactionID) -> String,
        _ request: some Encodable & Sendable
    ) async throws -> Subscription {
        guard let transport else { throw SKError.notConfigured }
        let id = status.renewalInfo.unsafePayloadValue.originalTransactionID
        let address = transport.configuration.addresses.payments
        let question = try StoreTransport.Question.put(
            address + path(TransactionID(unchecked: "\(id)")),
            request
        )
        do {
            let answer = try await transport.sendUntilAnswered(
                question,
                as: SubscriptionResponse.self
            )
            noteChange(of: answer.subscription)
            return answer.subscription
        } catch let failure as StoreFailure {
            throw failure.error
        }
    }
}

extension SKProduct {
    /// Makes a product from a signed transaction.
    ///
    /// It has no texts.
    fileprivate convenience init(_ claimed: JWSTransaction) {
        let currency = Currency(unchecked: claimed.currency ?? "")
        let unit = Money(minorUnits: 1, currency: currency)
        let price = Money(
            minorUnits: (claimed.price ?? 0) / unit.milliunits,
            currency: currency
        )
        let listing = ProductListing(
            id: ProductID(unchecked: claimed.productId),
            version: 1,
            type: .autoRenewableSubscription,
            price: price,
            title: claimed.productId,
            description: "",
            language: LanguageTag(unchecked: "en")
        )
        self.init(listing, storefront: claimed.storefront ?? "")
    }
}
