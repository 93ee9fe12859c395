import EventTypes
import StoreAPI

/// The offers that requests of a batch get.
extension AcceptanceBatch {
    /// The nonces of the signed offers of requests that are not answered yet.
    var openNonces: Set<OfferNonce> { Set(open.compactMap { entries[$0].nonce }) }

    /// The transactions that signed offers of unanswered requests name.
    var openOfferTransactions: Set<TransactionID> {
        Set(
            open.compactMap { position in
                guard case .success(let signed) = entries[position].signedOffer else { return nil }
                return signed.transactionID
            }
        )
    }

    /// The offer that a request gets, or the reason why it does not get the one that it carries; `nil` if
    /// there is none.
    func offer(
        of product: Product?,
        for entry: Entry,
        _ facts: OfferFacts
    ) -> Result<PeriodOffer?, PaymentRefusal> {
        guard let product else { return .success(nil) }
        let submission = entry.submission
        guard let signed = entry.signedOffer else {
            return .success(introductoryOffer(of: product, for: submission))
        }
        let row = submission.subscriptionKey(of: product).flatMap { subscriptions.rows[$0] }
        return PromotionalOfferRules.offer(
            signed,
            of: product,
            in: submission.request.storefront,
            to: submission.accountKey,
            isSubscriber: row?.subscription != nil,
            facts
        ).flatMap { offer in
            offer.price.isZero && asksToBuy(submission)
                ? .failure(.offerNotAvailable) : .success(offer)
        }
    }

    /// The introductory offer of a product, if the account may have it (rule S44).
    private func introductoryOffer(
        of product: Product,
        for submission: PaymentSubmission
    ) -> PeriodOffer? {
        guard let key = submission.subscriptionKey(of: product),
            subscriptions.mayHaveIntroductoryOffer(key)
        else { return nil }
        let offer = SubscriptionRules.introductoryOffer(
            of: product,
            in: submission.request.storefront
        )
        return offer?.price.isZero == true && asksToBuy(submission) ? nil : offer
    }

    /// Whether somebody has to approve a payment.
    ///
    /// What costs nothing is not charged, so nobody would be asked about a free trial, nor about the
    /// charges that follow it.
    private func asksToBuy(_ submission: PaymentSubmission) -> Bool {
        methodAsksForApproval(submission.request.paymentMethod)
            || simulated.asksToBuy(submission.accountKey)
    }
}

extension AcceptanceBatch.Entry {
    /// The nonce of the signed offer, if the request has one that can be read.
    var nonce: OfferNonce? {
        guard case .success(let signed) = signedOffer else { return nil }
        return signed.nonce
    }
}
