import EventTypes
import Logging
import ServiceKit

/// One client's stream of its account's queue.
///
/// The order is what makes it complete: it listens to the hub first, reads the database second, and
/// then passes on what it hears. A change that is in both is known by its revision and sent once. A
/// revision that is left out is read from the database.
struct QueueStream: Sendable {
    /// The client reads more slowly than its queue changes.
    struct ClientIsTooSlow: Error {}

    let subscription: QueueSubscription
    let store: QueueReadStore
    let logger: Logger
    /// The last revision sent.
    private var sent: Int64
    /// Whether the database has something that was not sent.
    private var isBehind: Bool
    private var start: [ServerSentEvent]

    /// Reads what the stream begins with.
    ///
    /// The subscription was made before, so that nothing falls between reading and listening.
    /// `lastEventID` is what the client has; `nil` asks for everything unfinished.
    init(
        subscription: QueueSubscription,
        after lastEventID: Int64?,
        store: QueueReadStore,
        logger: Logger
    ) async throws {
        self.subscription = subscription
        self.store = store
        self.logger = logger
        let queue = subscription.queue
        if let lastEventID, lastEventID > 0 {
            let page = try await store.changes(in: queue, after: lastEventID)
            if QueueStreamRules.canResume(after: lastEventID, queueRevision: page.revision) {
                let messages = page.messages
                start = messages.map(Self.event(of:))
                sent = messages.last?.revision ?? lastEventID
                isBehind = !page.isComplete
                return
            }
        }
        let page = try await store.unfinished(in: queue)
        // The account first: whether it may pay matters to what follows.
        let messages = (page.account.map { [$0.message] } ?? []) + page.changes.map(\.message)
        let ids = QueueStreamRules.snapshotIDs(
            revisions: messages.map(\.revision),
            queueRevision: page.revision
        )
        start = zip(messages, ids).map { message, id in
            var event = Self.event(of: message)
            event.id = id.map { String($0) }
            return event
        }
        sent = page.revision
        isBehind = false
    }

    /// Sends until the task is cancelled.
    ///
    /// - Throws: ``ClientIsTooSlow``, or what writing throws.
    func run(writer: EventStreamWriter) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                var stream = self
                try await stream.forward(to: writer)
            }
            group.addTask { [overflow = subscription.overflow] in
                for await _ in overflow {}
                try Task.checkCancellation()
                // Cancels the write that the client keeps waiting.
                throw ClientIsTooSlow()
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private mutating func forward(to writer: EventStreamWriter) async throws {
        try await writer.send(start)
        start = []
        try await catchUp(writer)
        for await signal in subscription.signals {
            switch signal {
            case .changes(let messages):
                try await writer.send(next(messages).map(Self.event(of:)))
            case .heartbeat(let revision):
                try await writer.sendHeartbeat()
                if let revision, revision > sent { isBehind = true }
            }
            try await catchUp(writer)
        }
        try Task.checkCancellation()
    }

    /// The messages that follow what was sent; one that does not leaves the rest to the database.
    private mutating func next(_ messages: [QueueMessage]) -> [QueueMessage] {
        var next: [QueueMessage] = []
        for message in messages where !isBehind {
            switch QueueStreamRules.action(for: message.revision, after: sent) {
            case .skip: break
            case .send:
                next.append(message)
                sent = message.revision
            case .readDatabase: isBehind = true
            }
        }
        return next
    }

    /// Reads and sends what is missing.
    ///
    /// A database that is away is asked again at the next signal, which at the latest is a
    /// heartbeat.
    private mutating func catchUp(_ writer: EventStreamWriter) async throws {
        while isBehind {
            let page: QueuePage
            do {
                page = try await store.changes(in: subscription.queue, after: sent)
            } catch {
                try Task.checkCancellation()
                logger.debug("A gap in a stream stays open", metadata: ["error": "\(error)"])
                return
            }
            let messages = page.messages
            try await writer.send(messages.map(Self.event(of:)))
            sent = messages.last?.revision ?? sent
            isBehind = !page.isComplete
        }
    }

    private static func event(of message: QueueMessage) -> ServerSentEvent {
        ServerSentEvent(
            id: String(message.revision),
            name: message.kind.rawValue,
            data: String(decoding: message.data, as: UTF8.self)
        )
    }
}
