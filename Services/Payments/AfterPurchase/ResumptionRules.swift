import EventTypes
import StoreAPI

/// The rules for resuming an interrupted payment (spec rule 114).
///
/// Pure.
enum ResumptionRules {
    /// The verdict on a request to resume a payment.
    enum Verdict: Hashable, Sendable {
        /// The payment begins again; the period is that of a subscription.
        case resume(TransactionPeriod?)
        /// This transaction resumes the payment already.
        case resumed(Transaction)
        case notInterrupted
        /// The payment would be refused if it were new: the account may not pay, the product is off
        /// sale, or its price has changed.
        case refused(PaymentRefusal)
    }

    /// Judges a request to resume a payment.
    ///
    /// - Parameters:
    ///   - failed: The transaction to resume, locked.
    ///   - resumption: The transaction that resumes it already; `nil` if there is none.
    ///   - paymentMethod: The payment method to charge.
    ///   - account: The buyer's standing.
    ///   - product: The product at its newest known version; `nil` if there is none.
    ///   - methodRefusal: The processor's reason to refuse the payment method; `nil` if it accepts
    ///     it.
    ///   - offer: The offer with which the payment was accepted, if the buyer may have it still.
    ///   - period: The period that the payment would pay for today, or why it is refused.
    /// - Returns: The verdict. The first resumption is the answer to all later requests.
    static func verdict(
        on failed: Transaction,
        resumedBy resumption: Transaction?,
        paymentMethod: PaymentMethod,
        account: AccountStanding,
        product: Product?,
        methodRefusal: PaymentRefusal?,
        offer: PeriodOffer? = nil,
        period: Result<TransactionPeriod?, PaymentRefusal> = .success(nil)
    ) -> Verdict {
        if let resumption { return .resumed(resumption) }
        guard failed.failureReason == .interrupted, failed.reason != .renewal else {
            return .notInterrupted
        }
        // A signature was for the failed payment only, and a code was given back. Whoever still may have a
        // win-back offer pays with it again.
        let offered = failed.subscription?.offer
        if failed.subscription?.offerOfCode != nil || offered?.type == .promotional
            || offered?.type == .winBack || offered?.introductory == .again
        {
            return .refused(.offerNotAvailable)
        }
        let price = PaymentRules.price(
            of: PaymentRules.request(repeating: failed, by: paymentMethod),
            account: account,
            product: product,
            offer: .success(offer),
            methodRefusal: methodRefusal
        )
        switch price {
        case .failure(let refusal): return .refused(refusal)
        // The offer has another price today.
        case .success(let total) where total != failed.price:
            return .refused(.stalePrice(current: total))
        case .success: break
        }
        switch period {
        case .failure(let refusal): return .refused(refusal)
        // The buyer agreed to another offer, or to another price after it.
        case .success(let period)
        where period?.offer != failed.subscription?.offer
            || period?.renewalPrice != failed.subscription?.renewalPrice:
            return .refused(.stalePrice(current: period?.renewalPrice ?? failed.price))
        case .success(let period): return .resume(period)
        }
    }
}
