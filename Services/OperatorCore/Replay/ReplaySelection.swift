package import EventTypes
package import Messaging
package import Seals

/// The events of the logs that are replayed.
///
/// Pure. A criterion that is not given selects everything; criteria of several kinds must all hold.
package struct ReplaySelection: Codable, Hashable, Sendable {
    package var topics: [String] = []
    package var types: [String] = []
    package var accounts: [String] = []
    package var transactions: [String] = []
    package var events: [String] = []
    /// The first moment that is selected.
    package var since: StoreTime?
    /// The first moment that is no longer selected.
    package var until: StoreTime?
    /// The first place of a service's log that is selected: `xid:position`.
    package var from: String?
    /// The last place of that log that is selected.
    package var through: String?

    package init(
        topics: [String] = [],
        types: [String] = [],
        accounts: [String] = [],
        transactions: [String] = [],
        events: [String] = [],
        since: StoreTime? = nil,
        until: StoreTime? = nil,
        from: String? = nil,
        through: String? = nil
    ) {
        self.topics = topics
        self.types = types
        self.accounts = accounts
        self.transactions = transactions
        self.events = events
        self.since = since
        self.until = until
        self.from = from
        self.through = through
    }

    /// The topics that are selected.
    package var selectedTopics: [Topic] {
        topics.isEmpty ? Topics.all : Topics.all.filter { topics.contains($0.name) }
    }

    /// The services whose logs are read.
    package var services: [String] {
        var services: [String] = []
        for topic in selectedTopics where !services.contains(topic.producer.rawValue) {
            services.append(topic.producer.rawValue)
        }
        return services
    }

    /// The place before the first that is selected.
    package var start: LogPlace {
        guard let from, let first = LogPlace(utf8: Array(from.utf8)) else { return .start }
        return LogPlace(xid: first.xid, position: first.position - 1)
    }

    /// The last place that is selected; `nil` for the end of the log.
    package var end: LogPlace? { through.flatMap { LogPlace(utf8: Array($0.utf8)) } }

    /// Refuses a selection that is malformed or cannot select anything.
    ///
    /// - Parameter now: The present moment.
    /// - Throws: ``OperatorError`` of the kind `usage`.
    package func check(at now: StoreTime) throws(OperatorError) {
        func refuse(_ words: String) -> OperatorError { OperatorError(.usage, words) }
        for topic in topics where !Topics.all.contains(where: { $0.name == topic }) {
            throw refuse(
                "There is no topic \(topic); there are "
                    + Topics.all.map(\.name).joined(separator: ", ") + "."
            )
        }
        for type in types where !EventType.all.contains(EventType(rawValue: type)) {
            throw refuse(
                "This version knows no type \(type); it knows "
                    + EventType.all.map(\.rawValue).sorted().joined(separator: ", ") + "."
            )
        }
        for id in events where EventID(id) == nil {
            throw refuse("'\(id)' is not the id of an event, which is a UUID.")
        }
        for id in transactions where id.isEmpty || !id.utf8.allSatisfy({ (48...57).contains($0) }) {
            throw refuse("'\(id)' is not the id of a transaction, which is a number.")
        }
        if let since, since > now { throw refuse("--since \(since) is in the future.") }
        if let until, until > now { throw refuse("--until \(until) is in the future.") }
        if let since, let until, since >= until {
            throw refuse("Between --since \(since) and --until \(until) there is nothing.")
        }
        for place in [from, through].compactMap(\.self)
        where LogPlace(utf8: Array(place.utf8)) == nil {
            throw refuse("'\(place)' is not a place in a log, which is xid:position.")
        }
        if from != nil || through != nil, services.count > 1 {
            throw refuse("Places belong to one service's log: name it with --topic.")
        }
        if let end, end <= start { throw refuse("From \(from ?? "") to \(end) there is nothing.") }
    }

    /// Refuses a consumer that reads none of the selected topics.
    package func check(consumer: String?) throws(OperatorError) {
        guard let consumer else { return }
        let consumers = Set(selectedTopics.flatMap(\.consumers).map(\.rawValue))
        guard consumers.contains(consumer) else {
            throw OperatorError(
                .usage,
                "\(consumer) reads none of the selected topics; they are read by "
                    + "\(consumers.sorted().joined(separator: " and "))."
            )
        }
    }

    /// Whether an event is selected.
    package func contains(_ row: OutboxRow) -> Bool {
        let event = row.event
        if topics.isEmpty {
            guard Topics.all.contains(where: { $0.name == event.topic }) else { return false }
        } else {
            guard topics.contains(event.topic) else { return false }
        }
        return (types.isEmpty || types.contains(event.type.rawValue))
            && (accounts.isEmpty || accounts.contains(event.key))
            && (transactions.isEmpty || transactions.contains(event.subject))
            && (events.isEmpty || events.contains(event.id.description))
            && since.map { event.time >= $0 } ?? true
            && until.map { event.time < $0 } ?? true
            && row.place > start
            && end.map { row.place <= $0 } ?? true
    }
}
