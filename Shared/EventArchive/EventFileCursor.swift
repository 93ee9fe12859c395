import Foundation
public import Messaging

/// A reader of a file of events, from its beginning to its end.
///
/// It keeps one chunk of the file in memory.
public final class EventFileCursor {
    private let path: String
    private let expected: Int
    private let handle: FileHandle
    private let gzip: Gzip?
    private let decoder = JSONDecoder()
    private var rest = Data()
    private var number = 0
    private var isAtEnd = false

    private static let chunk = 1 << 18

    init(_ file: EventFileReader) throws {
        path = file.path
        expected = file.manifest.events
        if path.hasSuffix(".gz") {
            let gzip = try Gzip(outOf: path)
            self.gzip = gzip
            handle = gzip.handle
        } else {
            gzip = nil
            handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        }
    }

    deinit {
        if let gzip { gzip.stop() } else { try? handle.close() }  // It was only read.
    }

    /// The next events, in the order of the file; empty at its end.
    ///
    /// - Throws: ``ArchiveError`` that names the line that is not an event, or says that the file
    ///   does not have the expected number of events.
    public func next() throws -> [(service: String, row: ExactRow)] {
        while !isAtEnd {
            guard let data = try handle.read(upToCount: Self.chunk), !data.isEmpty else {
                isAtEnd = true
                try gzip?.finish()
                guard rest.isEmpty, number == expected else {
                    throw ArchiveError(
                        .eventFile,
                        "\(path) has \(number) whole lines and its manifest says \(expected)."
                    )
                }
                break
            }
            rest.append(data)
            let rows = try wholeLines()
            if !rows.isEmpty { return rows }
        }
        return []
    }

    /// Decodes the complete lines, and keeps the partial one.
    private func wholeLines() throws -> [(service: String, row: ExactRow)] {
        var lines = rest.split(separator: 0x0A, omittingEmptySubsequences: false)
        let open = lines.removeLast()
        let rows = try lines.map { line in
            number += 1
            guard let event = try? decoder.decode(EventLine.self, from: line), let row = event.row
            else { throw ArchiveError(.eventFile, "Line \(number) of \(path) is no event.") }
            return (service: event.service, row: row)
        }
        rest = Data(open)
        return rows
    }
}
