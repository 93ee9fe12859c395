package import EventTypes
import Foundation
import Messaging
package import Seals

/// A replay's progress, in a file.
///
/// After a kill, only the events since the last entry are sent a second time, and consumers
/// recognise them.
package struct ReplayJournal: Codable, Sendable {
    /// The version of the file's format.
    private var version = 1
    /// The replay's id, which its messages carry.
    package let id: EventID
    package let selection: ReplaySelection
    package let consumer: String?
    /// Events per second.
    package let rate: Int
    package let total: Int
    /// The end of each service's log when the replay was planned.
    package let ends: [String: String]
    /// The place up to which each service's log was sent.
    package var places: [String: String] = [:]
    package var sent = 0
    package var isDone = false

    /// Begins a journal: nothing was sent.
    package init(
        id: EventID,
        selection: ReplaySelection,
        consumer: String?,
        rate: Int,
        total: Int,
        ends: [String: String]
    ) {
        self.id = id
        self.selection = selection
        self.consumer = consumer
        self.rate = rate
        self.total = total
        self.ends = ends
    }

    /// The place from which a service's log is still to be sent.
    package func place(in service: String) -> LogPlace {
        places[service].flatMap { LogPlace(utf8: Array($0.utf8)) } ?? selection.start
    }

    /// The last place of a service's log that is replayed.
    package func end(of service: String) -> LogPlace? {
        ends[service].flatMap { LogPlace(utf8: Array($0.utf8)) }
    }

    /// Reads a journal.
    ///
    /// - Throws: ``OperatorError`` if the file is not a journal.
    package static func read(_ path: String) throws(OperatorError) -> ReplayJournal {
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

    /// Writes the journal atomically; only its owner may read it.
    package func write(to path: String) throws(OperatorError) {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            let contents = try encoder.encode(self)
            let draft = path + ".draft"
            // A leftover may have another mode, so it is not written over.
            try? FileManager.default.removeItem(atPath: draft)
            try DraftFile.write(contents, to: draft, isPrivate: true)
            try DraftFile.put(draft, at: path)
        } catch {
            throw .unwritable(path, error)
        }
    }
}
