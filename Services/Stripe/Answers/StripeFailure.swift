package import EventTypes

/// A call that Stripe did not carry out, or whose outcome is not known.
///
/// Its text has codes and ids only, so that it may be logged.
package struct StripeFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failures, by what is to be done about them.
    package enum Kind: Hashable, Sendable {
        /// The buyer's card was refused, or Stripe does not take the payment method at all. In the
        /// second case the error names no payment, because none was made.
        case declined(FailureReason, DeclineAdvice)
        /// Stripe has not begun with the call. Repeat it later, under the same key.
        case throttled(after: Duration?)
        /// It may have been done. Inquire before anything else is called.
        case unknown
        /// The object's state forbids it: a payment that succeeded cannot be cancelled. Look at it.
        case stateForbids
        /// There is no such object.
        case missing
        /// The store used one key for two different requests, which is a bug. The outcome of the
        /// first is open: inquire.
        case keyMisused
        /// Stripe does not take the store's key, or its rights. No payment fails for that.
        case accessRefused
        /// The request is wrong, which is a bug or a wrong setting. No payment fails for that.
        case mistaken
    }

    /// The kind.
    package let kind: Kind
    /// The status of the answer; `nil` if there was none.
    package let status: Int?
    /// The error that Stripe described.
    package let error: StripeErrorBody?
    /// The id under which Stripe finds the request in its logs.
    package let requestID: String?
    /// Whether the answer is the kept one of an earlier call under the same key.
    ///
    /// A kept error of the server means that no call under the key will ever do anything.
    package let isReplayed: Bool

    /// Makes a failure.
    package init(
        _ kind: Kind,
        status: Int? = nil,
        error: StripeErrorBody? = nil,
        requestID: String? = nil,
        isReplayed: Bool = false
    ) {
        self.kind = kind
        self.status = status
        self.error = error
        self.requestID = requestID
        self.isReplayed = isReplayed
    }

    package var description: String {
        let parts = [
            status.map { "status \($0)" }, error?.type, error?.code, error?.declineCode,
            error?.parameter.map { "parameter \($0)" }, error?.paymentIntent?.id,
            requestID.map { "request \($0)" },
        ]
        return (["\(kind)"] + parts.compactMap { $0 }).joined(separator: ", ")
    }
}
