import EventTypes
package import StoreAPI

/// Something that the books of two services, or of a service and the processor, disagree about.
package struct Difference: Hashable, Sendable {
    /// The kinds of difference.
    package enum Kind: String, CaseIterable, Sendable {
        case undecided, notCharged, chargedTwice, chargedWithoutPurchase, chargeUnknown
        case amountDiffers, notPosted, postedTwice, postedWithoutPurchase, unbalanced
        case refundDiffers
        case noReceipt, receiptTwice, receiptWithoutPurchase, receiptNotRevoked
        case notQueued, queueDiffers, queuedWithoutPurchase
        case undelivered, deliveredTwice, deliveredWithoutPurchase
        case notCredited, creditedTooMuch, notEntitled, entitledDespiteRefund
        case finishDiffers, notTold, toldTwice, accountNotTold, accountUnknown, deadLetter
        case periodsOverlap, periodGap, periodChargeDiffers, periodRefundDiffers
        case subscriptionDiffers, periodEndDiffers, dueActionDiffers
        case subscriptionNotTold, priceAboveAnnounced, unpaidTooLong
        case redemptionDiffers, shareDiffers, movementNotPosted, listNotRead, balanceDiffers

        /// The effect of such a difference on the buyer.
        var effect: Reconciliation.Effect {
            switch self {
            case .undecided, .notCharged, .notPosted, .refundDiffers, .noReceipt,
                .receiptNotRevoked, .notQueued, .queueDiffers, .undelivered, .notCredited,
                .notEntitled, .entitledDespiteRefund, .finishDiffers, .notTold, .accountNotTold,
                .deadLetter, .periodGap, .dueActionDiffers, .subscriptionNotTold,
                .movementNotPosted, .listNotRead:
                .lost
            case .chargedTwice, .chargedWithoutPurchase, .chargeUnknown, .postedTwice,
                .receiptTwice, .deliveredTwice, .creditedTooMuch, .toldTwice, .periodsOverlap:
                .doubled
            case .amountDiffers, .postedWithoutPurchase, .unbalanced, .receiptWithoutPurchase,
                .queuedWithoutPurchase, .deliveredWithoutPurchase, .accountUnknown,
                .periodChargeDiffers, .periodRefundDiffers, .subscriptionDiffers,
                .periodEndDiffers, .priceAboveAnnounced, .unpaidTooLong, .redemptionDiffers,
                .shareDiffers, .balanceDiffers:
                .wrong
            }
        }

        /// The problem, as a heading.
        package var title: String {
            switch self {
            case .undecided: "payments without an outcome"
            case .notCharged: "purchased, and not on the processor's list"
            case .chargedTwice: "charged more than once"
            case .chargedWithoutPurchase: "charged, and not purchased"
            case .chargeUnknown: "on the processor's list, and nobody's payment"
            case .amountDiffers: "amounts that differ"
            case .notPosted: "charged, and not posted"
            case .postedTwice: "posted more than once"
            case .postedWithoutPurchase: "posted, and not purchased"
            case .unbalanced: "postings that do not sum to zero"
            case .refundDiffers: "refunds that are not in all books"
            case .noReceipt: "purchased, and without a receipt"
            case .receiptTwice: "more than one receipt"
            case .receiptWithoutPurchase: "receipts without a purchase"
            case .receiptNotRevoked: "refunded, and the receipt is not revoked"
            case .notQueued: "purchased, and not in the queue"
            case .queueDiffers: "in another state in the queue"
            case .queuedWithoutPurchase: "in the queue, and unknown to payments"
            case .undelivered: "purchased, and not delivered"
            case .deliveredTwice: "more deliveries than the plan has"
            case .deliveredWithoutPurchase: "delivered, and not purchased"
            case .notCredited: "fewer credits than the purchase gives"
            case .creditedTooMuch: "more credits than the purchase gives"
            case .notEntitled: "purchased, and not owned"
            case .entitledDespiteRefund: "refunded, and still owned"
            case .finishDiffers: "finishes that are not known everywhere"
            case .notTold: "without the event that reports it"
            case .toldTwice: "reported by more than one event"
            case .accountNotTold: "accounts whose clients do not have the newest version"
            case .accountUnknown: "accounts at a version that payments does not know"
            case .deadLetter: "events that a service could not apply"
            case .periodsOverlap: "subscriptions whose periods overlap"
            case .periodGap: "subscriptions with a gap that nothing explains"
            case .periodChargeDiffers: "periods that are not charged once, at their price"
            case .periodRefundDiffers: "periods whose refunds are not those that are due"
            case .subscriptionDiffers: "subscriptions that are not what their changes say"
            case .periodEndDiffers: "periods that do not end when their product says"
            case .dueActionDiffers: "subscriptions whose next action is not the one that is due"
            case .subscriptionNotTold: "subscriptions of which a service shows an older version"
            case .priceAboveAnnounced: "renewals above the price that the subscriber was told of"
            case .unpaidTooLong: "grace or billing retry that lasts longer than is set"
            case .movementNotPosted: "moved at the processor, and not posted"
            case .listNotRead: "the processor's list is more than a day old"
            case .balanceDiffers: "balances at the processor that are not the ledger's"
            case .redemptionDiffers: "offer codes whose redemptions do not match their payments"
            case .shareDiffers: "purchases that families do not share as they should"
            }
        }

        /// The advice to the operator.
        package var advice: String {
            switch self {
            case .undecided:
                "payments keeps asking the processor: see 'counterfoil why ID', and check that payments "
                    + "and the processor are up."
            case .notCharged:
                "Nobody has paid: look for the charge at the processor by its time and amount. If it is "
                    + "not there, the books are wrong: keep them as they are and find out why."
            case .chargedTwice, .chargedWithoutPurchase:
                "Somebody has paid for nothing: refund it at the processor, and keep a record of that."
            case .chargeUnknown:
                "The store does not know who paid: was a database restored from an older backup? payments "
                    + "takes the charge of a renewal over when it is due or tried again. Refund any other at "
                    + "the processor, or find the payment in the log of payments. If another shop uses the "
                    + "same account at the processor, give the store an account of its own."
            case .amountDiffers:
                "Compare the processor's receipt with the price of the transaction; refund "
                    + "the excess."
            case .notPosted, .postedTwice, .postedWithoutPurchase, .unbalanced:
                "The ledger is append-only: correct it with a reversing posting, never by editing a row. "
                    + "Keep the databases as they are until it is explained."
            case .redemptionDiffers:
                "Was payments restored from an older backup? Deactivate the campaign with 'counterfoil "
                    + "codes deactivate' until it is explained."
            case .shareDiffers:
                "Was payments restored from an older backup? 'counterfoil families share FAMILY ACCOUNT "
                    + "off', and then 'on', has payments look again."
            case .movementNotPosted:
                "payments could not post it, because its currency cannot have that amount; the log of "
                    + "payments has the error. Post it by hand, and keep a record of that."
            case .listNotRead:
                "payments cannot read the list of movements: see its log and 'processor_away'. Its API "
                    + "key needs the permission to read balance transactions."
            case .balanceDiffers:
                "Compare the processor's own report of the balance, payouts included, with the ledger's account "
                    + "processor_balance, day by day, back to where they agree. A movement that is missing is "
                    + "posted by hand; keep a record of that."
            case .refundDiffers:
                "See 'counterfoil why ID'; 'counterfoil refund ID' asks again and refunds only once."
            case .noReceipt:
                "receipts has not signed it: 'counterfoil lag' and 'counterfoil dead-letters list' say "
                    + "why; it signs by itself once it can."
            case .receiptTwice:
                "The table allows only one: find out whether a database was restored over another."
            case .receiptWithoutPurchase:
                "Revoke what it proves: refund it, and find out who signed. 'counterfoil keys revoke' "
                    + "if the key is not yours alone."
            case .receiptNotRevoked:
                "receipts has not acted on the refund: see 'counterfoil lag' and 'counterfoil dead-letters "
                    + "list'."
            case .notQueued, .queueDiffers:
                "fulfillment has not acted on an event: see 'counterfoil lag' and 'counterfoil "
                    + "dead-letters list'; it goes on by itself once it can."
            case .queuedWithoutPurchase:
                "The databases are from different times. Check whether one was restored from an older "
                    + "backup."
            case .undelivered:
                "An unconfirmed webhook is repeated by itself: 'counterfoil why ID' shows its last "
                    + "answer; fix the endpoint."
            case .deliveredTwice, .deliveredWithoutPurchase, .notCredited, .creditedTooMuch,
                .notEntitled, .entitledDespiteRefund:
                "Find out what was delivered ('counterfoil why ID') before you correct it by hand."
            case .finishDiffers:
                "The event of the finish is under way or stuck: see 'counterfoil lag' and 'counterfoil "
                    + "dead-letters list'."
            case .notTold, .toldTwice:
                "The log is not what the service wrote: 'counterfoil verify' says whether rows were "
                    + "removed or inserted."
            case .accountNotTold, .accountUnknown:
                "fulfillment has not acted on an event of the account (see 'counterfoil lag' and "
                    + "'counterfoil dead-letters list'), or the databases are from different times."
            case .deadLetter:
                "See 'counterfoil dead-letters show SERVICE ID'; fix the cause, then 'counterfoil "
                    + "dead-letters redrive', or discard it."
            case .periodsOverlap, .periodGap, .periodChargeDiffers, .periodRefundDiffers,
                .priceAboveAnnounced:
                "See 'counterfoil why ID'. Refund what was paid for nothing with 'counterfoil refund'."
            case .subscriptionDiffers, .dueActionDiffers, .unpaidTooLong:
                "A row was changed by hand or by a mistake: 'counterfoil replay --verify' compares it "
                    + "with the log. payments renews nothing before the row is right."
            case .periodEndDiffers:
                "Does payments have another SUBSCRIPTION_TIME_ZONE or SANDBOX_SUBSCRIPTION_RATE? Give them "
                    + "to 'counterfoil reconcile' as --time-zone and --subscription-rate, and to the console as "
                    + "settings of the same names."
            case .subscriptionNotTold:
                "The service has not acted on an event of the account: see 'counterfoil lag' and "
                    + "'counterfoil dead-letters list'."
            }
        }
    }

    let kind: Kind
    /// The transaction; `nil` if the difference is about something else.
    let transactionID: TransactionID?
    /// The subject of a difference that is not about a transaction.
    var subject: String?
    /// The differing values.
    let detail: String
    /// The refund of a period, if it is not the one that was due.
    var refund: Reconciliation.Difference.PeriodRefund?

    /// The form in which `--json` prints it.
    package var answer: Reconciliation.Difference {
        Reconciliation.Difference(
            kind: kind.rawValue,
            effect: kind.effect,
            transactionID: transactionID,
            subject: subject,
            detail: detail,
            refund: refund
        )
    }
}
