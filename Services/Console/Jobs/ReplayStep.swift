/// A step that an administrator decides on when a replay is planned or has stopped.
enum ReplayStep: Hashable, Sendable {
    /// Begins to send the plan; events that cannot be read are skipped only if somebody says so.
    case begin(skippingUnreadable: Bool)
    /// Goes on with what has begun.
    case goOn

    /// The words for the decision.
    var words: String {
        switch self {
        case .begin: "began to send"
        case .goOn: "went on with it"
        }
    }
}
