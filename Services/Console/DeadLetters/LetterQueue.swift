import OperatorCore

/// The open dead letters of a key in one service, in the order in which they will be applied.
struct LetterQueue: Hashable, Sendable {
    /// The events that could not be applied.
    let dead: [RecordedDeadLetter]
    /// The events that wait behind them.
    let parked: [RecordedDeadLetter]
    /// The number of all open ones, also of those that are not listed here.
    let count: Int
}
