/// One line of the report on a StoreKit configuration file.
struct StoreKitNote: Hashable, Sendable, CustomStringConvertible {
    /// The fate of a part of the file.
    enum Outcome: String, Sendable {
        /// It is in the catalog as it is in the file.
        case taken
        /// It is in the catalog, but differently.
        case changed
        /// It is not in the catalog; the rest of the file is.
        case notTaken = "not taken"
        /// It has to be corrected; nothing of the file is imported.
        case wrong
    }

    var outcome: Outcome
    /// The part of the file: a product, a group or a setting.
    var subject: String
    /// The reason or the content, as the rest of a sentence that begins with the subject.
    var text: String

    var description: String { "\(outcome.rawValue): \(subject) \(text)" }
}
