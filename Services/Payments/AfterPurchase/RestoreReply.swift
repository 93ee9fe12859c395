import EventTypes

/// The result of a restore.
enum RestoreReply: Sendable {
    case restored([Transaction], isReplay: Bool)
    /// The account owns more than one restore can make.
    case tooMany(max: Int)
    case keyReused
}
