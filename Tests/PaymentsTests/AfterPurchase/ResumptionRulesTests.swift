import EventTypes
import StoreAPI
import Testing

@testable import Payments

/// Verdicts on resuming interrupted payments, without a database.
@Suite struct ResumptionRulesTests {
    private func verdict(
        on reason: FailureReason = .interrupted,
        resumedBy resumption: Transaction? = nil,
        account: AccountStanding = AccountStanding(),
        product: Product? = product(),
        methodRefusal: PaymentRefusal? = nil,
        period: TransactionPeriod? = nil
    ) -> ResumptionRules.Verdict {
        var failed = transaction(.failed)
        failed.failureReason = reason
        failed.subscription = period
        return ResumptionRules.verdict(
            on: failed,
            resumedBy: resumption,
            paymentMethod: "sandbox_success",
            account: account,
            product: product,
            methodRefusal: methodRefusal
        )
    }

    @Test func onlyAnInterruptedPaymentIsResumed() {
        #expect(verdict() == .resume(nil))
        #expect(verdict(on: .paymentDeclined) == .notInterrupted)
    }

    @Test func theFirstResumptionIsTheAnswerWhateverHasChanged() {
        let resumption = transaction(.purchased)
        #expect(
            verdict(resumedBy: resumption, account: AccountStanding(canMakePayments: false))
                == .resumed(resumption)
        )
    }

    @Test func whatWouldBeRefusedAsNewIsNotResumed() {
        #expect(
            verdict(account: AccountStanding(canMakePayments: false))
                == .refused(.paymentsNotAllowed)
        )
        #expect(verdict(product: nil) == .refused(.productUnknown))
        #expect(verdict(methodRefusal: .productUnavailable) == .refused(.productUnavailable))
    }

    /// The failed payment has used the signature of a promotional offer.
    ///
    /// A win-back offer is named again.
    @Test(arguments: [OfferType.promotional, .winBack])
    func aPaymentWithANamedOfferIsNotResumed(type: OfferType) {
        let month = SubscriptionPeriod(1, .month)
        let period = TransactionPeriod(
            terms: SubscriptionTerms(
                groupID: SubscriptionGroupID(unchecked: "clubs"),
                level: 1,
                period: month
            ),
            offer: PeriodOffer(
                type: type,
                id: OfferID(unchecked: "come_back"),
                mode: .payAsYouGo,
                period: month,
                price: usd(99)
            ),
            renewalPrice: usd(299)
        )
        #expect(verdict(period: period) == .refused(.offerNotAvailable))
        #expect(verdict(on: .paymentDeclined, period: period) == .notInterrupted)
    }
}
