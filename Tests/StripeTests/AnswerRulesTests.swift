import EventTypes
import Testing

@testable import Stripe

@Suite struct AnswerRulesTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var status: Int
        var type: String?
        var code: String?
        var decline: String?
        var advice: String?
        var parameter: String?
        var shouldRetry: Bool?
        var hasBody = true
        let kind: StripeFailure.Kind?

        var testDescription: String {
            "\(status) \(code ?? type ?? "") \(decline ?? parameter ?? "")"
        }
    }

    @Test(arguments: [
        Case(status: 200, kind: nil),
        Case(
            status: 402,
            type: "card_error",
            code: "card_declined",
            decline: "insufficient_funds",
            kind: .declined(.insufficientFunds, .later)
        ),
        Case(
            status: 402,
            type: "card_error",
            code: "card_declined",
            decline: "stolen_card",
            kind: .declined(.paymentDeclined, .never)
        ),
        Case(
            status: 402,
            type: "card_error",
            code: "expired_card",
            kind: .declined(.paymentDeclined, .otherMethod)
        ),
        Case(
            status: 402,
            type: "card_error",
            code: "card_declined",
            decline: "authentication_required",
            kind: .declined(.paymentDeclined, .authenticate)
        ),
        Case(
            status: 402,
            type: "card_error",
            code: "card_declined",
            decline: "a_reason_of_tomorrow",
            kind: .declined(.paymentDeclined, .later)
        ),
        Case(
            status: 402,
            type: "card_error",
            code: "card_declined",
            decline: "generic_decline",
            advice: "do_not_try_again",
            kind: .declined(.paymentDeclined, .never)
        ),
        // A decline without a description may be a proxy's: it is no decline.
        Case(status: 402, hasBody: false, kind: .unknown),
        Case(status: 429, code: "lock_timeout", shouldRetry: true, kind: .throttled(after: nil)),
        Case(status: 429, code: "rate_limit", kind: .throttled(after: nil)),
        Case(
            status: 409,
            type: "invalid_request_error",
            code: "idempotency_key_in_use",
            kind: .throttled(after: nil)
        ),
        Case(
            status: 409,
            type: "idempotency_error",
            code: "idempotency_key_in_use",
            kind: .throttled(after: nil)
        ),
        Case(status: 409, type: "invalid_request_error", kind: .throttled(after: nil)),
        Case(status: 409, type: "api_error", kind: .throttled(after: nil)),
        Case(status: 409, hasBody: false, kind: .throttled(after: nil)),
        Case(status: 409, type: "idempotency_error", kind: .keyMisused),
        Case(status: 429, type: "idempotency_error", kind: .throttled(after: nil)),
        Case(status: 400, type: "idempotency_error", kind: .keyMisused),
        // A payment method that is unknown, and one that is another customer's.
        Case(
            status: 400,
            type: "invalid_request_error",
            code: "resource_missing",
            parameter: "payment_method",
            kind: .declined(.paymentDeclined, .otherMethod)
        ),
        Case(
            status: 404,
            type: "invalid_request_error",
            code: "resource_missing",
            parameter: "payment_method",
            kind: .declined(.paymentDeclined, .otherMethod)
        ),
        Case(
            status: 400,
            type: "invalid_request_error",
            parameter: "payment_method",
            kind: .declined(.paymentDeclined, .otherMethod)
        ),
        // Here the store has made a mistake, or may not call at all.
        Case(
            status: 400,
            type: "invalid_request_error",
            code: "parameter_missing",
            parameter: "payment_method",
            kind: .mistaken
        ),
        Case(
            status: 403,
            type: "invalid_request_error",
            parameter: "payment_method",
            kind: .accessRefused
        ),
        Case(
            status: 500,
            type: "invalid_request_error",
            parameter: "payment_method",
            kind: .unknown
        ),
        Case(
            status: 400,
            type: "invalid_request_error",
            code: "resource_missing",
            parameter: "customer",
            kind: .missing
        ),
        Case(
            status: 400,
            type: "invalid_request_error",
            shouldRetry: true,
            kind: .throttled(after: nil)
        ),
        Case(
            status: 400,
            type: "invalid_request_error",
            code: "payment_intent_unexpected_state",
            kind: .stateForbids
        ),
        Case(
            status: 400,
            type: "invalid_request_error",
            code: "charge_already_refunded",
            kind: .stateForbids
        ),
        Case(status: 404, type: "invalid_request_error", code: "resource_missing", kind: .missing),
        Case(status: 400, type: "invalid_request_error", code: "resource_missing", kind: .missing),
        Case(
            status: 400,
            type: "invalid_request_error",
            code: "parameter_unknown",
            kind: .mistaken
        ),
        Case(status: 401, type: "invalid_request_error", kind: .accessRefused),
        Case(status: 403, type: "invalid_request_error", kind: .accessRefused),
        Case(status: 500, type: "api_error", shouldRetry: false, kind: .unknown),
        Case(status: 500, type: "api_error", shouldRetry: true, kind: .unknown),
        Case(status: 503, hasBody: false, kind: .unknown),
        Case(status: 302, hasBody: false, kind: .unknown),
    ])
    func anAnswerHasOneMeaning(_ one: Case) {
        let error = StripeErrorBody(
            type: one.type,
            code: one.code,
            declineCode: one.decline,
            adviceCode: one.advice,
            parameter: one.parameter
        )
        let head = AnswerRules.Head(status: one.status, shouldRetry: one.shouldRetry)
        #expect(AnswerRules.failure(head, one.hasBody ? error : nil)?.kind == one.kind)
    }

    @Test func aWaitThatStripeAsksForIsKept() {
        let head = AnswerRules.Head(status: 429, retryAfter: .seconds(3))
        #expect(AnswerRules.failure(head, nil)?.kind == .throttled(after: .seconds(3)))
    }

    /// No answer becomes a decline unless Stripe describes a card error or names the method.
    @Test func onlyACardErrorIsADecline() {
        for status in 100..<600 {
            for type in [nil, "invalid_request_error", "api_error", "idempotency_error"] {
                let error = type.map {
                    StripeErrorBody(type: $0, code: "card_declined", parameter: "customer")
                }
                let failure = AnswerRules.failure(AnswerRules.Head(status: status), error)
                if case .declined = failure?.kind {
                    Issue.record("\(status) \(type ?? "") is taken for a decline")
                }
            }
        }
    }

    @Test func aFailuresTextNamesCodesAndIDs() {
        let error = StripeErrorBody(
            type: "card_error",
            code: "card_declined",
            declineCode: "lost_card",
            paymentIntent: .init(id: "pi_1")
        )
        let failure = StripeFailure(.unknown, status: 402, error: error, requestID: "req_1")
        #expect(
            failure.description
                == "unknown, status 402, card_error, card_declined, lost_card, pi_1, request req_1"
        )
    }
}
