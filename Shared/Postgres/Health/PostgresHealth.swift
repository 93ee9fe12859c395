/// What is known of a database's ability to serve: from the probe that asks it, and from what became
/// of real work.
///
/// It decides by values alone and asks nobody.
struct PostgresHealth: Sendable {
    /// How long a failure of real work stands although the probe finds nothing: what fails may lie
    /// where the probe does not look.
    static let standing = Duration.seconds(5)

    private var probed: String?
    private var failed: (problem: String, time: ContinuousClock.Instant)?
    private var doubtedSince: ContinuousClock.Instant?

    /// What is wrong, in a few words; `nil` if nothing is known to be.
    var problem: String? { probed ?? failed?.problem }

    /// Whether the next probe is to write something and commit it.
    ///
    /// Only after a doubt: writing for ever would keep the log of an idle server from resting.
    var wantsWrite: Bool { failed != nil || doubtedSince != nil }

    /// The probe was answered.
    ///
    /// - Parameters:
    ///   - start: When it began.
    ///   - isReadOnly: Whether the server only reads.
    ///   - hasWritten: Whether it has committed something.
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

    /// The probe was not answered, or with an error.
    ///
    /// - Parameters:
    ///   - error: What went wrong.
    ///   - isSilence: Whether nothing was heard until the time was up.
    ///   - isConnected: Whether real work has a connection.
    mutating func probeFailed(_ error: PostgresError, isSilence: Bool, isConnected: Bool) {
        if isSilence {
            probed = "PostgreSQL does not answer"
        } else if error.code == .connectFailed && isConnected {
            // There is no room for one more session; those that work have theirs.
            probed = nil
        } else {
            probed = Self.words(for: error)
        }
    }

    /// Real work failed.
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
    /// Whether the server's disk is full, or a bound of its settings reached.
    fileprivate var isOutOfRoom: Bool { sqlState == "53100" || sqlState == "53400" }
}
