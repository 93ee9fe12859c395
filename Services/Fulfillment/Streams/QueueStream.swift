import EventTypes
import Logging
import ServiceKit
import Synchronization

/// One client's stream of its account's queue.
///
/// It misses nothing because of the order: it subscribes to the hub first, reads the database
/// second, and then passes on the hub's signals. The revision identifies a change that is in both,
/// so it is sent once. A missing revision is read from the database.
final class QueueStream: Sendable {
    /// The client's position in the queue.
    private struct Position {
        /// The last revision sent.
        var sent: Int64
        /// Whether the database has changes that were not sent.
        var isBehind: Bool
    }

    private let subscription: QueueSubscription
    private let store: QueueReadStore
    private let logger: Logger
    private let position: Position
    /// The revision of the queue when it was read.
    let revision: Int64
    /// The first events, until they are sent.
    ///
    /// They are then released, because the response keeps the stream for hours.
    private let start: Mutex<[ServerSentEvent]>
    /// The revision after which the rest of the unfinished transactions begins; `nil` if the first
    /// events have all of them.
    private let rest: Int64?

    /// Reads the first events of the stream.
    ///
    /// The subscription was made before, so that no change is missed in between. `lastEventID` is
    /// the last event that the client has. With `nil` it gets everything unfinished.
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
                rest = nil
                return
            }
        }
        let page = try await store.unfinished(in: queue)
        let next = page.nextUnfinished
        revision = page.revision
        rest = next
        start = Mutex(Self.snapshot(page, covering: next ?? page.revision))
        position = Position(sent: page.revision, isBehind: false)
    }

    /// Returns the events of a page of unfinished transactions.
    ///
    /// - Parameters:
    ///   - page: The page.
    ///   - revision: The revision from which a client with the whole page can resume.
    /// - Returns: The events, with ids.
    private static func snapshot(
        _ page: QueuePage,
        covering revision: Int64
    ) -> [ServerSentEvent] {
        // The account comes first, because whether it may pay matters for what follows.
        let messages = (page.account.map { [$0.message] } ?? []) + page.changes.map(\.message)
        let ids = QueueStreamRules.snapshotIDs(
            revisions: messages.map(\.revision),
            queueRevision: revision
        )
        return zip(messages, ids).map { message, id in
            var event = Self.event(of: message)
            event.id = id.map { String($0) }
            return event
        }
    }

    /// Sends events until the task is cancelled, the stream lags behind, or the queue has gone
    /// back.
    ///
    /// A queue goes back when its database is restored from a backup. The client then reconnects
    /// and gets everything.
    ///
    /// Call it only once.
    ///
    /// - Throws: Any error of the writer.
    func run(writer: EventStreamWriter) async throws {
        var position = position
        try await writer.send(takeStart())
        guard try await sendRest(writer), try await catchUp(&position, writer) else { return }
        for await signal in subscription.signals {
            switch signal {
            case .changes(let messages):
                try await writer.send(Self.next(messages, &position).map(Self.event(of:)))
            case .heartbeat(let revision):
                try await writer.sendHeartbeat()
                // Lower revisions count too: the database then decides.
                if let revision, revision != position.sent { position.isBehind = true }
            }
            guard try await catchUp(&position, writer) else { return }
        }
        try Task.checkCancellation()
    }

    /// Reads the unfinished transactions behind the first page and sends them, page by page.
    ///
    /// A transaction that has changed since the first page was read is left out. Its change follows, as
    /// all changes since then do.
    ///
    /// - Returns: Whether the stream continues. It does not if the database is unavailable. The client
    ///   then resumes from the last event that it has.
    private func sendRest(_ writer: EventStreamWriter) async throws -> Bool {
        var next = rest
        while let after = next {
            let page: QueuePage
            do {
                page = try await store.unfinished(
                    in: subscription.queue,
                    after: after,
                    through: revision
                )
            } catch {
                try Task.checkCancellation()
                logger.debug("A stream ends at its start", metadata: ["error": "\(error)"])
                return false
            }
            next = page.nextUnfinished
            try await writer.send(Self.snapshot(page, covering: next ?? revision))
        }
        return true
    }

    private func takeStart() -> [ServerSentEvent] {
        start.withLock { start in
            defer { start = [] }
            return start
        }
    }

    /// Returns the messages that follow directly on what was sent.
    ///
    /// After a gap, the database is read.
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

    /// Reads the missing changes from the database and sends them.
    ///
    /// If the database is unavailable, it is read again at the next signal, at the latest the next
    /// heartbeat.
    ///
    /// - Returns: Whether the stream continues. It does not if the queue has gone back.
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
                logger.debug(
                    "A gap in a stream stays open",
                    metadata: metadata(["error": "\(error)"])
                )
                return true
            }
            guard !QueueStreamRules.hasGoneBack(to: page.revision, after: position.sent) else {
                logger.notice(
                    "A queue has gone back: its stream begins again",
                    metadata: metadata([
                        "sent": "\(position.sent)", "revision": "\(page.revision)",
                    ])
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

    /// The members of a log line, with the queue that it is about.
    private func metadata(_ members: Logger.Metadata) -> Logger.Metadata {
        let queue = subscription.queue
        let about: Logger.Metadata = [
            "account.id": "\(queue.accountID)", "bundle.id": "\(queue.bundleID)",
        ]
        return about.merging(members) { $1 }
    }

    private static func event(of message: QueueMessage) -> ServerSentEvent {
        ServerSentEvent(
            id: String(message.revision),
            name: message.kind.rawValue,
            data: String(decoding: message.data, as: UTF8.self)
        )
    }
}
