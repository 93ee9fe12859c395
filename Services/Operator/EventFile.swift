import Crypto
import EventTypes
import Foundation
import Messaging

/// An event of a log as a line of a file: everything that the log has of it.
struct EventLine: Codable, Hashable, Sendable {
    let service: String
    /// Its place in the service's log: `xid:position`.
    let position: String
    let id: EventID
    let type: EventType
    let topic: String
    let key: String
    let subject: String
    let time: Timestamp
    let traceparent: String?
    /// Its data, byte for byte: JSON as text.
    let data: String

    init(_ row: OutboxRow, service: String) {
        self.service = service
        position = row.cursor.description
        id = row.event.id
        type = row.event.type
        topic = row.event.topic
        key = row.event.key
        subject = row.event.subject
        time = row.event.time
        traceparent = row.event.traceparent
        data = String(decoding: row.event.data, as: UTF8.self)
    }

    /// The row; `nil` if its place is none.
    var row: OutboxRow? {
        guard let cursor = OutboxCursor(utf8: Array(position.utf8)) else { return nil }
        return OutboxRow(
            cursor: cursor,
            event: OutboxEvent(
                id: id,
                type: type,
                topicName: topic,
                key: key,
                subject: subject,
                time: time,
                traceparent: traceparent,
                data: Array(data.utf8)
            )
        )
    }
}

/// What a file of events says of itself, in a file beside it: whoever reads the one checks it by the
/// other first.
struct EventFileManifest: Codable, Hashable, Sendable {
    private(set) var format = "counterfoil-events/1"
    let events: Int
    let bytes: Int
    /// SHA-256 of the file, in hexadecimal digits.
    let sha256: String

    /// Where the manifest of a file is.
    static func path(of file: String) -> String { file + ".manifest.json" }
}

/// Writes events to a file, one a line; there is no file, or a whole one with its manifest.
struct EventFileWriter: ~Copyable {
    private let path: String
    private let handle: FileHandle
    private let encoder: JSONEncoder
    private var hasher = SHA256()
    private var buffer = Data()
    private var events = 0
    private var bytes = 0

    private static let bufferMax = 1 << 18

    /// Begins a file, under another name.
    ///
    /// - Throws: ``OperatorError`` if there is one of that name, or none can be written.
    init(_ path: String) throws(OperatorError) {
        for existing in [path, EventFileManifest.path(of: path)]
        where FileManager.default.fileExists(atPath: existing) {
            throw OperatorError(.failed, "\(existing) is there already; it is not written over.")
        }
        let partial = Self.partial(path)
        guard FileManager.default.createFile(atPath: partial, contents: nil),
            let handle = FileHandle(forWritingAtPath: partial)
        else { throw OperatorError(.failed, "\(partial) cannot be written.") }
        self.path = path
        self.handle = handle
        encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    }

    private static func partial(_ path: String) -> String { path + ".partial" }

    /// Adds events.
    mutating func write(_ rows: some Sequence<OutboxRow>, of service: String) throws {
        for row in rows {
            buffer.append(try encoder.encode(EventLine(row, service: service)))
            buffer.append(0x0A)
            events += 1
            if buffer.count >= Self.bufferMax { try flush() }
        }
    }

    /// Ends the file: its bytes are on the disk before it has its name.
    consuming func finish() throws -> EventFileManifest {
        try flush()
        try handle.synchronize()
        try handle.close()
        let manifest = EventFileManifest(
            events: events,
            bytes: bytes,
            sha256: hasher.finalize().map { String(format: "%02x", $0) }.joined()
        )
        try FileManager.default.moveItem(atPath: Self.partial(path), toPath: path)
        try Data((Console.prettyJSON(manifest) + "\n").utf8)
            .write(to: URL(fileURLWithPath: EventFileManifest.path(of: path)), options: .atomic)
        return manifest
    }

    private mutating func flush() throws {
        hasher.update(data: buffer)
        bytes += buffer.count
        try handle.write(contentsOf: buffer)
        buffer.removeAll(keepingCapacity: true)
    }
}

/// Reads a file of events, once it is known to be whole.
struct EventFileReader: Sendable {
    let path: String
    let manifest: EventFileManifest

    private static let chunk = 1 << 18

    /// Checks a file against its manifest.
    ///
    /// - Throws: ``OperatorError`` that says what is missing or different.
    init(_ path: String) throws(OperatorError) {
        let manifestPath = EventFileManifest.path(of: path)
        do {
            let data = try Data(contentsOf: URL(fileURLWithPath: manifestPath))
            manifest = try JSONDecoder().decode(EventFileManifest.self, from: data)
        } catch {
            throw OperatorError(
                .failed,
                "\(path) has no manifest that can be read at \(manifestPath), so nobody can say "
                    + "whether it is whole."
            )
        }
        guard manifest.format == "counterfoil-events/1" else {
            throw OperatorError(
                .failed,
                "\(path) is of the form \(manifest.format), which is not known here."
            )
        }
        self.path = path
        var hasher = SHA256()
        var bytes = 0
        do {
            try Self.chunks(of: path) { data in
                hasher.update(data: data)
                bytes += data.count
            }
        } catch {
            throw OperatorError(.failed, "\(path) cannot be read: \(error.localizedDescription)")
        }
        guard bytes == manifest.bytes else {
            throw OperatorError(
                .failed,
                "\(path) has \(bytes) bytes and its manifest says \(manifest.bytes): it was cut or "
                    + "added to."
            )
        }
        guard hasher.finalize().map({ String(format: "%02x", $0) }).joined() == manifest.sha256
        else {
            throw OperatorError(.failed, "\(path) is not the file that its manifest is of.")
        }
    }

    /// Reads the events, so many at a time.
    ///
    /// - Throws: ``OperatorError`` with the number of a line that is no event; what the body throws.
    func read(_ body: ([(service: String, row: OutboxRow)]) async throws -> Void) async throws {
        guard let handle = FileHandle(forReadingAtPath: path) else {
            throw OperatorError(.failed, "\(path) cannot be read.")
        }
        defer { try? handle.close() }  // It was read only.
        let decoder = JSONDecoder()
        var rest = Data()
        var number = 0
        while let data = try handle.read(upToCount: Self.chunk), !data.isEmpty {
            rest.append(data)
            var lines = rest.split(separator: 0x0A, omittingEmptySubsequences: false)
            let open = lines.removeLast()
            var rows: [(service: String, row: OutboxRow)] = []
            for line in lines {
                number += 1
                guard let event = try? decoder.decode(EventLine.self, from: line),
                    let row = event.row
                else { throw OperatorError(.failed, "Line \(number) of \(path) is no event.") }
                rows.append((event.service, row))
            }
            rest = Data(open)
            if !rows.isEmpty { try await body(rows) }
        }
        guard rest.isEmpty, number == manifest.events else {
            throw OperatorError(
                .failed,
                "\(path) has \(number) whole lines and its manifest says \(manifest.events)."
            )
        }
    }

    private static func chunks(of path: String, _ body: (Data) -> Void) throws {
        let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { try? handle.close() }  // It was read only.
        while let data = try handle.read(upToCount: chunk), !data.isEmpty { body(data) }
    }
}
