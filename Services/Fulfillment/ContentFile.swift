import EventTypes
import Foundation
import NIOCore
import NIOPosix

/// An open file, whose every call is made on a thread that may block.
///
/// It is locked for as long as it is open for writing, under whatever names it has, so that another
/// process can tell a file that is being written from one that was left behind.
final class ContentFile: ContentReader {
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

    /// Makes a file and locks it.
    static func create(_ path: String) async throws -> ContentFile {
        try await blocking {
            let descriptor = Foundation.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o640)
            guard descriptor >= 0 else { throw failure("create", path) }
            let file = ContentFile(descriptor: descriptor, path: path)
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw failure("lock", path) }
            return file
        }
    }

    /// Opens a file for reading.
    static func open(_ path: String, length: Int64) async throws -> ContentFile {
        try await blocking {
            let descriptor = Foundation.open(path, O_RDWR | O_CLOEXEC)
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

    /// Takes over a file that nobody is writing; `nil` if somebody is, or it is gone.
    static func abandoned(_ path: String) async throws -> ContentFile? {
        try await blocking {
            let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else {
                if errno == ENOENT { return nil }
                throw failure("open", path)
            }
            let file = ContentFile(descriptor: descriptor, path: path)
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return file }
            guard errno == EWOULDBLOCK else { throw failure("lock", path) }
            return nil
        }
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

    /// Whether a name is one of this file's.
    func isNamed(_ path: String) async throws -> Bool {
        try await blocking { [descriptor] in
            var own = stat()
            var other = stat()
            guard fstat(descriptor, &own) == 0, stat(path, &other) == 0 else { return false }
            return own.st_ino == other.st_ino && own.st_dev == other.st_dev
        }
    }
}

/// What is done to the names in a directory.
enum ContentDirectory {
    /// Makes a directory, if it is not there.
    static func create(_ path: String) async throws {
        try await blocking {
            do {
                try FileManager.default.createDirectory(
                    atPath: path,
                    withIntermediateDirectories: true
                )
            } catch {
                throw ContentStorageError(
                    .unusable,
                    "cannot make \(path): \((error as NSError).localizedDescription)"
                )
            }
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
        try await blocking {
            let descriptor = Foundation.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard descriptor >= 0 else { throw failure("open", path) }
            defer { close(descriptor) }
            guard fsync(descriptor) == 0 else { throw failure("synchronize", path) }
        }
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
