public import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A log on disk of the delivery steps that a program has made for each transaction.
///
/// It ensures that the program's own delivery happens only once, even if finishing fails repeatedly
/// (spec rule 53). A step and its value are one line of the file, which is written and synced to
/// disk immediately. Store the granted amount in the entry and compute the balance from
/// ``entries()``. Then the step and its effect are always written together.
///
/// ```swift
/// let log = try StepLog(url: url)
/// if try log.record("coins", of: transaction, value: "100") { … }  // granted, and once
/// try await transaction.finish()
/// ```
///
/// Only one program at a time can have a log open. A last line that was cut off by a crash is
/// dropped when the log is opened. An unreadable line in the middle is an error, and the file is
/// not changed.
///
/// It is safe to use from any thread.
public final class StepLog: Sendable {
    /// One step that was made.
    public struct Entry: Codable, Hashable, Sendable {
        /// The transaction of the purchase.
        ///
        /// Restored copies of it are not delivered again. A renewal is a transaction of its own.
        public var transaction: String
        /// The name of the step, chosen by the program.
        public var step: String
        /// The value of the step, chosen by the program.
        public var value: String?
        /// The time of the step.
        public var time: Date
    }

    /// The reason why a log cannot be used.
    public enum Failure: Error, Hashable, CustomStringConvertible {
        /// Another program, or another part of this one, has the log open.
        case isOpenElsewhere(path: String)
        /// A line that is not the last one cannot be read.
        case malformed(path: String, line: Int)
        /// The operating system reported an error.
        case system(path: String, action: String, reason: String)
        /// The transaction has no identifier because it is not paid.
        case transactionIsNotPaid

        /// The reason as text.
        public var description: String {
            switch self {
            case .isOpenElsewhere(let path): "\(path): another program has it open"
            case .malformed(let path, let line):
                "\(path), line \(line): not a step; put back a copy, or remove the line"
            case .system(let path, let action, let reason): "\(path): cannot \(action): \(reason)"
            case .transactionIsNotPaid: "only a purchased or restored transaction has steps"
            }
        }
    }

    private struct Key: Hashable {
        var transaction: String
        var step: String
    }

    private struct State {
        var entries: [Entry]
        var made: Set<Key>
        /// Whether the file may end with an incomplete line.
        var isBroken = false
    }

    private let path: String
    private let file: Int32
    private let state: Mutex<State>

    /// Opens a log, and creates it if it does not exist.
    ///
    /// - Throws: ``Failure``.
    public init(url: URL) throws {
        path = url.path
        file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Self.failure(path, "open it") }
        do {
            guard Self.lock(file) else { throw Failure.isOpenElsewhere(path: path) }
            let entries = try Self.read(path, file)
            try Self.keepName(path)
            let made = Set(entries.map { Key(transaction: $0.transaction, step: $0.step) })
            state = Mutex(State(entries: entries, made: made))
        } catch {
            close(file)
            throw error
        }
    }

    deinit { close(file) }

    /// All steps, oldest first.
    public func entries() -> [Entry] { state.withLock { $0.entries } }

    /// Whether a step was already made for a transaction.
    public func has(_ step: String, of transaction: SKPaymentTransaction) -> Bool {
        guard let id = Self.purchase(of: transaction) else { return false }
        return state.withLock { $0.made.contains(Key(transaction: id, step: step)) }
    }

    /// Records a step once.
    ///
    /// When it returns, the step is on disk.
    ///
    /// - Parameters:
    ///   - step: The name of the step.
    ///   - transaction: A purchased or restored transaction.
    ///   - value: The value of the step.
    /// - Returns: `true` if the step was recorded now; `false` if it was recorded before.
    /// - Throws: ``Failure``. In that case the step is not recorded.
    @discardableResult
    public func record(
        _ step: String,
        of transaction: SKPaymentTransaction,
        value: String? = nil
    ) throws -> Bool {
        guard let id = Self.purchase(of: transaction) else { throw Failure.transactionIsNotPaid }
        return try record(Entry(transaction: id, step: step, value: value, time: .now))
    }

    func record(_ entry: Entry) throws -> Bool {
        let key = Key(transaction: entry.transaction, step: entry.step)
        return try state.withLock { state in
            guard !state.isBroken else { throw Self.failure(path, "be sure of its end") }
            guard !state.made.contains(key) else { return false }
            try append(entry, &state)
            state.made.insert(key)
            state.entries.append(entry)
            return true
        }
    }

    private func append(_ entry: Entry, _ state: inout State) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let line = try encoder.encode(entry) + [UInt8(ascii: "\n")]
        let end = lseek(file, 0, SEEK_END)
        guard end >= 0 else { throw Self.failure(path, "find its end") }
        let written = line.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
        guard written == line.count, fsync(file) == 0 else {
            let failure = Self.failure(path, "write to it")
            // An incomplete line must not be read as a step or damage the next line.
            state.isBroken = ftruncate(file, end) != 0
            throw failure
        }
    }

    private static func read(_ path: String, _ file: Int32) throws -> [Entry] {
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw failure(path, "read it")
        }
        let end = (bytes.lastIndex(of: UInt8(ascii: "\n")) ?? -1) + 1
        let decoder = JSONDecoder()
        let entries = try bytes[..<end].split(separator: UInt8(ascii: "\n")).enumerated().map {
            index,
            line in
            guard let entry = try? decoder.decode(Entry.self, from: Data(line)) else {
                throw Failure.malformed(path: path, line: index + 1)
            }
            return entry
        }
        if end < bytes.count, ftruncate(file, off_t(end)) != 0 {
            throw failure(path, "drop its unfinished last line")
        }
        return entries
    }

    /// Locks the file, and retries for up to a second.
    ///
    /// A program that starts a child process briefly shares its open files with it. The child may
    /// therefore still hold the lock of a log that was just closed.
    private static func lock(_ file: Int32) -> Bool {
        for _ in 1...100 {
            if flock(file, LOCK_EX | LOCK_NB) == 0 { return true }
            usleep(10_000)
        }
        return false
    }

    /// Syncs the directory entry to disk.
    ///
    /// Otherwise a new file could be lost in a power failure.
    private static func keepName(_ path: String) throws {
        let folder = open(URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY)
        guard folder >= 0 else { throw failure(path, "open its folder") }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw failure(path, "keep its name") }
    }

    /// The purchase of a transaction.
    ///
    /// A restored transaction, or a second one for an owned product, is a copy and belongs to the
    /// purchase that it repeats. A transaction of any other reason is delivered for itself.
    private static func purchase(of transaction: SKPaymentTransaction) -> String? {
        guard let id = transaction.transactionIdentifier else { return nil }
        guard transaction.isCopy else { return id }
        return transaction.original?.transactionIdentifier ?? id
    }

    private static func failure(_ path: String, _ action: String) -> Failure {
        .system(path: path, action: action, reason: String(cString: strerror(errno)))
    }
}
