import EventTypes
import Messaging
import StoreTracing
import Synchronization

/// The clients that are connected to this instance, and what they are told.
///
/// It is fed by an ``EventTail``, so a change costs the database nothing here, and a change of an
/// account that is not connected costs one look into a dictionary. It remembers nothing: a stream
/// that finds a gap reads the database.
final class QueueHub: Sendable {
    /// How many streams there may be, and how far one may lag behind.
    struct Limits: Sendable {
        var streamsMax = 10_000
        var streamsPerAccountMax = 20
        var bufferedMax = 256
    }

    /// Why a client gets no stream.
    enum Refusal: Error {
        case accountHasTooMany
        case instanceHasTooMany
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
    }

    private let state = Mutex(State())
    private let limits: Limits
    private let spans: SpanRecorder

    init(limits: Limits, spans: SpanRecorder = .off) {
        self.limits = limits
        self.spans = spans
    }

    /// Whether nobody is connected.
    var isEmpty: Bool { state.withLock { $0.count == 0 } }

    /// The queues that somebody is connected to.
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
    /// It hears everything from here on, until the subscription is let go.
    ///
    /// - Parameters:
    ///   - queue: What it hears of.
    ///   - onLag: Called when it lags behind so far that a signal was lost to it. No further one
    ///     comes; the client resumes from what it has.
    /// - Returns: Its place.
    /// - Throws: ``Refusal``.
    func subscribe(
        to queue: QueueKey,
        onLag: @escaping @Sendable () -> Void = {}
    ) throws(Refusal) -> QueueSubscription {
        let (signals, continuation) = AsyncStream<QueueSignal>.makeStream(
            bufferingPolicy: .bufferingOldest(limits.bufferedMax)
        )
        let listener = Listener(bundleID: queue.bundleID, signals: continuation, onLag: onLag)
        let id = try state.withLock { state throws(Refusal) -> UInt64 in
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

    /// Hands changes on to the streams of their accounts.
    func receive(_ events: [ReceivedEvent]) {
        let wanted = state.withLock { state in
            state.count == 0
                ? []
                : events.filter { state.accounts[AccountID(unchecked: $0.key)] != nil }
        }
        var changes: [QueueKey: [QueueMessage]] = [:]
        for event in wanted {
            // What cannot be read is a gap to the streams, and they heal gaps.
            guard let (bundleID, message) = try? Self.message(of: event) else { continue }
            let queue = QueueKey(accountID: AccountID(unchecked: event.key), bundleID: bundleID)
            changes[queue, default: []].append(message)
        }
        for (queue, messages) in changes {
            send(.changes(messages), to: queue)
        }
        if spans.isOn { spans.record(wanted.compactMap(Self.span(of:))) }
    }

    /// The span of an event that was handed on to a stream.
    private static func span(of event: ReceivedEvent) -> Span? {
        guard let cause = event.traceparent.flatMap({ TraceContext($0) }) else { return nil }
        let now = Span.clock()
        return Span(
            "stream \(event.type)",
            .producer,
            cause.child(),
            parent: cause.spanID,
            from: now,
            to: now,
            attributes: ["messaging.message.id": .text(event.id.description)]
        )
    }

    /// The message of an event that streams are told of, and the app that it is for.
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
        default: return nil
        }
    }

    /// Tells every stream that time has passed, and how far its queue is.
    ///
    /// - Parameters:
    ///   - revisions: As the database has them, without the queues that it does not know of; `nil` if
    ///     it was not asked.
    ///   - asked: The queues that it was asked for; of those that came since nothing is said.
    func beat(revisions: [QueueKey: Int64]?, of asked: [QueueKey] = []) {
        let asked = Set(revisions == nil ? [] : asked)
        for queue in queues {
            let revision = asked.contains(queue) ? revisions?[queue] ?? 0 : nil
            send(.heartbeat(revision: revision), to: queue)
        }
    }

    private func send(_ signal: QueueSignal, to queue: QueueKey) {
        // Yielded under the lock, so that all streams of a queue hear of it in one order.
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

    fileprivate func remove(_ id: UInt64, of accountID: AccountID) {
        state.withLock { state in
            guard state.accounts[accountID]?.removeValue(forKey: id) != nil else { return }
            state.count -= 1
            if state.accounts[accountID]?.isEmpty ?? false { state.accounts[accountID] = nil }
        }
    }
}

/// What a stream hears.
enum QueueSignal: Sendable {
    /// The queue changed, in this order.
    case changes([QueueMessage])
    /// Time has passed; the queue is at this revision, if the database could be asked.
    case heartbeat(revision: Int64?)
}

/// One stream's place in the hub; letting go of it gives the place back.
final class QueueSubscription: Sendable {
    let queue: QueueKey
    /// What happens, in order; read by one task.
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
        hub.remove(id, of: queue.accountID)
    }
}

/// As much of a ``QueueChanged`` as the hub needs.
struct QueueChangedHead: Event {
    struct TransactionHead: Codable, Sendable {
        var bundleID: BundleID
    }

    var revision: Int64
    var finishedAt: Timestamp?
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
        self.finishedAt = finishedAt.map(Timestamp.init(millisecondsSinceEpoch:))
        transaction = TransactionHead(bundleID: bundleID)
    }
}
