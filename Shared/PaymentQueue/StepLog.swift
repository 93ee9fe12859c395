public import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Which steps of which transactions a program has made, on disk: what makes its own delivery happen
/// once, even if finishing keeps failing (spec rule 53).
///
/// The step and what it gives are one line of the file, written and forced to the disk at once. Keep
/// what is granted in the entry and compute the balance from ``entries()``: then there is no moment
/// at which one is written and the other is not.
///
/// ```swift
/// let log = try StepLog(url: url)
/// if try log.record("coins", of: transaction, value: "100") { … }  // granted, and once
/// try await transaction.finish()
/// ```
///
/// One program at a time has a log open. A last line that a crash cut off is dropped when it is
/// opened; a line in the middle that cannot be read is an error, and nothing is changed.
///
/// Safe to use from any thread.
public final class StepLog: Sendable {
    /// One step that was made.
    public struct Entry: Codable, Hashable, Sendable {
        /// The first transaction of the purchase: restored copies of it are not delivered again.
        public var transaction: String
        /// The step's name, of the program's choosing.
        public var step: String
        /// What the step gave, of the program's choosing.
        public var value: String?
        /// When it was made.
        public var time: Date
    }

    /// Why a log cannot be used.
    public enum Failure: Error, Hashable, CustomStringConvertible {
        /// Another program, or another part of this one, has the log open.
        case isOpenElsewhere(path: String)
        /// A line that is not the last one cannot be read.
        case malformed(path: String, line: Int)
        /// The operating system refused.
        case system(path: String, action: String, reason: String)
        /// The transaction has no identifier: it is not paid.
        case transactionIsNotPaid

        /// The reason in words.
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
        /// Whether half a line may be at its end.
        var isBroken = false
    }

    private let path: String
    private let file: Int32
    private let state: Mutex<State>

    /// Opens a log, and makes it if there is none.
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

    /// Every step that was made, oldest first.
    public func entries() -> [Entry] { state.withLock { $0.entries } }

    /// Whether a step of a transaction was made.
    public func has(_ step: String, of transaction: SKPaymentTransaction) -> Bool {
        guard let id = Self.purchase(of: transaction) else { return false }
        return state.withLock { $0.made.contains(Key(transaction: id, step: step)) }
    }

    /// Makes a step, once: when it returns, the step is on the disk.
    ///
    /// - Parameters:
    ///   - step: The step's name.
    ///   - transaction: A purchased or restored transaction.
    ///   - value: What the step gives.
    /// - Returns: Whether it was made now; `false` if it was made before.
    /// - Throws: ``Failure``; the step is not made then.
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
            // What is half there must not be read as a step, nor spoil the next one.
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

    /// Locks the file, within a second.
    ///
    /// A program that starts another one shares its open files with it for a moment, and so the lock
    /// of a log that it has just closed.
    private static func lock(_ file: Int32) -> Bool {
        for _ in 1...100 {
            if flock(file, LOCK_EX | LOCK_NB) == 0 { return true }
            usleep(10_000)
        }
        return false
    }

    /// Forces the file's name to the disk as well; a new one is lost with the power otherwise.
    private static func keepName(_ path: String) throws {
        let folder = open(URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY)
        guard folder >= 0 else { throw failure(path, "open its folder") }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw failure(path, "keep its name") }
    }

    /// What was bought: a restored transaction, and a second one for a product that is owned, is of
    /// the purchase that it repeats.
    private static func purchase(of transaction: SKPaymentTransaction) -> String? {
        guard let id = transaction.transactionIdentifier else { return nil }
        return transaction.original?.transactionIdentifier ?? id
    }

    private static func failure(_ path: String, _ action: String) -> Failure {
        .system(path: path, action: action, reason: String(cString: strerror(errno)))
    }
}
