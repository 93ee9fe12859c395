/// An event that was found in a service's log, with the thing that it is about.
package struct FoundEvent: Hashable, Sendable {
    /// The topic.
    package let topic: String
    /// The key, mostly an account.
    package let key: String
    /// The subject, such as a transaction.
    package let subject: String
}
