import EventTypes
import HTTPTypes
import ServiceKit

extension ClockRefusal {
    /// The HTTP problem of the refusal.
    var problem: HTTPProblem {
        switch self {
        case .movesForward(let now):
            .badRequest(
                "clock_moves_forward",
                "The store's clock only moves forward",
                "It is \(now) in the store. Name a later time."
            )
        case .tooFar:
            .badRequest(
                "clock_too_far",
                "The advance is too long",
                "An advance is at most five years long. Make several."
            )
        case .keyReused: .idempotencyKeyReused
        case .beyondCertificates(let end):
            Self.conflict(
                "clock_beyond_certificates",
                "The receipts' certificates end before that",
                "Receipts can be signed until \(end). Renew the certificates to go further."
            )
        case .advancing(let advance):
            Self.conflict(
                "clock_advancing",
                "The store's clock is advancing",
                "It is on its way to \(advance.target). Wait until its status is ready."
            )
        case .failed(let advance, let reason):
            Self.conflict(
                "clock_failed",
                "An advance of the store's clock has failed",
                "It did not reach \(advance.target). \(reason). Repair the cause, then resume it."
            )
        case .notFailed:
            Self.conflict(
                "clock_not_failed",
                "No advance of the store's clock has failed",
                "There is nothing to resume."
            )
        case .notAdvancing, .notAtTarget:
            Self.conflict(
                "clock_not_there",
                "The store's clock is not in that state",
                "Ask for its status."
            )
        }
    }

    private static func conflict(_ code: String, _ title: String, _ detail: String) -> HTTPProblem {
        HTTPProblem(.conflict, code: code, title: title, detail: detail)
    }
}

extension HTTPProblem {
    /// The text of a span of time cannot be read.
    static let clockSpanMalformed = badRequest(
        "clock_span_malformed",
        "The span of time is malformed",
        "Write numbers with w, d, h, m, s or ms, larger units first: 31d, 1h30m, 500ms."
    )

    /// The text of a rate cannot be read.
    static let clockRateMalformed = badRequest(
        "clock_rate_malformed",
        "The rate is malformed",
        """
        Write what passes on the machines, and what passes in the store meanwhile: 1h=1d. The store's \
        clock is at least as fast as the machines', and at most a year in a second.
        """
    )

    /// The request does not say how far to advance the clock.
    static let clockAmountMissing = badRequest(
        "clock_amount_missing",
        "The advance has no amount",
        "Say either by, such as 31d, or to, in milliseconds since 1970."
    )
}
