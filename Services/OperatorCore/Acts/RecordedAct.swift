package import EventTypes

/// An act of an administrator, as the books record it.
package struct RecordedAct: Hashable, Sendable {
    /// The thing that was decided about.
    package enum Subject: Hashable, Sendable {
        case purchase(TransactionID)
        case subscription(TransactionID)
        case product(ProductID)
        case group(SubscriptionGroupID)
        case family(FamilyID)
        case account(AccountID)
        /// A campaign of offer codes, by its number.
        case campaign(Int64)
        case deadLetter(OperatedService, Int64)
        case replay(EventID)
        case proof(EventID)
        /// A raise of a price for those who subscribe already.
        case raise(EventID)
        case reconciliation(EventID)
    }

    /// Who decided, and why; changes of products have no reason.
    package let act: Act
    /// The time in UTC: the store's for events and codes, the machine's for dead letters and jobs.
    package let time: String
    /// The thing that was decided about.
    package let subject: Subject
    /// The decision in words.
    package let words: String
    /// The account, the product or the group; empty for jobs.
    package let key: String
    /// The place in the list, where a next page can begin.
    package let place: String

    /// Makes an act.
    package init(
        act: Act,
        time: String,
        subject: Subject,
        words: String,
        key: String,
        place: String
    ) {
        self.act = act
        self.time = time
        self.subject = subject
        self.words = words
        self.key = key
        self.place = place
    }
}
