import EventTypes

/// Acts in words.
///
/// Pure.
enum ActWords {
    /// An act about a purchase; `nil` if the event records none.
    static func act(
        in change: TransactionChanged,
        of type: EventType
    ) -> (act: Act, words: String)? {
        guard let act = change.act else { return nil }
        let transaction = change.transaction
        let what = "\(transaction.quantity) × \(transaction.productID)"
        let amount = change.posting?.gross ?? transaction.price
        let words: String? =
            switch type {
            case .transactionApproved: "approved \(what) for \(transaction.price)"
            case .transactionFailed: "declined \(what) for \(transaction.price)"
            case .transactionRefunded: "refunded \(amount) of \(what)"
            case .transactionRefundReversed: "reversed a refund of \(amount) of \(what)"
            default: nil
            }
        return words.map { (act, $0) }
    }

    /// An act about a subscription; `nil` if nobody decided.
    static func act(in change: SubscriptionChanged) -> (act: Act, words: String)? {
        guard let act = change.act else { return nil }
        var change = change
        // The act stands beside the words.
        change.act = nil
        let words = SubscriptionWords().text(of: change)
        return (act, "\(change.subscription.product.id): \(words)")
    }

    /// A decision about a buyer's request for a refund; `nil` if nobody decided.
    static func act(in change: RefundRequestChanged) -> (act: Act, words: String)? {
        let request = change.request
        return change.act.map {
            ($0, "\(request.state) a request for a refund of \(request.productID)")
        }
    }

    /// A change of a family; `nil` if nobody decided.
    static func act(in change: FamilyChanged) -> (act: Act, words: String)? {
        let family = change.family
        let members = family.members.map(\.accountID.rawValue).joined(separator: ", ")
        let words =
            family.endedAt != nil
            ? "ended the family of \(family.organizer)"
            : family.version == 1
                ? "made a family of \(members)"
                : "changed the family of \(family.organizer), now with \(members)"
        return change.act.map { ($0, words) }
    }

    /// A change of an account; `nil` if no administrator made it.
    static func act(in change: AccountChanged) -> (act: Act, words: String)? {
        let account = change.account
        let permission = account.canMakePayments ? "may pay" : "may not pay"
        let storefront = account.storefront.map { "the storefront \($0)" } ?? "any storefront"
        return change.act.map {
            (
                $0,
                "set that an account \(permission) in \(account.bundleID), and that it buys in "
                    + storefront
            )
        }
    }

    /// An extension of all subscribers of a product; `nil` if nobody decided.
    static func act(in change: MassExtensionChanged) -> (act: Act, words: String)? {
        let request = change.request
        return change.act.map {
            ($0, "extends all subscribers of \(request.productID) by \(request.days) days")
        }
    }

    /// A decision about a dead letter.
    static func words(for state: String, type: String) -> String {
        switch state {
        case "discarded": "discarded \(type)"
        case "redriven": "redrove \(type)"
        default: "asked to redrive \(type), which is \(state)"
        }
    }
}
