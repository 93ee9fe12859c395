import EventTypes

/// The UUID that lets an app use a signed offer once.
struct OfferNonce: Hashable, Comparable, Sendable {
    let bundleID: BundleID
    /// The UUID in lower case.
    let value: String

    static func < (left: OfferNonce, right: OfferNonce) -> Bool {
        (left.bundleID.rawValue, left.value) < (right.bundleID.rawValue, right.value)
    }
}
