import EventTypes
import Foundation
import NIOCore
import NIOPosix

/// An open file.
///
/// Every call runs on a thread that may block.
///
/// The file stays locked while it is open for writing, whatever names it has. So another process
/// can distinguish a file that is being written from an abandoned one.
final class ContentFile: Sendable {
    private let descriptor: Int32
    private let path: String

    private init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit {
        // Written bytes are durable since `synchronize`, so nothing can fail any more.
        close(descriptor)
    }

    /// Creates a file and locks it.
    ///
    /// Returns `nil` if another process locked it first.
    static func create(_ path: String) async throws -> ContentFile? {
        try await blocking {
            let descriptor = Foundation.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o640)
            guard descriptor >= 0 else { throw failure("create", path) }
            guard let file = try ContentFile(descriptor: descriptor, path: path).locked() else {
                return nil
            }
            // A cleaner may have removed the file between its creation and the lock.
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw failure("examine", path) }
            return status.st_nlink > 0 ? file : nil
        }
    }

    /// Opens a file for reading.
    static func open(_ path: String, length: Int64) async throws -> ContentFile {
        try await blocking {
            let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else {
                if errno == ENOENT { throw ContentStorageError(.missing, "there is no \(path)") }
                throw failure("open", path)
            }
            let file = ContentFile(descriptor: descriptor, path: path)
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw failure("examine", path) }
            guard Int64(status.st_size) == length else {
                throw ContentStorageError(
                    .damaged,
                    "\(path) has \(status.st_size) bytes and should have \(length)"
                )
            }
            return file
        }
    }

    /// Removes a file unless a process is writing it.
    ///
    /// - Returns: Whether it was removed. `false` if it is being written or does not exist.
    static func removeAbandoned(_ path: String) async throws -> Bool {
        try await blocking {
            // Opened for writing, because NFS requires it for exclusive locks.
            let descriptor = Foundation.open(path, O_RDWR | O_CLOEXEC)
            guard descriptor >= 0 else {
                if errno == ENOENT { return false }
                throw failure("open", path)
            }
            let file = ContentFile(descriptor: descriptor, path: path)
            guard let locked = try file.locked() else { return false }
            // The lock is held meanwhile, so that no process begins to write the file.
            return try withExtendedLifetime(locked) {
                guard unlink(path) == 0 || errno == ENOENT else { throw failure("remove", path) }
                return true
            }
        }
    }

    private func locked() throws -> ContentFile? {
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return self }
        guard errno == EWOULDBLOCK else { throw failure("lock", path) }
        return nil
    }

    /// Appends bytes.
    func append(_ bytes: ByteBuffer) async throws {
        try await blocking { [descriptor, path] in
            try bytes.withUnsafeReadableBytes { bytes in
                var rest = bytes[...]
                while !rest.isEmpty {
                    let part = UnsafeRawBufferPointer(rebasing: rest)
                    let count = write(descriptor, part.baseAddress, part.count)
                    if count < 0, errno == EINTR { continue }
                    guard count >= 0 else { throw failure("write", path) }
                    rest = rest.dropFirst(count)
                }
            }
        }
    }

    /// Reads exactly `count` bytes.
    ///
    /// - Throws: ``ContentStorageError`` if there are fewer.
    func read(at offset: Int64, count: Int) async throws -> ByteBuffer {
        try await blocking { [descriptor, path] in
            var buffer = ByteBufferAllocator().buffer(capacity: count)
            try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { bytes in
                var filled = 0
                while filled < count {
                    let position = offset + Int64(filled)
                    let start = bytes.baseAddress?.advanced(by: filled)
                    let read = pread(descriptor, start, count - filled, off_t(position))
                    if read < 0, errno == EINTR { continue }
                    guard read >= 0 else { throw failure("read", path) }
                    guard read > 0 else {
                        throw ContentStorageError(.damaged, "\(path) ends at \(position)")
                    }
                    filled += read
                }
                return filled
            }
            return buffer
        }
    }

    /// Returns once the bytes are on the disk (`fsync`).
    func synchronize() async throws {
        try await blocking { [descriptor, path] in
            guard fsync(descriptor) == 0 else { throw failure("synchronize", path) }
        }
    }
}

extension ContentFile {
    /// A part of a file, read piece by piece on demand.
    ///
    /// It can be iterated several times.
    struct Bytes: AsyncSequence, Sendable {
        /// The number of bytes that one reader has in memory.
        private static let chunkLength: Int64 = 128 * 1024

        let file: ContentFile
        let range: Range<Int64>

        struct AsyncIterator: AsyncIteratorProtocol {
            let file: ContentFile
            var rest: Range<Int64>

            mutating func next() async throws -> ByteBuffer? {
                let part = rest.prefix(Int(Bytes.chunkLength))
                guard let offset = part.first else { return nil }
                let bytes = try await file.read(at: offset, count: part.count)
                rest = part.endIndex..<rest.upperBound
                return bytes
            }
        }

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(file: file, rest: range) }
    }

    /// Returns a part of the file for reading.
    func bytes(in range: Range<Int64>) -> Bytes { Bytes(file: self, range: range) }
}

/// Operations on the names in a directory.
enum ContentDirectory {
    /// Creates a directory and its parents durably if they do not exist.
    static func create(_ path: String) async throws {
        try await blocking { try make(path) }
    }

    private static func make(_ path: String) throws {
        let above = (path as NSString).deletingLastPathComponent
        let parent = above.isEmpty ? "." : above
        if mkdir(path, 0o750) == 0 {
            try synchronizeNow(parent)
            return
        }
        switch errno {
        case EEXIST:
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
                throw ContentStorageError(.unusable, "cannot make \(path): it is not a directory")
            }
        case ENOENT where parent != path:
            try make(parent)
            try make(path)
        default:
            throw failure("make", path)
        }
    }

    /// Returns the names in a directory, or none if it does not exist.
    static func names(in path: String) async throws -> [String] {
        try await blocking {
            guard let directory = opendir(path) else {
                if errno == ENOENT { return [] }
                throw failure("list", path)
            }
            defer { closedir(directory) }
            var names: [String] = []
            while let entry = readdir(directory) {
                names.append(
                    withUnsafePointer(to: &entry.pointee.d_name) { name in
                        name.withMemoryRebound(to: CChar.self, capacity: 256) {
                            String(cString: $0)
                        }
                    }
                )
            }
            return names
        }
    }

    /// Renames a file, replacing any file that has the new name.
    static func rename(_ path: String, to other: String) async throws {
        try await blocking {
            guard Foundation.rename(path, other) == 0 else { throw failure("rename", path) }
        }
    }

    /// Gives a file a second name (a hard link).
    static func link(_ path: String, as other: String) async throws {
        try await blocking {
            guard Foundation.link(path, other) == 0 else { throw failure("link", path) }
        }
    }

    /// Removes a name.
    ///
    /// A missing name is not an error.
    static func remove(_ path: String) async throws {
        try await blocking {
            guard unlink(path) == 0 || errno == ENOENT else { throw failure("remove", path) }
        }
    }

    /// Returns once the directory's names are on the disk.
    static func synchronize(_ path: String) async throws {
        try await blocking { try synchronizeNow(path) }
    }

    private static func synchronizeNow(_ path: String) throws {
        let descriptor = Foundation.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open", path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("synchronize", path) }
    }
}

/// Runs a blocking call on a thread that may block.
private func blocking<Value: Sendable>(
    _ call: @escaping @Sendable () throws -> Value
) async throws -> Value {
    try await NIOThreadPool.singleton.runIfActive(call)
}

/// Returns an error for the last system call, from `errno`.
private func failure(_ what: String, _ path: String) -> ContentStorageError {
    let number = errno
    return ContentStorageError(
        number == ENOSPC || number == EDQUOT ? .full : .unusable,
        "cannot \(what) \(path): \(String(cString: strerror(number)))"
    )
}
