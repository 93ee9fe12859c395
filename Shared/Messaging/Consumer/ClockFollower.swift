import EventTypes
public import Kafka
public import Logging
public import ServiceLifecycle

/// Follows the store's clock: reads its topic from the beginning, and every change after that.
///
/// Each process reads the whole topic, without a group and without a committed offset. Once it has
/// read everything that was there when it began, the clock is current. The newest change is stored
/// in the service's database, so that a process knows it even if the broker has lost its log. The clock
/// does not wait for that: it goes on while the database does not answer.
///
/// It asks for the newest message again every few seconds. If the topic does not have it any more, the
/// broker has lost its log, and the topic is read from its beginning: a broker may answer for an
/// offset behind the end of a new log as if nothing had come yet.
///
/// Changes are rare, so its fetches wait long. Some brokers end such a wait only when its time is over. An
/// advance makes several changes. So after each change it fetches for a while as often as other consumers.
public struct ClockFollower: Service {
    /// The time after which a topic that does not end is read again.
    private static let patience = Duration.seconds(10)
    /// The time between two looks at whether the topic still has the newest message, and the time for
    /// which its answer is awaited.
    private static let lookInterval = Duration.seconds(5)
    /// The time for which a fetch waits for a change; there are few.
    private static let fetchWait = Duration.milliseconds(500)
    /// The time after a change in which others are expected.
    private static let hurry = Duration.seconds(10)
    /// The longest time between two looks at whether a change has yet to be stored; each is signalled.
    private static let storeInterval = Duration.seconds(60)

    private let clock: ProcessClock
    private let kafka: KafkaSettings
    /// The settings while changes are expected; `nil` if its fetches wait no less.
    private let hurriedKafka: KafkaSettings?
    private let logger: Logger
    /// A signal that there is a change to store.
    private let changed = Signal()

    /// Makes a follower.
    ///
    /// It does nothing before ``run()``.
    ///
    /// - Parameters:
    ///   - clock: The store's clock in this process.
    ///   - kafka: How to reach the broker.
    ///   - logger: Receives the follower's log messages.
    public init(clock: ProcessClock, kafka: KafkaSettings, logger: Logger) {
        self.clock = clock
        self.kafka = kafka.waiting(atLeast: Self.fetchWait)
        hurriedKafka = kafka.fetchWait < Self.fetchWait ? kafka : nil
        self.logger = logger
    }

    /// Follows until the service shuts down.
    public func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                group.addTask { await self.storeForEver() }
                await self.followForEver()
                group.cancelAll()
            }
        }
    }

    private func followForEver() async {
        let retries = Retries()
        while !Task.isCancelled {
            do {
                try await clock.load()
                try await follow(from: ends(), retries)
            } catch is CancellationError {
                return
            } catch {
                let failures = retries.failed()
                logger.warning(
                    "The store's clock is not followed; trying again",
                    metadata: ["error": "\(error)", "failures": "\(failures)"]
                )
            }
            try? await retries.pause()  // If cancelled, the loop ends.
        }
    }

    /// Stores the newest change, beside the reading of the topic.
    private func storeForEver() async {
        let retries = Retries()
        var stored: Int64 = 0
        while !Task.isCancelled {
            do {
                stored = try await clock.save(after: stored)
                retries.succeeded()
                try await changed.wait(atMost: Self.storeInterval)
            } catch is CancellationError {
                return
            } catch {
                let failures = retries.failed()
                logger.warning(
                    "A change of the store's clock is not stored; trying again",
                    metadata: ["error": "\(error)", "failures": "\(failures)"]
                )
                try? await retries.pause()  // If cancelled, the loop ends.
            }
        }
    }

    /// The present end of each partition; waits until the topic exists.
    private func ends() async throws -> [KafkaTopicPartition: Int64] {
        let admin = try KafkaAdmin(settings: kafka, logger: logger)
        do {
            let name = Topics.storeClock.name
            var count = try await admin.partitions(of: name)
            while count == nil {
                try await Task.sleep(for: .milliseconds(200))
                count = try await admin.partitions(of: name)
            }
            let partitions = (0..<Int32(count ?? 0)).map {
                KafkaTopicPartition(topic: name, partition: $0)
            }
            let ends = try await admin.endOffsets(of: partitions)
            await admin.close()
            return ends
        } catch {
            await admin.close()
            throw error
        }
    }

    /// The progress of reading the topic.
    private struct Reading {
        var epochs = LogEpochs()
        var newest = NewestMessages()
        /// The ends of the partitions that were not read up to there.
        var unread: [KafkaTopicPartition: Int64]
    }

    private func follow(
        from ends: [KafkaTopicPartition: Int64],
        _ retries: Retries
    ) async throws {
        var reading = Reading(unread: ends.filter { $0.value > 0 })
        let beginning: [KafkaTopicPartition: Int64] = ends.mapValues { _ in 0 }
        var hurried: KafkaSettings?
        while true {
            // The newest message is read again, so a log that was lost meanwhile is noticed.
            let consumer = try KafkaConsumer(
                settings: hurried ?? kafka,
                reading: beginning.merging(reading.newest.look()) { _, newest in newest },
                logger: logger
            )
            let goesOn: Bool
            do {
                goesOn = try await read(consumer, &reading, isHurried: hurried != nil, retries)
            } catch {
                await consumer.close()
                throw error
            }
            await consumer.close()
            guard goesOn else { return }
            hurried = hurried == nil ? hurriedKafka : nil
        }
    }

    /// Reads until cancelled, until the topic turns out to be another than it was, or until fetches should
    /// wait for another time.
    ///
    /// - Returns: Whether another consumer goes on where this one ends.
    private func read(
        _ consumer: KafkaConsumer,
        _ reading: inout Reading,
        isHurried: Bool,
        _ retries: Retries
    ) async throws -> Bool {
        var lookAt = ContinuousClock.now + Self.lookInterval
        var changedAt = ContinuousClock.now
        var known: Int64 = 0
        let deadline = ContinuousClock.now + Self.patience
        while true {
            try Task.checkCancellation()
            if clock.step != known {
                known = clock.step
                changed.send()
            }
            if reading.unread.isEmpty {
                if !clock.isCurrent { tellCurrent() }
            } else if ContinuousClock.now >= deadline {
                return false
            }
            if isHurried, ContinuousClock.now - changedAt >= Self.hurry { return true }
            if ContinuousClock.now >= lookAt {
                lookAt = .now + Self.lookInterval
                guard reading.newest.awaited.isEmpty else { return tellLoss() }
                for (partition, offset) in reading.newest.look() {
                    try await consumer.seek(partition, to: .at(offset))
                }
            }
            let poll = try await consumer.next(
                max: 1000,
                timeout: Self.pollWait(
                    isHurried: isHurried,
                    isReadUp: reading.unread.isEmpty,
                    untilLook: ContinuousClock.now.duration(to: lookAt)
                )
            )
            guard let messages = reading.newest.admit(poll.messages) else { return tellLoss() }
            guard !messages.isEmpty else { continue }
            retries.succeeded()
            // What was there when it began to read announces nothing.
            let isNews = clock.isCurrent
            for partition in follow(messages, &reading) {
                reading.newest.forget(partition)
                try await consumer.seek(partition, to: .beginning)
            }
            if isNews {
                changedAt = .now
                if !isHurried, hurriedKafka != nil { return true }
            }
        }
    }

    /// The longest wait for a message, which ends the wait at once.
    ///
    /// If everything was read that was there at first, nothing has to be done before the next look.
    static func pollWait(isHurried: Bool, isReadUp: Bool, untilLook: Duration) -> Duration {
        guard !isHurried else { return .milliseconds(500) }
        // A wait is counted in whole milliseconds, and must not end too early.
        return isReadUp ? max(untilLook, .zero) + .milliseconds(1) : .seconds(1)
    }

    /// Follows the changes in messages.
    ///
    /// - Returns: The partitions that are to be read from their beginning.
    private func follow(
        _ messages: [KafkaMessage],
        _ reading: inout Reading
    ) -> Set<KafkaTopicPartition> {
        let (admitted, rewind) = reading.epochs.admit(messages.compactMap(event(in:)))
        for event in admitted where event.type == .clockChanged { follow(event) }
        for message in messages {
            let partition = message.topicPartition
            if let end = reading.unread[partition], message.offset + 1 >= end {
                reading.unread[partition] = nil
            }
        }
        return rewind
    }

    /// Logs that the broker has lost the log.
    ///
    /// - Returns: `false`, because nothing goes on where the lost log ends.
    private func tellLoss() -> Bool {
        logger.notice(
            "The log of the store's clock is another than before; it is read from its beginning"
        )
        return false
    }

    private func tellCurrent() {
        clock.becomeCurrent()
        logger.debug("The store's clock is known", metadata: ["clock.step": "\(clock.step)"])
    }

    private func event(in message: KafkaMessage) -> ReceivedEvent? {
        switch EventHeaders.event(in: message) {
        case .success(let event): return event
        case .failure(let problem):
            logger.error(
                "A message about the store's clock is malformed and is left out",
                metadata: ["kafka.offset": "\(message.offset)", "error": "\(problem)"]
            )
            return nil
        }
    }

    private func follow(_ event: ReceivedEvent) {
        do {
            let change = try EventCoding.decode(ClockChanged.self, from: event.data)
            guard clock.follow(change.clock, step: change.step), clock.isCurrent else { return }
            logger.info("The store's clock changed", metadata: ["clock.step": "\(change.step)"])
        } catch {
            logger.error(
                "A change of the store's clock cannot be read; its time is wrong from here on",
                metadata: ["event.id": "\(event.id)", "error": "\(error)"]
            )
        }
    }
}
