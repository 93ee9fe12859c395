import Foundation
import Rebuild
import Synchronization

/// `<service> rebuild`, as a process that reports its findings line by line.
///
/// The service's own executable rebuilds the books, so the rules are those that run live. One
/// service's rebuild cannot touch another's memory or databases.
final class RebuildProcess: Sendable {
    private let process = Process()
    private let output = Pipe()
    private let errors = Pipe()

    /// Prepares a process.
    ///
    /// - Parameters:
    ///   - executable: The service.
    ///   - environment: All that it knows.
    init(_ executable: String, environment: [String: String]) {
        process.executableURL = URL(fileURLWithPath: executable)
        process.arguments = ["rebuild"]
        process.environment = environment
        process.standardOutput = output
        process.standardError = errors
        process.standardInput = FileHandle.nullDevice
    }

    /// The way in which the process ended.
    struct Ending: Sendable {
        let status: Int32
        /// The end of its output on standard error.
        let complaint: String
        /// The number of its lines that this version does not understand.
        let unreadLines: Int
    }

    /// Runs the process until it ends.
    ///
    /// - Parameter take: Takes each line, on a thread of its own.
    /// - Returns: The way in which it ended.
    /// - Throws: An error when it cannot be started.
    func run(_ take: @escaping @Sendable (RebuildLine) -> Void) async throws -> Ending {
        try process.run()
        return await withTaskCancellationHandler {
            async let complaint = Self.read(errors.fileHandleForReading) { _ in }
            let unread = Atomic(0)
            _ = await Self.read(output.fileHandleForReading) { line in
                do {
                    take(try JSONDecoder().decode(RebuildLine.self, from: line))
                } catch {
                    // The line may report a difference, so it must not be ignored.
                    unread.add(1, ordering: .relaxed)
                }
            }
            let words = await complaint
            process.waitUntilExit()
            return Ending(
                status: process.terminationStatus,
                complaint: words,
                unreadLines: unread.load(ordering: .relaxed)
            )
        } onCancel: {
            process.terminate()
        }
    }

    /// Reads a pipe until its end, on a thread that may block.
    ///
    /// - Returns: The last 4 KB.
    private static func read(
        _ handle: FileHandle,
        _ takeLine: @escaping @Sendable (Data) -> Void
    ) async -> String {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var rest = Data()
                var tail = Data()
                while case let data = handle.availableData, !data.isEmpty {
                    tail = (tail + data).suffix(4096)
                    rest.append(data)
                    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                        takeLine(Data(rest[rest.startIndex..<end]))
                        rest = Data(rest[rest.index(after: end)...])
                    }
                }
                continuation.resume(returning: String(decoding: tail, as: UTF8.self))
            }
        }
    }
}
