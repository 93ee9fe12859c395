import EventTypes
import Foundation
import NIOCore
import NIOPosix

/// An open file, whose every call is made on a thread that may block.
///
/// It is locked for as long as it is open for writing, under whatever names it has, so that another
/// process can tell a file that is being written from one that was left behind.
final class ContentFile: Sendable {
    private let descriptor: Int32
    private let path: String

    private init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit {
        // What was written is durable since `synchronize`; there is nothing left to fail.
        close(descriptor)
    }

    /// Makes a file and locks it; `nil` if somebody else locked it at once.
    static func create(_ path: String) async throws -> ContentFile? {
        try await blocking {
            let descriptor = Foundation.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o640)
            guard descriptor >= 0 else { throw failure("create", path) }
            guard let file = try ContentFile(descriptor: descriptor, path: path).locked() else {
                return nil
            }
            // A cleaner may have been here between the two, and left a file without a name.
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

    /// Removes a file that nobody is writing.
    ///
    /// - Returns: Whether it was removed; not if somebody writes it, or it is gone.
    static func removeAbandoned(_ path: String) async throws -> Bool {
        try await blocking {
            // For writing, because NFS grants its exclusive locks to nothing else.
            let descriptor = Foundation.open(path, O_RDWR | O_CLOEXEC)
            guard descriptor >= 0 else {
                if errno == ENOENT { return false }
                throw failure("open", path)
            }
            let file = ContentFile(descriptor: descriptor, path: path)
            guard let locked = try file.locked() else { return false }
            // Held meanwhile, so that nobody begins to write it.
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

    /// Reads as many bytes as asked for.
    ///
    /// - Throws: ``ContentStorageError`` if there are fewer.
    func read(at offset: Int64, count: Int) async throws -> ByteBuffer {
        try await blocking { [descriptor, path] in
            var buffer = ByteBufferAllocator().buffer(capacity: count)
            try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { bytes in
                var filled = 0
                while filled < count {
                    let place = offset + Int64(filled)
                    let start = bytes.baseAddress?.advanced(by: filled)
                    let read = pread(descriptor, start, count - filled, off_t(place))
                    if read < 0, errno == EINTR { continue }
                    guard read >= 0 else { throw failure("read", path) }
                    guard read > 0 else {
                        throw ContentStorageError(.damaged, "\(path) ends at \(place)")
                    }
                    filled += read
                }
                return filled
            }
            return buffer
        }
    }

    /// Returns once the bytes are on the disk.
    func synchronize() async throws {
        try await blocking { [descriptor, path] in
            guard fsync(descriptor) == 0 else { throw failure("synchronize", path) }
        }
    }
}

extension ContentFile {
    /// A part of a file in pieces, read when they are asked for; as often as it is iterated.
    struct Bytes: AsyncSequence, Sendable {
        /// How much of a file is in memory for one reader.
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

    /// A part of the file, for reading.
    func bytes(in range: Range<Int64>) -> Bytes { Bytes(file: self, range: range) }
}

/// What is done to the names in a directory.
enum ContentDirectory {
    /// Makes a directory and those above it, durably, if they are not there.
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
                throw ContentStorageError(.unusable, "cannot make \(path): it is no directory")
            }
        case ENOENT where parent != path:
            try make(parent)
            try make(path)
        default:
            throw failure("make", path)
        }
    }

    /// The names in a directory; none if it is not there.
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

    /// Gives a file another name, which may be another file's before.
    static func rename(_ path: String, to other: String) async throws {
        try await blocking {
            guard Foundation.rename(path, other) == 0 else { throw failure("rename", path) }
        }
    }

    /// Gives a file a second name.
    static func link(_ path: String, as other: String) async throws {
        try await blocking {
            guard Foundation.link(path, other) == 0 else { throw failure("link", path) }
        }
    }

    /// Removes a name; one that is gone already is no failure.
    static func remove(_ path: String) async throws {
        try await blocking {
            guard unlink(path) == 0 || errno == ENOENT else { throw failure("remove", path) }
        }
    }

    /// Returns once the names are on the disk.
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

/// Runs a call that may block on a thread that may be blocked.
private func blocking<Value: Sendable>(
    _ call: @escaping @Sendable () throws -> Value
) async throws -> Value {
    try await NIOThreadPool.singleton.runIfActive(call)
}

/// What the last call of the system failed with.
private func failure(_ what: String, _ path: String) -> ContentStorageError {
    let number = errno
    return ContentStorageError(
        number == ENOSPC || number == EDQUOT ? .full : .unusable,
        "cannot \(what) \(path): \(String(cString: strerror(number)))"
    )
}
