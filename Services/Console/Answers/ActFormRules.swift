import EventTypes
import StoreAPI

/// Decides whether the form of an act is complete.
///
/// Pure.
enum ActFormRules {
    /// The way back to the page of a purchase.
    static func back(to id: TransactionID) -> ConsoleProblem.Back {
        ConsoleProblem.Back(path: "/purchases/\(id)", words: "Back to the purchase")
    }

    /// The reason, which every act needs.
    static func reason(
        in form: FormFields,
        back: ConsoleProblem.Back
    ) throws(ConsoleProblem) -> ActReason {
        guard let reason = form["reason"].flatMap({ ActReason(rawValue: $0) }) else {
            throw ConsoleProblem(
                400,
                "Nothing was done: a reason is missing",
                "Write \(ActReason.form).",
                back: back
            )
        }
        return reason
    }

    /// The reason of an act that may have none; `nil` if none was given.
    static func reasonIfGiven(
        in form: FormFields,
        back: ConsoleProblem.Back
    ) throws(ConsoleProblem) -> ActReason? {
        try (form["reason"] ?? "").isEmpty ? nil : reason(in: form, back: back)
    }

    /// The key under which an act is done once, however often its form is sent.
    static func key(in form: FormFields) throws(ConsoleProblem) -> IdempotencyKey {
        guard let key = form["key"].flatMap({ IdempotencyKey(rawValue: $0) }) else {
            throw ConsoleProblem(400, "The form cannot be read", "Nothing was done.")
        }
        return key
    }

    /// The decision of an approver.
    static func decision(in form: FormFields) throws(ConsoleProblem) -> ApprovalRequest.Decision {
        guard let decision = form["decision"].flatMap({ ApprovalRequest.Decision(rawValue: $0) })
        else { throw ConsoleProblem(400, "The form cannot be read", "Nothing was done.") }
        return decision
    }

    /// The order of a purchase, which is typed to refund it.
    static func order(of transaction: Transaction) -> OrderID {
        // A renewal has an order of its own. A copy has that of its original.
        transaction.reason.order(of: transaction.id) ?? OrderID(transaction.originalID)
    }

    /// Requires that the order was typed, which shows that the right purchase is refunded.
    static func requireOrder(
        _ order: OrderID,
        in form: FormFields,
        of id: TransactionID
    ) throws(ConsoleProblem) {
        guard form["order"]?.uppercased() == order.rawValue.uppercased() else {
            throw ConsoleProblem(
                400,
                "Nothing was done: this is another order",
                "The order of this purchase is \(order).",
                back: back(to: id)
            )
        }
    }

    /// Requires that a text was typed, which shows that its sender means it.
    static func requireTyped(
        _ text: String,
        in form: FormFields,
        back: ConsoleProblem.Back
    ) throws(ConsoleProblem) {
        guard form["typed"] == text else {
            throw ConsoleProblem(
                400,
                "Nothing was done: another text was typed",
                "Type \(text) to confirm.",
                back: back
            )
        }
    }
}
