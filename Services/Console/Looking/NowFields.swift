import EventTypes
import OperatorCore

/// The values of the first page, by the names of their places.
///
/// Pure.
enum NowFields {
    /// The kinds of waiting work, with the words for them.
    static let work = [
        ("charges", "charges under way"), ("unfinished", "unfinished by apps"),
        ("webhooks", "webhooks not confirmed"), ("notifications", "notifications not confirmed"),
    ]

    /// All values of a sample.
    static func fields(of sample: NowSample) -> [String: NowField] {
        var fields: [String: NowField] = [:]
        for entry in sample.report.services {
            for (name, field) in Self.fields(of: entry) {
                fields["\(entry.service.rawValue).\(name)"] = field
            }
        }
        let work = sample.report.services.compactMap(\.database?.work).reduce(into: [:]) {
            all,
            part in all.merge(part) { $1 }
        }
        for (key, _) in Self.work {
            fields["work.\(key)"] =
                work[key].map { Self.field(of: $0, at: sample.storeTime) }
                ?? NowField("unknown", .warn)
        }
        for entry in sample.lag?.consumers ?? [] {
            fields["lag.\(entry.consumer).\(entry.topic)"] = Self.field(of: entry)
        }
        fields.merge(sample.rates.fields) { $1 }
        fields.merge(sample.line.fields) { $1 }
        fields.merge(sample.hops.fields) { $1 }
        fields["verdict"] = verdict(of: sample)
        fields["clock"] = NowField("\(sample.takenAt)")
        return fields
    }

    /// The state of the store in one sentence.
    static func verdict(of sample: NowSample) -> NowField {
        let away = sample.report.services.filter { $0.health == "away" }.map(\.service.rawValue)
        if !away.isEmpty {
            return NowField("\(away.joined(separator: " and ")) cannot be reached.", .bad)
        }
        let waiting = sample.report.services.filter { $0.health != "ready" }
        if let first = waiting.first {
            return NowField(
                "\(first.service.rawValue) is not ready: \(first.detail ?? "no reason given")",
                .bad
            )
        }
        if let entry = sample.report.services.first(where: { $0.databaseProblem != nil }) {
            return NowField("The database of \(entry.service.rawValue) cannot be read.", .bad)
        }
        let dead = sample.report.services.compactMap(\.database?.dead).reduce(0, +)
        if dead > 0 {
            return NowField(
                "\(dead) \(dead == 1 ? "event" : "events") could not be applied.",
                .warn
            )
        }
        return NowField("Every service is ready.", .good)
    }

    private static func fields(of entry: StatusReport.Entry) -> [(String, NowField)] {
        let tone: NowField.Tone = entry.health == "ready" ? .good : .bad
        var fields = [
            ("health", NowField(entry.health, tone)),
            ("version", NowField(entry.version ?? "unknown")),
        ]
        guard let database = entry.database else {
            return fields + ["outbox", "dead", "parked"].map { ($0, NowField("unknown", .warn)) }
        }
        let outbox = BoundedCount(database.outbox.count, isAtLeast: database.outbox.isAtLeast)
        fields += [
            ("outbox", NowField("\(outbox)", database.outbox.count > 1000 ? .warn : .plain)),
            ("dead", NowField("\(database.dead)", database.dead > 0 ? .bad : .plain)),
            ("parked", NowField("\(database.parked)", database.parked > 0 ? .warn : .plain)),
        ]
        return fields
    }

    private static func field(of waiting: DatabaseStatus.Waiting, at now: StoreTime?) -> NowField {
        let count = BoundedCount(waiting.count, isAtLeast: waiting.isAtLeast)
        guard let oldest = waiting.oldest, let now else { return NowField("\(count)") }
        return NowField("\(count), the oldest for \(Age(of: oldest, at: now))")
    }

    private static func field(of entry: LagReport.Entry) -> NowField {
        guard entry.events > 0 else { return NowField("nothing behind", .good) }
        let count = BoundedCount(entry.events, isAtLeast: entry.isAtLeast)
        let age = Age(milliseconds: entry.ageMilliseconds)
        return NowField(
            "\(count) \(entry.events == 1 ? "event" : "events"), the oldest for \(age)",
            entry.ageMilliseconds > 10_000 ? .bad : .warn
        )
    }
}
