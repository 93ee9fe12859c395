import EventTypes

/// The acts of administrators in a story.
extension StoryRules {
    /// The refunds and their reversals, with who decided them.
    var refundSteps: [Story.Step] {
        func step(_ time: StoreTime, _ text: String) -> Story.Step {
            Story.Step(time: time, service: .service(.payments), kind: "state", text: text)
        }
        // All attempts of a transaction have one payment method.
        let account = payments.attempts.first?.account.map { ", account \($0)" } ?? ""
        return payments.refunds.flatMap { refund in
            let effect = refund.revokes ? "takes the product away" : "leaves the product"
            let refunded = act(of: .transactionRefunded, at: refund.refundedAt)
            let what =
                refund.dispute.map {
                    "taken back by the buyer's bank: \(refund.amount), dispute \($0)\(account)"
                }
                ?? "refunded \(refund.amount)\(refunded)"
            let text = "\(what) (refund \(refund.number), which \(effect))"
            let reversal = refund.reversedAt.map { time in
                let reversed = act(of: .transactionRefundReversed, at: time)
                return step(time, "refund \(refund.number) reversed\(reversed)")
            }
            return [step(refund.refundedAt, text)] + [reversal].compactMap(\.self)
        }
    }

    /// Who decided an event, as the end of a sentence; empty if nobody did.
    private func act(of type: EventType, at time: StoreTime) -> String {
        let event = payments.events.first { $0.type == type && $0.time == time }
        return event?.act.map { " \($0)" } ?? ""
    }

    /// The buyer's requests for a refund, and the decisions about them.
    var refundRequestSteps: [Story.Step] {
        payments.events.compactMap { event in
            guard let request = event.request else { return nil }
            let act = event.act.map { " \($0)" } ?? ""
            let text =
                request.state == .open
                ? "the buyer asked for a refund: \(request.reason) (request \(request.number))"
                : "request \(request.number) \(request.state)\(act)"
            return Story.Step(
                time: event.time,
                service: .service(.payments),
                kind: "state",
                text: text
            )
        }
    }

    /// The decisions of approvers.
    var approvalSteps: [Story.Step] {
        payments.events.compactMap { event in
            guard let act = event.act else { return nil }
            let verb: String
            switch event.type {
            case .transactionApproved: verb = "approved"
            case .transactionFailed: verb = "declined"
            default: return nil
            }
            return Story.Step(
                time: event.time,
                service: .service(.payments),
                kind: "state",
                text: "\(verb) \(act)"
            )
        }
    }
}
