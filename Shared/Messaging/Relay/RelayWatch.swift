import EventTypes
import Kafka
import Synchronization

/// Compares the relay's progress with the broker, beside the publishing.
///
/// A look takes several requests, and no event waits for them. The relay takes the result between two
/// batches.
final class RelayWatch: Sendable {
    /// The result of a look.
    struct Sight: Equatable, Sendable {
        /// The progress that the broker was compared with; the relay may be further by now.
        let progress: RelayProgress
        /// Whether the broker has lost the log.
        let isLost: Bool
        /// For each consumer, the next offset it will read, by partition.
        var committed: [ServiceName: [KafkaTopicPartition: Int64]] = [:]
    }

    /// Compares a progress with the broker, and returns `nil` if that proves nothing.
    typealias Look = @Sendable (RelayProgress) async throws -> Sight?

    private struct State {
        var asked: RelayProgress?
        var result: Result<Sight, any Error>?
    }

    /// The longest wait for a question; an earlier one ends it.
    private static let patience = Duration.seconds(3600)

    private let look: Look
    private let didLook: @Sendable () -> Void
    private let state = Mutex(State())
    private let isAsked = Signal()

    /// Makes a watch, which does nothing before ``run()``.
    ///
    /// - Parameters:
    ///   - didLook: Called when there is a result to take.
    ///   - look: Asks the broker.
    init(didLook: @escaping @Sendable () -> Void, look: @escaping Look) {
        self.didLook = didLook
        self.look = look
    }

    /// Asks for a look, in place of an earlier one that has not begun.
    func ask(about progress: RelayProgress) {
        state.withLock { $0.asked = progress }
        isAsked.send()
    }

    /// Takes the result of the last look, once.
    ///
    /// - Throws: The error of the look.
    func take() throws -> Sight? {
        try state.withLock { $0.result.take() }?.get()
    }

    /// Looks whenever it is asked to, until cancelled.
    ///
    /// - Throws: `CancellationError`.
    func run() async throws {
        while true {
            try await isAsked.wait(atMost: Self.patience)
            guard let progress = state.withLock({ $0.asked.take() }) else { continue }
            let result: Result<Sight, any Error>
            do {
                guard let sight = try await look(progress) else { continue }
                result = .success(sight)
            } catch {
                result = .failure(error)
            }
            state.withLock { $0.result = result }
            didLook()
        }
    }
}

extension RelayWatch {
    /// Returns the look that asks a broker how far the consumers are, and whether its log is still
    /// the same.
    static func comparing(
        _ topics: RelayTopics,
        _ offsets: ConsumerOffsets,
        with admin: KafkaAdmin
    ) -> Look {
        { progress in
            // No consumer confirms dead letters, and their readers may delete their topics.
            let own = Set(topics.own.map(\.name))
            let partitions = progress.lastOffsets.keys.filter { own.contains($0.topic) }
            // The broker itself may have recreated a missing topic: empty, or with fewer partitions.
            let ends = try await admin.endsOfKnown(partitions)
            let isUnknown = ends.count < partitions.count
            // One answer that a partition is unknown proves nothing: the next look asks again.
            if isUnknown, try await !topics.hasLost(partitions, admin) { return nil }
            if isUnknown || progress.isContradicted(byEnds: ends) {
                return Sight(progress: progress, isLost: true)
            }
            let committed = try await offsets.committed(of: topics.own, in: partitions) {
                try await admin.committedOffsets(group: $0, partitions: $1)
            }
            return Sight(progress: progress, isLost: false, committed: committed)
        }
    }
}
