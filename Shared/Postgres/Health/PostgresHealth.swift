/// The database's ability to serve, known from the probe and from the results of real work.
///
/// Pure: it decides by values alone.
struct PostgresHealth: Sendable {
    /// The time for which a failure of real work counts even if the probe succeeds, because the
    /// probe may not test what failed.
    static let standing = Duration.seconds(5)

    private var probed: String?
    private var failed: (problem: String, time: ContinuousClock.Instant)?
    private var doubtedSince: ContinuousClock.Instant?

    /// The problem, in a few words; `nil` if none is known.
    var problem: String? { probed ?? failed?.problem }

    /// Whether the next probe must also commit a write.
    ///
    /// It does so only after a failure: constant writes would keep an idle server's log busy.
    var wantsWrite: Bool { failed != nil || doubtedSince != nil }

    /// Notes that the probe succeeded.
    ///
    /// - Parameters:
    ///   - start: The time when it began.
    ///   - isReadOnly: Whether the server is read-only.
    ///   - hasWritten: Whether the probe has committed a write.
    mutating func answered(
        since start: ContinuousClock.Instant,
        isReadOnly: Bool,
        hasWritten: Bool
    ) {
        probed = isReadOnly ? Self.readOnly : nil
        guard hasWritten else { return }
        if let time = failed?.time, time.duration(to: start) >= Self.standing { failed = nil }
        if let time = doubtedSince, time < start { doubtedSince = nil }
    }

    /// Notes that the probe failed.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - isSilence: Whether the server did not answer before the timeout.
    ///   - isConnected: Whether real work has a connection.
    mutating func probeFailed(_ error: PostgresError, isSilence: Bool, isConnected: Bool) {
        if isSilence {
            probed = "PostgreSQL does not answer"
        } else if error.code == .connectFailed && isConnected {
            // The server has no room for one more session, but real work has its own.
            probed = nil
        } else {
            probed = Self.words(for: error)
        }
    }

    /// Notes that real work failed.
    mutating func workFailed(_ error: PostgresError, at time: ContinuousClock.Instant) {
        if error.code == .readOnly || error.isOutOfRoom {
            failed = (Self.words(for: error), time)
        } else if error.code == .commitOutcomeUnknown {
            doubtedSince = time
        }
    }

    private static let readOnly = "PostgreSQL is read-only"

    private static func words(for error: PostgresError) -> String {
        switch error.code {
        case .readOnly: readOnly
        case .connectFailed, .connectionLost: "PostgreSQL cannot be reached"
        case .serverBusy where error.sqlState == "53100": "53100: PostgreSQL's disk is full"
        case .serverBusy: "\(error.sqlState ?? "53000"): PostgreSQL has no room"
        default: "PostgreSQL fails with \(error.sqlState ?? error.code.description)"
        }
    }
}

extension PostgresError {
    /// Whether the server's disk is full, or a configured limit is reached.
    fileprivate var isOutOfRoom: Bool { sqlState == "53100" || sqlState == "53400" }
}
