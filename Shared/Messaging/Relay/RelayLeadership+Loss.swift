import EventTypes
import Kafka
import Logging
import Postgres
import Seals

extension RelayLeadership {
    /// The broker's log that a producer wrote into is gone.
    struct LogIsLost: Error {}

    /// Creates a deleted dead-letter topic again; a missing topic of the service means a lost log.
    func handleUnknownTopic(
        _ progress: inout RelayProgress,
        _ records: [KafkaRecord],
        _ lead: Lead,
        _ admin: KafkaAdmin
    ) async throws {
        if try await !topics.lost(admin).isEmpty {
            try await beginNewLog(&progress, lead, admin)
            throw LogIsLost()
        }
        topics.forgetDeadLetters()
        try await topics.makeDeadLetters(of: records, admin)
    }

    /// Notes what the consumers have confirmed, or begins a new log if the broker has lost its own.
    func follow(
        _ sight: RelayWatch.Sight,
        _ progress: inout RelayProgress,
        _ lead: Lead,
        _ admin: KafkaAdmin
    ) async throws {
        guard !sight.isLost else {
            try await beginNewLog(&progress, lead, admin)
            throw LogIsLost()
        }
        let before = progress.confirmed
        let confirmedTips = progress.confirmedTips
        let consumers = Dictionary(uniqueKeysWithValues: topics.own.map { ($0.name, $0.consumers) })
        metrics.record(lag: sight.progress.lag(committed: sight.committed, consumers: consumers))
        progress.confirm(committed: sight.committed, consumers: consumers)
        guard progress.confirmed != before else { return }
        let saved = progress
        try await client.withConnection { connection in
            let chains = saved.confirmedTips.changed(since: confirmedTips)
            try RelayStore.save(saved, by: lead, touched: [], chains: chains, on: connection)
        }
    }

    func beginNewLog(
        _ progress: inout RelayProgress,
        _ lead: Lead,
        _ admin: KafkaAdmin
    ) async throws {
        progress.restartAfterLoss()
        topics.forgetDeadLetters()
        metrics.lostLog()
        logger.warning(
            "The broker has lost the log of this service; publishing what was not confirmed again",
            metadata: [
                "outbox.epoch": "\(progress.epoch)",
                "outbox.position": "\(progress.published.position)",
            ]
        )
        let saved = progress
        try await client.withTransaction { connection in
            try RelayStore.saveAfterLoss(saved, by: lead, on: connection)
        }
        lead.move()
        try await topics.makeMissing(admin)
    }
}
