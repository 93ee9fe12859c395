import EventTypes
import Ledger
import Logging
import Messaging
import Postgres
import Stripe

/// Reads what moved at Stripe into the store's tables, and posts it.
///
/// A movement is posted in the database transaction that writes it, so it is posted once, however
/// often it is read.
struct MovementHandler: Sendable {
    let client: PostgresClient
    let stripe: StripeClient
    let gate: StripeGate
    let ids: IDSource
    let now: @Sendable () -> MachineTime
    let storeNow: @Sendable () -> StoreTime
    let logger: Logger

    /// The time for which a process has the list to itself.
    static let lease = Duration.seconds(60)
    /// The time by which each look at the list overlaps the one before, because clocks differ.
    static let overlap = Duration.seconds(3600)
    /// The time of which the list is read before the place in it moves.
    static let window = Duration.seconds(86_400)

    /// Reads on in the list.
    ///
    /// It is read in parts, oldest first, so that a long one is finished however often it is
    /// interrupted. A store that has no place yet begins with its first transaction.
    ///
    /// - Parameter pause: The time until the next look.
    /// - Throws: `StripeFailure`; `PostgresError`. Then the next look begins with the part at which
    ///   this one has ended.
    func readList(pause: Duration) async throws {
        let begin = now()
        let place = try await client.withTransaction { connection in
            let first = try MovementStore.firstSale(on: connection).map {
                MachineTime(millisecondsSinceEpoch: $0.millisecondsSinceEpoch)
            }
            return try MovementStore.takePlace(
                at: begin,
                from: min(first ?? begin, begin),
                until: begin.advanced(by: Self.lease),
                on: connection
            )
        }
        guard let place else { return }
        var start = place.advanced(by: .zero - Self.overlap)
        var end = start.advanced(by: Self.window)
        while end < begin {
            try await readList(from: start, until: end, place: place)
            try await move(to: end, dueAt: now().advanced(by: Self.lease))
            (start, end) = (end, end.advanced(by: Self.window))
        }
        try await readList(from: start, until: nil, place: place)
        try await move(to: begin, dueAt: begin.advanced(by: pause))
    }

    /// Reads a part of the list, and keeps the lease of the place in it meanwhile.
    private func readList(from start: MachineTime, until end: MachineTime?, place: MachineTime)
        async throws
    {
        var request = StripeListRequest(from: start, until: end)
        while true {
            let page = try await gate.pass(.inquiries) { () async throws(StripeFailure) in
                try await stripe.balanceTransactions(request)
            }
            try await store(page.data.map { ProcessorMovement($0) })
            guard page.hasMore, let last = page.data.last else { return }
            request.after = last.id
            try await move(to: place, dueAt: now().advanced(by: Self.lease))
        }
    }

    /// Writes and posts movements that are new.
    func store(_ movements: [ProcessorMovement]) async throws {
        let (time, storeTime) = (now(), storeNow())
        try await client.withTransaction { connection in
            let numbers = try MovementStore.insert(movements, at: time, on: connection)
            var postings: [Posting] = []
            for movement in movements {
                guard let number = numbers[movement.id] else { continue }
                do throws(ProcessorAmountError) {
                    let posting = try movement.posting(
                        number: number,
                        id: ids.posting(at: storeTime),
                        at: storeTime
                    )
                    if let posting { postings.append(posting) }
                } catch {
                    logger.error(
                        "A movement at Stripe cannot be posted; correct the ledger by hand",
                        metadata: ["movement": "\(movement.id)", "error": "\(error)"]
                    )
                }
            }
            try LedgerStore.append(postings, on: connection)
        }
    }

    /// Moves the place in the list on; it never goes back.
    private func move(to place: MachineTime, dueAt due: MachineTime) async throws {
        try await client.withConnection { connection in
            try MovementStore.movePlace(to: place, dueAt: due, on: connection)
        }
    }
}
