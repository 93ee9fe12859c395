import EventTypes
import StoreAPI

/// The words for a buyer's request for a refund, and for what the merchant reports about the purchase.
///
/// Pure.
enum RefundRequestWords {
    /// The words for the buyer's reason.
    static func words(for reason: RefundReason) -> String {
        switch reason {
        case .unintendedPurchase: "bought by mistake"
        case .fulfillmentIssue: "it was not delivered, or does not work"
        case .unsatisfied: "not satisfied"
        case .legal: "a legal reason"
        case .other: "another reason"
        case .unknown(let reason): reason
        }
    }

    /// The state of a request, with its tone.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - refund: The state of its refund; `nil` if it has none, or if nobody has looked.
    /// - Returns: The words.
    static func state(
        of request: RequestedRefund,
        _ refund: RefundRequestResponse.RefundState? = nil
    ) -> NowField {
        switch (request.state, refund) {
        case (.open, _): NowField("open", .warn)
        case (.approved, .pending?):
            NowField("approved; the processor has not confirmed the refund", .warn)
        case (.approved, .failed?):
            NowField("approved, but the processor could not make the refund", .bad)
        case (.approved, .made?): NowField("approved; the buyer has the money", .good)
        case (.approved, nil): NowField("approved", .good)
        case (.declined, _): NowField("declined", .plain)
        case (.unknown(let state), _): NowField(state, .plain)
        }
    }

    /// The merchant's report in short lines: names and values.
    static func lines(of information: ConsumptionInformation) -> [(name: String, value: String)] {
        let report = information.report
        let late = information.isLate ? ", more than 12 hours after the request" : ""
        var lines = [
            (
                "the merchant’s server reported at",
                "\(PlainWords.second(information.receivedAt))\(late)"
            )
        ]
        if let part = report.consumptionPercentage { lines.append(("used", "\(part / 1000) %")) }
        if let status = report.consumptionStatus { lines.append(("use, as a number", "\(status)")) }
        if let status = report.deliveryStatus { lines.append(("delivery", status)) }
        if let wish = report.refundPreference { lines.append(("it would like", wish)) }
        return lines
    }
}
