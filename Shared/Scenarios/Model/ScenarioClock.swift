public import EventTypes

/// The way in which the store's clock goes on.
public enum ScenarioClock: Hashable, Sendable, CustomStringConvertible {
    /// It stands still.
    case frozen
    /// It runs at a rate.
    case running(ClockRate)

    /// Reads `frozen`, `real` or a rate such as `1h=1d`.
    ///
    /// - Returns: `nil` for anything else.
    init?(_ text: String) {
        switch text {
        case "frozen": self = .frozen
        case "real": self = .running(.one)
        default:
            guard let rate = ClockRate(text) else { return nil }
            self = .running(rate)
        }
    }

    /// The clock in words.
    public var description: String {
        switch self {
        case .frozen: "freeze the clock"
        case .running(.one): "run the clock as fast as the machines'"
        case .running(let rate): "run the clock at \(rate)"
        }
    }
}
