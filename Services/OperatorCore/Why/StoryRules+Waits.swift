import EventTypes

extension StoryRules {
    /// The words for an event that begins or ends the wait for the buyer; `nil` for any other.
    ///
    /// The first one of a payment begins it, and each is the opposite of the one before.
    func waitText(of event: StoryEvent) -> String? {
        let changes = payments.events.filter { $0.type == .transactionWaitChanged }
        guard let index = changes.firstIndex(where: { $0.id == event.id }) else { return nil }
        return index.isMultiple(of: 2)
            ? "began to wait for its buyer, who has to confirm the charge"
            : "no longer waits for its buyer"
    }

    /// The wait for a charge that the processor has to decide about.
    func wait(for attempt: PaymentsChapter.Attempt, _ next: String) -> String {
        guard !attempt.isInDoubt else {
            return """
                payments first asks the processor for a charge for this period that the books may have lost; \
                again \(next). Its log says so if a charge by a lost card holds the renewal.
                """
        }
        return switch attempt.step {
        case "awaiting_action":
            """
            The buyer has to confirm the charge, as with 3-D Secure; payments asks the processor \
            again \(next).
            """
        case "processing":
            "The processor has begun the charge and has not decided; payments asks again \(next)."
        default:
            """
            payments asks the processor for an outcome (\(attempt.callCount) calls without one); \
            again \(next).
            """
        }
    }

    /// The words for a charge that was lost with the books; empty for any other.
    var takeoverText: String {
        payments.attempts.contains(where: \.isTakenOver)
            ? ", which the books had lost; it is taken over" : ""
    }

    /// The wait for refunds and reversals; `nil` if all are done.
    var undoWait: String? {
        let undone = payments.attempts.filter { $0.kind != "charge" }
        if let open = undone.first(where: { $0.step != "settled" && $0.step != "failed" }) {
            return "payments asks the processor for the \(open.kind)."
        }
        // A later refund has made good what an earlier one could not.
        let last = ["reversal", "refund"].compactMap { kind in undone.last { $0.kind == kind } }
        return last.first { $0.step == "failed" }.map {
            "The processor could not make the last \($0.kind), so no money moved for it."
        }
    }
}
