/// The request that an attempt makes to the processor.
///
/// The raw values are stored in the table.
enum AttemptKind: String, Hashable, Sendable {
    case charge
    case refund
    /// The processor gets the money of a refund back for the store.
    case reversal
}
