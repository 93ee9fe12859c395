import EventTypes
import OperatorCore

/// A purchase in the words of people who answer buyers.
///
/// Pure.
enum PurchaseWords {
    /// The state of a purchase, with the reason of a failure, and with what was given back.
    static func state(of story: Story) -> String {
        let words = state(
            story.state,
            isFree: story.price.isZero,
            failure: story.failureReason
        )
        if story.revokedAt != nil { return words + ", taken away" }
        return givenBack(of: story).isZero ? words : words + ", partly given back"
    }

    /// The state of a purchase, with the reason of a failure.
    static func state(_ state: TransactionState, isFree: Bool, failure name: String?) -> String {
        switch state {
        case .purchasing: "being charged"
        case .deferred: "waits for approval"
        case .purchased: isFree ? "free" : "paid"
        case .restored: "restored"
        case .failed: "failed" + (name.map { ": \(failure($0))" } ?? "")
        case .unknown(let name): name
        }
    }

    /// The reason of a failure; one that only a newer version knows is shown as it is.
    static func failure(_ name: String) -> String {
        switch FailureReason(rawValue: name) {
        case .paymentCancelled: "the buyer cancelled"
        case .paymentDeclined: "the card was declined"
        case .insufficientFunds: "there was not enough money"
        case .buyerMustAct: "the bank wanted the buyer to confirm it"
        case .approvalDeclined: "it was not approved"
        case .approvalExpired: "nobody approved it in time"
        case .processorRefused: "the processor refused the payment"
        case .storefrontChanged: "the account’s region has changed meanwhile"
        case .paymentsNotAllowed: "the account may not pay"
        case .interrupted: "the buyer left to solve a problem"
        case .subscriptionChanged: "the subscription changed meanwhile"
        case .unknown(let name): name
        }
    }

    /// The amount that was given back so far, as the ledger has it.
    static func givenBack(of story: Story) -> Money {
        var sum = Money.zero(story.price.currency)
        for posting in story.postings where isReturn(posting.kind) {
            for entry in posting.entries
            where entry.account.hasPrefix("buyer:") && entry.amount.currency == sum.currency {
                sum = sum.adding(entry.amount) ?? sum
            }
        }
        return sum
    }

    /// Whether a posting moves the price of a purchase back to the buyer, or to the store again.
    private static func isReturn(_ kind: String) -> Bool {
        kind.hasPrefix("refund") || kind.hasPrefix("chargeback")
    }

    /// The kind of a posting.
    static func posting(_ kind: String) -> String {
        switch kind {
        case "refund_reversal": "refund taken back"
        case "chargeback": "taken back by the bank"
        case "chargeback_reversal": "given back by the bank"
        default: kind.replacing("_", with: " ")
        }
    }

    /// An account of the ledger.
    static func account(_ name: String) -> String {
        switch name {
        case "store_revenue": "the store’s revenue"
        case "tax_payable": "tax to be paid"
        case "refunds": "refunds"
        case "chargebacks": "taken back by banks"
        case "processor_clearing": "charges to be returned"
        default: name.hasPrefix("buyer:") ? "the buyer" : name.replacing("_", with: " ")
        }
    }
}
