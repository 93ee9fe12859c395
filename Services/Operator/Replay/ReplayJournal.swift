import EventTypes
import Foundation
import Messaging
import OperatorCore
import Seals

/// A replay's progress, in a file.
///
/// After a kill, only the events since the last entry are sent a second time, and consumers
/// recognise them.
struct ReplayJournal: Codable, Sendable {
    /// The version of the file's format.
    private(set) var version = 1
    /// The replay's id, which its messages carry.
    let id: EventID
    let selection: ReplaySelection
    let consumer: String?
    /// Events per second.
    let rate: Int
    let total: Int
    /// The end of each service's log when the replay was planned.
    let ends: [String: String]
    /// The place up to which each service's log was sent.
    var places: [String: String] = [:]
    var sent = 0
    var isDone = false

    /// The place from which a service's log is still to be sent.
    func place(in service: String) -> LogPlace {
        places[service].flatMap { LogPlace(utf8: Array($0.utf8)) } ?? selection.start
    }

    /// The last place of a service's log that is replayed.
    func end(of service: String) -> LogPlace? {
        ends[service].flatMap { LogPlace(utf8: Array($0.utf8)) }
    }

    /// Reads a journal.
    ///
    /// - Throws: ``OperatorError`` if the file is not a journal.
    static func read(_ path: String) throws(OperatorError) -> ReplayJournal {
        let journal: ReplayJournal
        do {
            let data = try Data(contentsOf: URL(fileURLWithPath: path))
            journal = try JSONDecoder().decode(ReplayJournal.self, from: data)
        } catch {
            throw OperatorError(.usage, "\(path) is not the journal of a replay: \(error)")
        }
        guard journal.version == 1 else {
            throw OperatorError(
                .usage,
                "\(path) has version \(journal.version), which this counterfoil does not know."
            )
        }
        return journal
    }

    /// Writes the journal atomically.
    func write(to path: String) throws(OperatorError) {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            try encoder.encode(self).write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            throw .unwritable(path, error)
        }
    }
}
