import EventTypes
import Foundation
import OperatorCore

/// Dead letters, in the databases of the services that recorded them.
extension StoreDesk {
    /// The most keys on a page.
    static let keysMax = 50
    /// The most letters of each state on the page of a key, from each service.
    static let lettersMax = 20
    /// The longest data that a page shows.
    static let dataLengthMax = 64 << 10
    /// The time for which an act waits to see what becomes of a redrive.
    static let redrivePatience: Duration = .seconds(2)

    /// A page of the keys that have open dead letters, counted in each service.
    func openLetters(
        after key: String
    ) async throws -> (keys: [(key: String, counts: [OpenLetters])], next: String?) {
        var found: [String: [OpenLetters]] = [:]
        for service in OperatedService.consumers {
            let counts = try await DatabaseReader.read(databases.address(of: service)) {
                try DeadLetterStore.openLetters(after: key, limit: Self.keysMax + 1, on: $0)
            }
            for count in counts { found[count.key, default: []].append(count) }
        }
        let all = found.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        let page = all.prefix(Self.keysMax)
        return (
            page.map { (key: $0.key, counts: $0.value) },
            all.count > page.count ? page.last?.key : nil
        )
    }

    /// The open dead letters of a key: in each service the dead ones, and then those parked behind.
    func letters(of key: String) async throws -> [(service: OperatedService, queue: LetterQueue)] {
        var queues: [(OperatedService, LetterQueue)] = []
        for service in OperatedService.consumers {
            let queue = try await DatabaseReader.read(databases.address(of: service)) {
                connection in
                LetterQueue(
                    dead: try DeadLetterStore.letters(
                        .init(key: key, state: "dead", limit: Self.lettersMax),
                        on: connection
                    ),
                    parked: try DeadLetterStore.letters(
                        .init(key: key, state: "parked", limit: Self.lettersMax),
                        on: connection
                    ),
                    count: try DeadLetterStore.open(key: key, on: connection).all
                )
            }
            if queue.count > 0 { queues.append((service, queue)) }
        }
        return queues
    }

    /// One dead letter, settled or not, and its data.
    ///
    /// - Throws: ``ConsoleProblem`` if there is none; `OperatorError` if the database cannot be read.
    func letter(
        _ id: Int64,
        of service: OperatedService,
        withData: Bool
    ) async throws -> (RecordedDeadLetter, Data?) {
        let (letter, data) = try await DatabaseReader.read(databases.address(of: service)) {
            connection in
            (
                try DeadLetterStore.letters(.init(id: id, isAll: true), on: connection).first,
                withData ? try DeadLetterStore.data(of: id, on: connection) : nil
            )
        }
        guard let letter else {
            throw ConsoleProblem(
                404,
                "There is no such dead letter",
                "\(service.rawValue) has no dead letter \(id)."
            )
        }
        return (letter, data)
    }

    /// Asks all services to apply the events of a key again, and waits a moment for the outcome.
    func redrive(_ key: String, by act: Act) async throws {
        let runner = RedriveRunner(databases: deciding)
        var redrives: [Redrive] = []
        for service in OperatedService.consumers {
            redrives += try await runner.ask(service, key: key, by: act)
        }
        guard !redrives.isEmpty else {
            throw OperatorError(.failed, "Nothing of \(key) is dead or parked any more.")
        }
        let deadline = ContinuousClock.now + Self.redrivePatience
        for index in redrives.indices { try await runner.follow(&redrives[index], until: deadline) }
    }

    /// Discards a dead letter for good.
    func discard(_ id: Int64, of service: OperatedService, by act: Act) async throws {
        let isDone = try await DatabaseReader.change(deciding.address(of: service)) {
            try DeadLetterStore.discard(id, by: act, on: $0)
        }
        guard isDone else {
            throw OperatorError(
                .failed,
                "Somebody has settled dead letter \(id) of \(service.rawValue) meanwhile."
            )
        }
    }
}
