import EventTypes

/// What a restore came to.
enum RestoreReply: Sendable {
    case restored([Transaction], isReplay: Bool)
    /// The account owns more than is restored in one go.
    case tooMany(max: Int)
    case keyReused
}
