/// The advice of a payment processor after a decline.
///
/// The raw values are stored in a table of `payments`.
public enum DeclineAdvice: String, Hashable, Sendable, CaseIterable {
    /// No charge with this payment method will succeed.
    case never
    /// The same charge may succeed later.
    case later
    /// The buyer should choose another payment method, or correct this one.
    case otherMethod
    /// The buyer has to confirm the charge in person.
    case authenticate
}
