import EventTypes
import ServiceKit
import StoreAPI
import Subscriptions

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

    /// The transactions by which accounts have the introductory offers that merchants' servers decide
    /// about in unanswered requests.
    func openIntroductions(_ products: [ProductID: Product]) -> Set<TransactionID> {
        Set(
            open.compactMap { position in
                let submission = entries[position].submission
                guard submission.request.introductoryOfferEligibility != nil,
                    let product = products[submission.request.productID],
                    let key = submission.subscriptionKey(of: product)
                else { return nil }
                return subscriptions.rows[key]?.introductoryID
            }
        )
    }

    /// The codes that unanswered requests redeem, each with the account of the request.
    var openCodes: [(digest: CodeDigest, account: AccountKey)] {
        open.compactMap { position in
            let submission = entries[position].submission
            return submission.code.map { (digest: $0.digest, account: submission.accountKey) }
        }
    }

    /// The offers that a request gets, or the reason why it does not get the one that it carries.
    func grant(
        of product: Product?,
        for entry: Entry,
        _ facts: OfferFacts
    ) -> Result<OfferGrant, PaymentRefusal> {
        guard let product else { return .success(OfferGrant()) }
        let submission = entry.submission
        if let code = submission.code { return grant(by: code, of: product, for: entry, facts) }
        guard let signed = entry.signedOffer else {
            let isWinBack = submission.request.offer?.type == .winBack
            let offer =
                isWinBack
                ? winBackOffer(of: product, for: submission)
                : introductoryOffer(of: product, for: submission)
            let needsApproval = offer?.price.isZero == true && asksToBuy(submission)
            return .success(OfferGrant(first: needsApproval ? nil : offer))
        }
        let row = submission.subscriptionKey(of: product).flatMap { subscriptions.rows[$0] }
        let offer: Result<PeriodOffer?, PaymentRefusal>
        if submission.request.introductoryOfferEligibility != nil {
            offer = IntroductoryOfferRules.offer(
                signed,
                of: product,
                in: submission.request.storefront,
                to: submission.accountKey,
                isRunning: row?.subscription.map {
                    subscriptions.machine.dueActions.state(of: $0, at: time).isRunning
                } ?? false,
                introducedBy: row?.introductoryID,
                facts
            )
        } else {
            offer = PromotionalOfferRules.offer(
                signed,
                of: product,
                in: submission.request.storefront,
                to: submission.accountKey,
                isSubscriber: row?.subscription != nil,
                facts
            ).map(Optional.some)
        }
        return offer.flatMap { offer in
            offer?.price.isZero == true && asksToBuy(submission)
                ? .failure(.offerNotAvailable) : .success(OfferGrant(first: offer))
        }
    }

    /// The offers that a request gets by a code, or the reason why it gets none.
    private func grant(
        by submitted: SubmittedCode,
        of product: Product,
        for entry: Entry,
        _ facts: OfferFacts
    ) -> Result<OfferGrant, PaymentRefusal> {
        let submission = entry.submission
        let code = facts.codes[submitted.digest]
        if let refusal = CodeRules.refusal(of: code, at: time) { return .failure(refusal) }
        guard let code, code.productID == product.id,
            code.bundleID == submission.account.bundleID
        else { return .failure(.codeUnknown) }
        let key = RedemptionKey(
            account: submission.accountKey,
            productID: code.productID,
            offerID: code.offerID
        )
        guard !facts.redeemed.contains(key) else { return .failure(.codeRedeemedBefore) }
        guard let place = submission.subscriptionKey(of: product) else {
            return .failure(.codeOfferEnded)
        }
        return CodeRules.grant(
            by: code,
            of: product,
            in: submission.request.storefront,
            to: subscriptions.rows[place],
            mayHaveIntroductory: subscriptions.mayHaveIntroductoryOffer(place),
            at: time,
            by: subscriptions.machine.dueActions
        ).flatMap { grant in
            if let first = grant.first, submitted.confirmed != grant {
                return .failure(.staleOffer(current: OfferListing(of: first)))
            }
            return grant.first?.price.isZero == true && asksToBuy(submission)
                ? .failure(.offerNotAvailable) : .success(grant)
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
        return SubscriptionRules.introductoryOffer(
            of: product,
            in: submission.request.storefront
        )
    }

    /// The win-back offer that a request names; `nil` if the account may not have it (rule S59).
    ///
    /// The account's row is locked, so nobody else begins a subscription in the group meanwhile.
    private func winBackOffer(
        of product: Product,
        for submission: PaymentSubmission
    ) -> PeriodOffer? {
        guard let key = submission.subscriptionKey(of: product),
            let subscription = subscriptions.rows[key]?.subscription
        else { return nil }
        return WinBackRules.offers(
            of: product,
            to: subscriptions.machine.dueActions.present(subscription, at: time),
            in: submission.request.storefront,
            at: time
        ).first { $0.id == submission.request.offer?.id }
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
