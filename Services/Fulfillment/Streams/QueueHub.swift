import EventTypes
import Messaging
import ServiceKit
import StoreTracing
import Synchronization

/// Passes changes of queues on to the clients that are connected to this instance.
///
/// It gets the changes of this instance when they are committed, and those of all instances from an
/// ``EventTail``. So a change costs no query here, and a change of an account that is not connected
/// costs one look-up in a dictionary. The hub keeps no history: a stream skips what it has sent by
/// its revision, and reads the database if it finds a gap.
final class QueueHub: Sendable {
    /// The limits of the number of streams, and of the signals that one may lag behind.
    struct Limits: Sendable {
        var streamsMax = 10_000
        var streamsPerAccountMax = 20
        var bufferedMax = 256
    }

    private struct Listener {
        let bundleID: BundleID
        let signals: AsyncStream<QueueSignal>.Continuation
        let onLag: @Sendable () -> Void
    }

    private struct State {
        var accounts: [AccountID: [UInt64: Listener]] = [:]
        var count = 0
        var nextID: UInt64 = 0
        /// The newest revision of each connected queue that this instance passed on itself.
        var passed: [QueueKey: Int64] = [:]
        /// The events of these changes, which the log will bring, too.
        var passedEvents = PassedEvents()
    }

    private let state = Mutex(State())
    private let limits: Limits
    private let spans: SpanRecorder

    init(limits: Limits, spans: SpanRecorder = .off) {
        self.limits = limits
        self.spans = spans
    }

    /// Whether no client is connected.
    var isEmpty: Bool { state.withLock { $0.count == 0 } }

    /// The queues that have a connected client.
    var queues: Set<QueueKey> {
        state.withLock { state in
            var queues: Set<QueueKey> = []
            for (accountID, listeners) in state.accounts {
                for listener in listeners.values {
                    queues.insert(QueueKey(accountID: accountID, bundleID: listener.bundleID))
                }
            }
            return queues
        }
    }

    /// Adds a stream.
    ///
    /// It receives all signals from now on, until the subscription is released.
    ///
    /// - Parameters:
    ///   - queue: The queue to listen to.
    ///   - onLag: Called when the stream lags so far behind that a signal was dropped. No further
    ///     signal follows. The client resumes from the last event it has.
    /// - Returns: The stream's subscription.
    /// - Throws: ``CapacityRefusal``.
    func subscribe(
        to queue: QueueKey,
        onLag: @escaping @Sendable () -> Void = {}
    ) throws(CapacityRefusal) -> QueueSubscription {
        let (signals, continuation) = AsyncStream<QueueSignal>.makeStream(
            bufferingPolicy: .bufferingOldest(limits.bufferedMax)
        )
        let listener = Listener(bundleID: queue.bundleID, signals: continuation, onLag: onLag)
        let id = try state.withLock { state throws(CapacityRefusal) -> UInt64 in
            guard state.count < limits.streamsMax else { throw .instanceHasTooMany }
            guard state.accounts[queue.accountID]?.count ?? 0 < limits.streamsPerAccountMax else {
                throw .accountHasTooMany
            }
            state.nextID += 1
            state.count += 1
            state.accounts[queue.accountID, default: [:]][state.nextID] = listener
            return state.nextID
        }
        return QueueSubscription(id: id, queue: queue, signals: signals, hub: self)
    }

    /// The types of the events that streams receive.
    private static let types: Set<EventType> = [
        .queueChanged, .transactionFinished, .queueAccountChanged, .queueSubscriptionChanged,
    ]

    /// Whether an event of this type is for an account that has a stream here.
    func wants(_ type: EventType, of key: String) -> Bool {
        Self.types.contains(type)
            && state.withLock { $0.accounts[AccountID(unchecked: key)] != nil }
    }

    /// Whether this instance has passed an event on itself; asked once, when the log brings it.
    ///
    /// Its stream has the change then, or has seen a gap and reads the database.
    func hasPassed(_ id: EventID) -> Bool { state.withLock { $0.passedEvents.take(id) } }

    /// Passes changes on that this instance has just committed.
    ///
    /// - Parameters:
    ///   - messages: The messages about the changes, each queue's in the order of their revisions.
    ///   - events: Their events.
    func pass(_ messages: [QueueKey: [QueueMessage]], of events: [OutboxEvent]) {
        let wanted = state.withLock { state in
            var wanted: [QueueKey: [QueueMessage]] = [:]
            guard state.count > 0 else { return wanted }
            for (queue, changes) in messages where state.accounts[queue.accountID] != nil {
                wanted[queue] = changes
                state.passed[queue] = changes.last?.revision
            }
            guard !wanted.isEmpty else { return wanted }
            for event in events where state.accounts[AccountID(unchecked: event.key)] != nil {
                state.passedEvents.note(event.id)
            }
            return wanted
        }
        for (queue, changes) in wanted { send(.changes(changes), to: queue) }
        guard spans.isOn, !wanted.isEmpty else { return }
        let accounts = Set(wanted.keys.map(\.accountID.rawValue))
        spans.record(
            events.filter { accounts.contains($0.key) }
                .compactMap { Self.span(of: $0.type, $0.id, $0.traceparent) }
        )
    }

    /// Passes events on to the streams of their accounts.
    ///
    /// Changes and finishes come from two topics, so the events of a batch are put in the order of
    /// their revisions. A stream that receives them in two batches sees a gap, and reads the
    /// database.
    ///
    /// What this instance has passed on itself is left out, and so are earlier changes: a stream
    /// that missed one of those has seen the gap. A stream that began later has read them all.
    func receive(_ events: [ReceivedEvent]) {
        let wanted = state.withLock { state in
            state.count == 0
                ? []
                : events.filter { state.accounts[AccountID(unchecked: $0.key)] != nil }
        }
        var changes: [QueueKey: [QueueMessage]] = [:]
        var news: [Span] = []
        for event in wanted {
            // An unreadable event leaves a gap, and streams fill gaps from the database.
            guard let (bundleID, message) = try? Self.message(of: event) else { continue }
            let queue = QueueKey(accountID: AccountID(unchecked: event.key), bundleID: bundleID)
            guard message.revision > state.withLock({ $0.passed[queue] ?? 0 }) else { continue }
            changes[queue, default: []].append(message)
            if spans.isOn, let span = Self.span(of: event.type, event.id, event.traceparent) {
                news.append(span)
            }
        }
        for (queue, messages) in changes {
            send(.changes(messages.sorted { $0.revision < $1.revision }), to: queue)
        }
        if spans.isOn { spans.record(news) }
    }

    /// Returns the span of an event that was passed on to a stream.
    private static func span(
        of type: EventType,
        _ id: EventID,
        _ cause: TraceContext?
    ) -> Span? {
        guard let cause else { return nil }
        let now = Span.clock()
        return Span(
            "stream \(type)",
            .producer,
            cause.child(),
            parent: cause.spanID,
            from: now,
            to: now,
            attributes: ["messaging.message.id": .text(id.description)]
        )
    }

    /// Returns the message for an event that streams receive, and the app it is for.
    private static func message(
        of event: ReceivedEvent
    ) throws -> (bundleID: BundleID, message: QueueMessage)? {
        switch event.type {
        case .queueChanged, .transactionFinished:
            let head = try event.decode(QueueChangedHead.self)
            let message = QueueMessage(
                revision: head.revision,
                kind: head.finishedAt == nil ? .transaction : .removed,
                data: event.data
            )
            return (head.transaction.bundleID, message)
        case .queueAccountChanged:
            let change = try event.decode(QueueAccountChanged.self)
            let message = QueueMessage(
                revision: change.revision,
                kind: .account,
                data: event.data
            )
            return (change.account.bundleID, message)
        case .queueSubscriptionChanged:
            let change = try event.decode(QueueSubscriptionChanged.self)
            let message = QueueMessage(
                revision: change.revision,
                kind: .subscription,
                data: event.data
            )
            return (change.subscription.bundleID, message)
        default: return nil
        }
    }

    /// Sends every stream a heartbeat with the revision of its queue.
    ///
    /// - Parameters:
    ///   - revisions: The revisions from the database, without queues it has no row for. `nil` if
    ///     it was not read.
    ///   - asked: The queues whose revisions were read. Streams of any other queue get no revision.
    func beat(revisions: [QueueKey: Int64]?, of asked: [QueueKey] = []) {
        let asked = Set(revisions == nil ? [] : asked)
        for queue in queues {
            let revision = asked.contains(queue) ? revisions?[queue] ?? 0 : nil
            send(.heartbeat(revision: revision), to: queue)
        }
    }

    private func send(_ signal: QueueSignal, to queue: QueueKey) {
        // Yielded under the lock, so that all streams of a queue get the signals in the same order.
        let lagging = state.withLock { state in
            (state.accounts[queue.accountID] ?? [:]).values.filter { listener in
                guard listener.bundleID == queue.bundleID,
                    case .dropped = listener.signals.yield(signal)
                else { return false }
                return true
            }
        }
        for listener in lagging {
            listener.signals.finish()
            listener.onLag()
        }
    }

    fileprivate func remove(_ id: UInt64, of queue: QueueKey) {
        state.withLock { state in
            let accountID = queue.accountID
            guard state.accounts[accountID]?.removeValue(forKey: id) != nil else { return }
            state.count -= 1
            if state.accounts[accountID]?.isEmpty ?? false { state.accounts[accountID] = nil }
            state.passed[queue] = nil
        }
    }
}

/// A signal to a stream.
enum QueueSignal: Sendable {
    /// The queue has changed, in this order.
    case changes([QueueMessage])
    /// A heartbeat, with the queue's revision if it was read from the database.
    case heartbeat(revision: Int64?)
}

/// One stream's subscription to the hub, which ends when the subscription is released.
final class QueueSubscription: Sendable {
    let queue: QueueKey
    /// The signals, in order, for a single reading task.
    let signals: AsyncStream<QueueSignal>
    private let id: UInt64
    private let hub: QueueHub

    fileprivate init(
        id: UInt64,
        queue: QueueKey,
        signals: AsyncStream<QueueSignal>,
        hub: QueueHub
    ) {
        self.id = id
        self.queue = queue
        self.signals = signals
        self.hub = hub
    }

    deinit {
        hub.remove(id, of: queue)
    }
}

/// The part of a ``QueueChanged`` that the hub needs.
struct QueueChangedHead: Event {
    struct TransactionHead: Codable, Sendable {
        var bundleID: BundleID
    }

    var revision: Int64
    var finishedAt: StoreTime?
    var transaction: TransactionHead
}

extension QueueChangedHead {
    init?(json data: [UInt8]) {
        var revision: Int64?
        var finishedAt: Int64?
        var bundleID: BundleID?
        let isRead = PlainJSON.read(data) { json in
            json.object { json, name in
                switch name {
                case "revision": return PlainJSON.keep(json.integer(), in: &revision)
                case "finishedAt": return PlainJSON.keep(json.integer(), in: &finishedAt)
                case "transaction":
                    return json.object { json, name in
                        guard case "bundleID" = name else { return json.skip() }
                        return PlainJSON.keep(json.identifier(), in: &bundleID)
                    }
                default: return json.skip()
                }
            }
        }
        guard isRead == true, let revision, let bundleID else { return nil }
        self.revision = revision
        self.finishedAt = finishedAt.map(StoreTime.init(millisecondsSinceEpoch:))
        transaction = TransactionHead(bundleID: bundleID)
    }
}
