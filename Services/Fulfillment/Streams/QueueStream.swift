import EventTypes
import Logging
import ServiceKit
import Synchronization

/// One client's stream of its account's queue.
///
/// The order is what makes it complete: it listens to the hub first, reads the database second, and
/// then passes on what it hears. A change that is in both is known by its revision and sent once. A
/// revision that is left out is read from the database.
final class QueueStream: Sendable {
    /// How far the client is.
    private struct Position {
        /// The last revision sent.
        var sent: Int64
        /// Whether the database has something that was not sent.
        var isBehind: Bool
    }

    private let subscription: QueueSubscription
    private let store: QueueReadStore
    private let logger: Logger
    private let position: Position
    /// The revision that the queue had when it was read.
    let revision: Int64
    /// What it begins with, until that is sent: the response holds on to the stream for hours.
    private let start: Mutex<[ServerSentEvent]>

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
                revision = page.revision
                start = Mutex(messages.map(Self.event(of:)))
                position = Position(
                    sent: messages.last?.revision ?? lastEventID,
                    isBehind: !page.isComplete
                )
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
        let events = zip(messages, ids).map { message, id in
            var event = Self.event(of: message)
            event.id = id.map { String($0) }
            return event
        }
        revision = page.revision
        start = Mutex(events)
        position = Position(sent: page.revision, isBehind: false)
    }

    /// Sends until the task is cancelled, the stream lags behind, or the queue has gone back.
    ///
    /// A queue goes back when its database is restored from a backup. The client comes again and is
    /// told everything.
    ///
    /// To be called once.
    ///
    /// - Throws: What writing throws.
    func run(writer: EventStreamWriter) async throws {
        var position = position
        try await writer.send(takeStart())
        guard try await catchUp(&position, writer) else { return }
        for await signal in subscription.signals {
            switch signal {
            case .changes(let messages):
                try await writer.send(Self.next(messages, &position).map(Self.event(of:)))
            case .heartbeat(let revision):
                try await writer.sendHeartbeat()
                // Lower ones too: what the database has of it then decides.
                if let revision, revision != position.sent { position.isBehind = true }
            }
            guard try await catchUp(&position, writer) else { return }
        }
        try Task.checkCancellation()
    }

    private func takeStart() -> [ServerSentEvent] {
        start.withLock { start in
            defer { start = [] }
            return start
        }
    }

    /// The messages that follow what was sent; one that does not leaves the rest to the database.
    private static func next(
        _ messages: [QueueMessage],
        _ position: inout Position
    ) -> [QueueMessage] {
        var next: [QueueMessage] = []
        for message in messages where !position.isBehind {
            switch QueueStreamRules.action(for: message.revision, after: position.sent) {
            case .skip: break
            case .send:
                next.append(message)
                position.sent = message.revision
            case .readDatabase: position.isBehind = true
            }
        }
        return next
    }

    /// Reads and sends what is missing.
    ///
    /// A database that is away is asked again at the next signal, which at the latest is a
    /// heartbeat. The answer is whether the stream goes on: not if the queue has gone back.
    private func catchUp(
        _ position: inout Position,
        _ writer: EventStreamWriter
    ) async throws -> Bool {
        while position.isBehind {
            let page: QueuePage
            do {
                page = try await store.changes(in: subscription.queue, after: position.sent)
            } catch {
                try Task.checkCancellation()
                logger.debug("A gap in a stream stays open", metadata: ["error": "\(error)"])
                return true
            }
            guard !QueueStreamRules.hasGoneBack(to: page.revision, after: position.sent) else {
                logger.notice(
                    "A queue has gone back: its stream begins again",
                    metadata: ["sent": "\(position.sent)", "revision": "\(page.revision)"]
                )
                return false
            }
            let messages = page.messages
            try await writer.send(messages.map(Self.event(of:)))
            position.sent = messages.last?.revision ?? position.sent
            position.isBehind = !page.isComplete
        }
        return true
    }

    private static func event(of message: QueueMessage) -> ServerSentEvent {
        ServerSentEvent(
            id: String(message.revision),
            name: message.kind.rawValue,
            data: String(decoding: message.data, as: UTF8.self)
        )
    }
}
