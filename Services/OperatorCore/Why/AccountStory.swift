package import EventTypes

/// The purchases of an account, each with the step that it waits for.
package struct AccountStory: Encodable, Hashable, Sendable {
    /// A purchase, as the queue has it.
    package struct Purchase: Encodable, Hashable, Sendable {
        /// The transaction.
        package let transactionID: TransactionID
        /// The app.
        package let bundleID: BundleID
        /// The product.
        package let productID: String
        /// The state of the transaction.
        package let state: String
        /// Whether everything is delivered.
        package let isDelivered: Bool
        /// Whether it was taken away.
        package let isRevoked: Bool
        /// The time at which the app finished it.
        package let finishedAt: StoreTime?
        /// The time of its last change.
        package let changedAt: StoreTime

        /// The state of the purchase, in a few words.
        package var stand: Stand {
            if state == "failed" {
                return finishedAt == nil
                    ? Stand("failed, not finished", .waiting) : Stand("failed", .over)
            }
            if finishedAt != nil {
                return Stand(isRevoked ? "finished, refunded" : "finished", .done)
            }
            if isRevoked { return Stand("refunded", .waiting) }
            switch state {
            case "purchased", "restored":
                return isDelivered
                    ? Stand("delivered, not finished", .waiting) : Stand("not delivered yet", .late)
            case "deferred": return Stand("waits for approval", .waiting)
            default: return Stand("under way", .waiting)
            }
        }
    }

    /// The progress of a purchase.
    package struct Stand: Hashable, Sendable {
        /// Whether anything is left to do; nothing is of a purchase that is over without a success.
        package enum Kind: Hashable, Sendable { case done, over, waiting, late }

        /// The state in a few words.
        package let words: String
        /// Whether anything is left to do.
        package let kind: Kind

        init(_ words: String, _ kind: Kind) {
            self.words = words
            self.kind = kind
        }
    }

    /// The buyer.
    package let accountID: AccountID
    /// The purchases, newest first.
    package let purchases: [Purchase]
    /// Whether there are more purchases.
    package let isCut: Bool
    /// The account's open dead letters, from all services.
    package let deadLetters: [RecordedDeadLetter]
}

extension AccountStory {
    /// Makes the story of an account that has bought nothing.
    package init(withoutPurchasesOf account: AccountID) {
        self.init(accountID: account, purchases: [], isCut: false, deadLetters: [])
    }
}
