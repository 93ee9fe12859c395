import EventTypes
import Logging
import Messaging
import Metrics
import Postgres
import Stripe
import Synchronization

/// Takes in what an account at Stripe tells by itself, and settles what it says when it is asked.
///
/// An event is stored once, however often and by whichever way it comes. It only causes a look at the
/// object that changed. So events may come doubled and in any order.
struct ProcessorEventHandler: Sendable {
    let client: PostgresClient
    let account: StripeAccount
    let methods: PaymentMethodHandler
    let runner: ChargeRunner
    let disputes: DisputeHandler
    let environment: StoreEnvironment
    let now: @Sendable () -> MachineTime
    let logger: Logger

    /// The time after which an event is looked at.
    ///
    /// By then the answer to a call has mostly told the same.
    static let delay = Duration.seconds(1)
    /// The time for which a process has an event to itself.
    static let lease = Duration.seconds(60)
    /// The longest pause between two looks at an event.
    static let pauseMax = Duration.seconds(600)

    /// The time for which an event is kept after it was applied.
    ///
    /// Stripe lists events for 30 days, so none of those that are listed is taken for a new one.
    static let keepTime = Duration.seconds(35 * 86_400)
    /// The most events that are removed at once.
    static let pruneLimit = 10_000

    private let unknown = Counter(label: "processor_events_unknown")

    /// Stores events that are about something of the store's.
    func store(_ events: [StripeEvent]) async throws {
        let time = now()
        let own = events.filter { $0.isLive == (environment == .production) }
            .compactMap { ProcessorEvent($0, of: account.name) }
        guard !own.isEmpty else { return }
        try await client.withConnection { connection in
            try ProcessorEventStore.insert(
                own,
                at: time,
                dueAt: time.advanced(by: Self.delay),
                on: connection
            )
        }
    }

    /// Applies events that are due.
    ///
    /// - Parameter limit: The most events.
    /// - Returns: The number of events; if it is the limit, there may be others.
    /// - Throws: `PostgresError` if they cannot be taken.
    func applyDue(limit: Int) async throws -> Int {
        let time = now()
        let leaseEnd = time.advanced(by: Self.lease)
        let due = try await client.withTransaction { [name = account.name] connection in
            try ProcessorEventStore.takeDue(
                of: name,
                at: time,
                until: leaseEnd,
                limit: limit,
                on: connection
            )
        }
        // After the end of the lease the others are due, and any process takes them.
        for event in due where now() < leaseEnd {
            do {
                try await conclude(event, isApplied: try await apply(event))
            } catch {
                logger.warning(
                    "An event of the processor could not be applied; it is applied later",
                    metadata: ["event": "\(event.id)", "error": "\(error)"]
                )
                try await conclude(event, isApplied: false)
            }
        }
        return due.count
    }

    private func conclude(_ event: ProcessorEvent, isApplied: Bool) async throws {
        let time = now()
        let pause = min(.seconds(1 << min(event.tries, 10)), Self.pauseMax)
        try await client.withConnection { connection in
            if isApplied {
                try ProcessorEventStore.finish(event, at: time, on: connection)
            } else {
                try ProcessorEventStore.postpone(
                    event,
                    until: time.advanced(by: pause),
                    on: connection
                )
            }
        }
    }

    /// Applies an event.
    ///
    /// - Returns: Whether it is dealt with; if not, it is looked at again.
    private func apply(_ event: ProcessorEvent) async throws -> Bool {
        if event.isOfDispute { return try await applyDispute(event.objectID) }
        if event.isOfMethod {
            try await methods.refresh(event.objectID, at: account)
            return true
        }
        guard let subject = event.attempt else {
            _ = try await methods.complete(event.objectID, for: nil, at: account)
            return true
        }
        let attempt = try await client.withConnection { [name = account.name] connection in
            try AttemptStore.find(subject.id, of: subject.transactionID, at: name, on: connection)
        }
        guard let attempt else {
            // Another store has the same account, this one was restored to before the attempt, or the
            // attempt is of a card that another account has.
            unknown.increment()
            logger.error(
                "Stripe tells of an attempt that this store does not have",
                metadata: ["attempt": "\(subject.id)", "stripe.object": "\(event.objectID)"]
            )
            return true
        }
        guard event.isNews(about: attempt) else { return true }
        var inquiry = Inquiry(attempt)
        inquiry.reference = ProcessorReference(rawValue: event.objectID)
        let found = Mutex<InquiryOutcome?>(nil)
        await account.processor.inquire([inquiry]) { _, outcome in found.withLock { $0 = outcome } }
        guard let outcome = found.withLock({ $0 }), outcome != .unavailable else { return false }
        // The object is of an earlier generation of the key, and moved no money.
        if case .notFound = outcome { return true }
        try await runner.settle(outcome, of: attempt)
        guard attempt.kind == .refund, case .failed = outcome else { return true }
        return try await applyDisputes(of: attempt.transactionID)
    }

    /// Looks again at the disputes of a charge whose refund has failed.
    ///
    /// A bank may have taken back what was refunded, as far as the store knew. Then the dispute is in no
    /// book yet.
    ///
    /// - Returns: Whether they are dealt with; if not, they are looked at again.
    private func applyDisputes(of id: TransactionID) async throws -> Bool {
        let known = try await client.withConnection { connection in
            try DisputeStore.ids(of: id, on: connection)
        }
        for dispute in known {
            guard try await applyDispute(dispute) else { return false }
        }
        return true
    }

    /// Looks at a dispute.
    ///
    /// - Parameter id: The processor's id of the dispute.
    /// - Returns: Whether it is dealt with; if not, it is looked at again.
    /// - Throws: `StripeFailure`; `PostgresError`, or an error of a row that cannot be read.
    private func applyDispute(_ id: String) async throws -> Bool {
        let found = try await account.gate.pass(.inquiries) { () async throws(StripeFailure) in
            try await account.client.dispute(id)
        }
        guard let dispute = try ProcessorDispute(found),
            try await client.withConnection({ [name = account.name] connection in
                try AttemptStore.hasCharge(
                    dispute.charge.id,
                    of: dispute.charge.transactionID,
                    at: name,
                    on: connection
                )
            })
        else {
            unknown.increment()
            logger.error(
                "Stripe tells of a dispute of a charge that this store does not have",
                metadata: ["stripe.object": "\(id)"]
            )
            return true
        }
        return try await disputes.settle(dispute, at: account.name)
    }

    /// Removes events that were applied long ago.
    func prune() async throws {
        let end = now().advanced(by: .zero - Self.keepTime)
        let limit = Self.pruneLimit
        try await client.withConnection { connection in
            try ProcessorEventStore.prune(appliedBefore: end, limit: limit, on: connection)
        }
    }

    /// Reads the list of events, for those that were never delivered.
    ///
    /// - Parameter pause: The time until the next look.
    /// - Throws: `StripeFailure`; `PostgresError`. Then the next look begins with the part at which
    ///   this one has ended.
    func readList(pause: Duration) async throws {
        let reader = StripeListReader(
            client: client,
            now: now,
            list: .events,
            account: account.name,
            overlap: .seconds(600),
            window: .seconds(600),
            types: ProcessorEvent.types
        )
        try await reader.read(
            pause: pause,
            beginningAt: { begin, _ in begin.advanced(by: .seconds(-3600)) },
            storePage: { request in
                let page = try await account.gate.pass(.inquiries) {
                    () async throws(StripeFailure) in try await account.client.events(request)
                }
                try await store(page.data)
                return page.hasMore ? page.data.last?.id : nil
            }
        )
    }
}
