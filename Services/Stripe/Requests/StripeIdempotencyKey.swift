package import EventTypes

/// The key under which Stripe does a thing once.
///
/// Its form is `<attempt>-<kind>-<generation>`. Stripe answers the same key with its first answer,
/// a 500 included, so an attempt whose key has a stored failure needs another key. The generation
/// may rise only after a final inquiry has shown that nothing was done under the last one.
///
/// Stripe may forget a key after 24 hours, and does the thing again for a forgotten key.
/// ``isSafe(firstCalled:now:)`` says for how long a key may be repeated.
package struct StripeIdempotencyKey: Hashable, Sendable, CustomStringConvertible {
    /// The kinds of calls that have keys.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case charge, refund, cancel, customer, setup, detach, update
    }

    /// The longest key that Stripe takes.
    private static let lengthMax = 255
    /// The time for which a key may be repeated: an hour less than Stripe promises to know it.
    package static let lifetime = Duration.seconds(23 * 3600)

    /// The key as it is sent.
    package let description: String

    /// Makes a key.
    ///
    /// - Precondition: The attempt is plain ASCII and short enough for Stripe, and the generation is
    ///   not negative. All of them are ours.
    package init(attempt: String, kind: Kind, generation: Int = 0) {
        precondition(generation >= 0, "Generations are counted from zero.")
        precondition(
            !attempt.isEmpty && attempt.utf8.allSatisfy { (0x21...0x7E).contains($0) },
            "The id of an attempt is plain ASCII."
        )
        description = "\(attempt)-\(kind.rawValue)-\(generation)"
        precondition(description.utf8.count <= Self.lengthMax, "The key is too long for Stripe.")
    }

    /// Whether Stripe still knows a key, so that repeating the call cannot do the thing twice.
    ///
    /// - Parameters:
    ///   - firstCalled: The time of the first call under the key.
    ///   - now: The time of the next call.
    /// - Returns: `false` from 23 hours on. The outcome must then be found by an inquiry.
    package static func isSafe(firstCalled: MachineTime, now: MachineTime) -> Bool {
        now < firstCalled.advanced(by: lifetime)
    }
}
