import EventTypes
import Postgres
import Stripe

/// Reads on in one of Stripe's lists.
///
/// A list is read in parts, oldest first, so that a long one is finished however often it is
/// interrupted. The place up to which it is read has a lease, so one process at a time reads it.
struct StripeListReader: Sendable {
    /// The time for which a process has the list to itself.
    private static let lease = Duration.seconds(60)

    let client: PostgresClient
    let now: @Sendable () -> MachineTime
    /// The list, whose place is stored.
    let list: StripeListStore
    /// The account at Stripe whose list it is.
    let account: ProcessorAccountName
    /// The time by which each look at the list overlaps the one before, because clocks differ.
    let overlap: Duration
    /// The time of which the list is read before the place in it moves.
    let window: Duration
    /// The kinds of what is listed; empty for all.
    var types: [String] = []

    /// Reads on.
    ///
    /// - Parameters:
    ///   - pause: The time until the next look.
    ///   - first: The place of an account that has none yet, given the present.
    ///   - storePage: Reads and stores a page; returns the id of its last element if there are
    ///     others.
    /// - Returns: Whether it was read; `false` if it is not due.
    /// - Throws: `PostgresError`, or an error of the page. Then the next look begins with the part at
    ///   which this one has ended.
    @discardableResult
    func read(
        pause: Duration,
        beginningAt first:
            @escaping @Sendable (MachineTime, isolated PostgresConnection) throws -> MachineTime,
        storePage: (StripeListRequest) async throws -> String?
    ) async throws -> Bool {
        let begin = now()
        let leaseEnd = begin.advanced(by: Self.lease)
        let reached = try await client.withTransaction { [list, account] connection in
            try list.takePlace(
                of: account,
                at: begin,
                from: try first(begin, connection),
                until: leaseEnd,
                on: connection
            )
        }
        guard let reached else { return false }
        var start = reached.advanced(by: .zero - overlap)
        var end = start.advanced(by: window)
        while end < begin {
            try await readPart(from: start, until: end, reached, storePage)
            try await move(to: end, dueAt: now().advanced(by: Self.lease))
            (start, end) = (end, end.advanced(by: window))
        }
        try await readPart(from: start, until: nil, reached, storePage)
        try await move(to: begin, dueAt: begin.advanced(by: pause))
        return true
    }

    /// Reads a part of the list, and keeps the lease of the place in it meanwhile.
    private func readPart(
        from start: MachineTime,
        until end: MachineTime?,
        _ reached: MachineTime,
        _ storePage: (StripeListRequest) async throws -> String?
    ) async throws {
        var request = StripeListRequest(from: start, until: end, types: types)
        while let last = try await storePage(request) {
            request.after = last
            try await move(to: reached, dueAt: now().advanced(by: Self.lease))
        }
    }

    /// Moves the place on; it never goes back.
    private func move(to time: MachineTime, dueAt due: MachineTime) async throws {
        try await client.withConnection { [list, account] connection in
            try list.movePlace(of: account, to: time, dueAt: due, on: connection)
        }
    }
}
