extension StoryRules {
    /// The wait for a charge that the processor has to decide about.
    func wait(for attempt: PaymentsChapter.Attempt, _ next: String) -> String {
        switch attempt.step {
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

    /// The wait for refunds and reversals; `nil` if all are done.
    var undoWait: String? {
        let open = payments.attempts.filter { $0.kind != "charge" && $0.step != "settled" }
        guard let attempt = open.first(where: { $0.step != "failed" }) ?? open.last else {
            return nil
        }
        return attempt.step == "failed"
            ? "The processor could not make the last \(attempt.kind), so no money moved for it."
            : "payments asks the processor for the \(attempt.kind)."
    }
}
