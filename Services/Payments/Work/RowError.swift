import Logging
import Postgres

/// The errors of a row that cannot be read or written, which must not hold up the work on others.
enum RowError {
    /// The line of the log that says what an operator does about it.
    static let remedy: Logger.Message = """
        A row cannot be read or written. The work on it is left alone, and tried again with growing \
        pauses; all other work goes on. Correct the row: counterfoil reconcile names wrong rows, and \
        counterfoil replay --verify shows what the log says of them
        """

    /// Decides whether an error comes from a row.
    ///
    /// A database that is unreachable, busy or badly configured says nothing about a row. These errors
    /// do: SQLSTATE classes 22 (data), 23 (constraints) and XX (a damaged row), and values that cannot
    /// be read.
    ///
    /// - Parameter error: The error of work on one row or many.
    /// - Returns: Whether one of the rows is its cause.
    static func matches(_ error: any Error) -> Bool {
        guard !(error is CancellationError) else { return false }
        guard let error = error as? PostgresError else { return true }
        guard !error.isRetriable, !error.isOutcomeUnknown else { return false }
        guard let state = error.sqlState else { return error.code == .decoding }
        return ["22", "23", "XX"].contains(state.prefix(2))
    }
}
