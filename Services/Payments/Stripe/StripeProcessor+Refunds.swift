import EventTypes
import Logging
import Stripe

/// Gives money back.
extension StripeProcessor {
    /// Refunds a charge or a part of it.
    func refund(_ call: UndoCall) async -> UndoOutcome {
        guard let charge = call.undoes else {
            logger.error(
                "A refund belongs to no payment at Stripe; it waits",
                metadata: ["attempt": "\(call.attemptID)"]
            )
            return .unavailable
        }
        let amount: ProcessorAmount
        do throws(ProcessorAmountError) { amount = try ProcessorAmount(call.amount) } catch {
            logger.error(
                "Stripe cannot give an amount back",
                metadata: ["attempt": "\(call.attemptID)", "error": "\(error)"]
            )
            return .failed(.processorRefused)
        }
        do throws(StripeFailure) {
            let refund = try await gate.pass(.refunds) { () async throws(StripeFailure) in
                try await client.createRefund(
                    of: charge.rawValue,
                    amount,
                    metadata: Self.metadata(of: call.key, call.transactionID),
                    key: Self.key(of: call.key)
                )
            }
            return Self.undone(Self.outcome(of: refund))
        } catch {
            return await outcome(of: error, call)
        }
    }

    private func outcome(of failure: StripeFailure, _ call: UndoCall) async -> UndoOutcome {
        switch failure.kind {
        case .throttled(let pause): return .throttled(retryAfter: pause ?? Self.pause)
        case .accessRefused: return .throttled(retryAfter: StripeGate.refusalPause)
        case .unknown, .keyMisused:
            note(failure, under: call.key)
            return .unknown
        case .declined, .stateForbids, .missing, .mistaken:
            logger.error(
                "Stripe refuses a refund",
                metadata: ["attempt": "\(call.attemptID)", "failure": "\(failure)"]
            )
            // It may be refused because it was made before.
            do throws(StripeFailure) {
                guard let refund = try await refund(under: call.key, of: call.undoes) else {
                    return .failed(.processorRefused)
                }
                return Self.undone(Self.outcome(of: refund))
            } catch {
                return error.kind == .missing ? .failed(.processorRefused) : .unknown
            }
        }
    }

    /// Looks a refund up: by its id, or in the list of its payment.
    func lookForRefund(_ inquiry: Inquiry) async -> InquiryOutcome {
        do throws(StripeFailure) {
            if let reference = inquiry.reference {
                let refund = try await gate.pass(.inquiries) { () async throws(StripeFailure) in
                    try await client.refund(reference.rawValue)
                }
                return found(
                    Self.outcome(of: refund),
                    under: refund.metadata?["key"],
                    for: inquiry
                )
            }
            guard let refund = try await refund(under: inquiry.key, of: inquiry.undoes) else {
                return .notFound(isFinal: isFinal(inquiry))
            }
            return Self.outcome(of: refund)
        } catch {
            return .unavailable
        }
    }

    /// Finds a refund in the list of its payment.
    private func refund(
        under key: CallKey,
        of charge: ProcessorReference?
    ) async throws(StripeFailure) -> StripeRefund? {
        guard let charge else { throw StripeFailure(.missing) }
        return try await refunds(of: charge.rawValue).last { $0.metadata?["key"] == "\(key)" }
    }

    /// Lists all refunds of a payment, oldest first.
    func refunds(of payment: String) async throws(StripeFailure) -> [StripeRefund] {
        var request = StripeListRequest()
        var refunds: [StripeRefund] = []
        while true {
            let page = try await gate.pass(.inquiries) {
                [request] () async throws(StripeFailure) in
                try await client.refunds(of: payment, request)
            }
            refunds += page.data
            guard page.hasMore, let last = page.data.last else { return refunds.reversed() }
            request.after = last.id
        }
    }

    /// The outcome of a refund, as Stripe has it now.
    static func outcome(of refund: StripeRefund) -> InquiryOutcome {
        let reference = ProcessorReference(rawValue: refund.id)
        return switch refund.status {
        case "succeeded": .refunded(reference: reference)
        case "failed", "canceled": .failed(.processorRefused, reference: reference)
        default: .pending(reference: reference)
        }
    }

    private static func undone(_ found: InquiryOutcome) -> UndoOutcome {
        switch found {
        case .refunded(let reference): .undone(reference: reference)
        case .pending(let reference): .pending(reference: reference)
        case .failed(let reason, let reference): .failed(reason, reference: reference)
        default: .unknown
        }
    }
}
