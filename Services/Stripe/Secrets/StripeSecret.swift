/// A key or a secret of the Stripe account, which never prints itself.
///
/// Only the code that sends or checks something with it reads its text.
package struct StripeSecret: Hashable, Sendable {
    /// The secret itself.
    let text: String

    /// The secret as text, for the one who may have it; never for a log or a table.
    package var revealed: String { text }

    /// Wraps a secret.
    package init(_ text: String) { self.text = text }
}

extension StripeSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "<redacted>" }
    package var debugDescription: String { "<redacted>" }
    /// A mirror without children, so that `dump` shows nothing either.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
