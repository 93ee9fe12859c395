/// The result of a look of the relay for rows.
enum RelayOutcome {
    /// The batch was full; there may be more rows.
    case full
    /// All rows that were found, so many, are sent, and perhaps all that were committed.
    case sent(Int, areAll: Bool)
    /// There are rows, but a database transaction older than theirs is still running.
    case unsettled
    /// There are only rows that nobody reads soon; they wait so long for others.
    case early(Duration)
    /// There are no rows.
    case empty

    /// Whether there are rows, but none that is published now.
    var hasToWait: Bool {
        switch self {
        case .unsettled, .early: true
        case .full, .sent, .empty: false
        }
    }

    /// Whether a database transaction that is older than the rows is still running.
    var isUnsettled: Bool { if case .unsettled = self { true } else { false } }
}
