import Crypto
import EventTypes
import Foundation
import NIOCore
import ThreadExecutor

/// The partially downloaded bytes of a content, in a file that survives the end of the process.
///
/// Every call blocks, so calls run on a thread of their own. The file is locked while it is open,
/// so that one content is downloaded only once at a time.
actor PartFile {
    private let executor: ThreadExecutor
    private let descriptor: Int32
    private let directory: String
    private let path: String
    private var isOpen = true

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// Opens the existing file of a content, or creates it.
    ///
    /// - Throws: ``ContentDownloadError``.
    init(of digest: ContentDigest, in directory: String) throws(ContentDownloadError) {
        self.directory = directory
        path = "\(directory)/\(digest).part"
        do {
            try FileManager.default.createDirectory(
                atPath: directory,
                withIntermediateDirectories: true
            )
        } catch {
            throw ContentDownloadError(
                .directoryUnusable,
                "cannot make \(directory): \((error as NSError).localizedDescription)"
            )
        }
        descriptor = Foundation.open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("open", path) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let error =
                errno == EWOULDBLOCK
                ? ContentDownloadError(.inProgress, "\(path) is being written by another download")
                : failure("lock", path)
            Foundation.close(descriptor)
            throw error
        }
        var own = stat()
        var named = stat()
        guard fstat(descriptor, &own) == 0, stat(path, &named) == 0, own.st_ino == named.st_ino
        else {
            // The download that had the file open has just ended, and has renamed or removed the
            // file.
            Foundation.close(descriptor)
            throw ContentDownloadError(.inProgress, "\(path) was just dealt with; ask again")
        }
        executor = ThreadExecutor(name: "download")
    }

    deinit {
        if isOpen { Foundation.close(descriptor) }
        executor.shutDown()
    }

    /// Closes the file.
    ///
    /// The bytes written so far stay.
    func close() {
        guard isOpen else { return }
        isOpen = false
        Foundation.close(descriptor)
    }

    /// The number of bytes in the file.
    func length() throws(ContentDownloadError) -> Int64 {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure("examine", path) }
        return Int64(status.st_size)
    }

    /// Discards all bytes.
    func truncate() throws(ContentDownloadError) {
        guard ftruncate(descriptor, 0) == 0 else { throw failure("truncate", path) }
    }

    /// Appends bytes.
    func append(_ bytes: ByteBuffer) throws(ContentDownloadError) {
        var rest = bytes.readableBytesView[...]
        while !rest.isEmpty {
            let count = rest.withContiguousStorageIfAvailable {
                write(descriptor, $0.baseAddress, $0.count)
            }
            guard let count, count >= 0 else {
                if errno == EINTR { continue }
                throw failure("write", path)
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Computes the SHA-256 digest of all bytes.
    func digest() throws(ContentDownloadError) -> ContentDigest {
        try Self.digest(of: descriptor, path)
    }

    /// Whether a file already contains the whole content.
    func isWhole(
        _ name: String,
        length: Int64,
        digest: ContentDigest
    ) throws(ContentDownloadError) -> Bool {
        let other = Foundation.open(name, O_RDONLY | O_CLOEXEC)
        // A file that cannot be opened is replaced.
        guard other >= 0 else { return false }
        defer { Foundation.close(other) }
        var status = stat()
        guard fstat(other, &status) == 0, Int64(status.st_size) == length else { return false }
        return try Self.digest(of: other, name) == digest
    }

    private static func digest(
        of descriptor: Int32,
        _ path: String
    ) throws(ContentDownloadError) -> ContentDigest {
        var hash = SHA256()
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        var offset: Int64 = 0
        while true {
            let count = pread(descriptor, &buffer, buffer.count, off_t(offset))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure("read", path) }
            guard count > 0 else { return ContentDigest(bytes: hash.finalize()) }
            hash.update(data: buffer[..<count])
            offset += Int64(count)
        }
    }

    /// Renames the complete file to the content's own name, durably.
    func finish(as name: String) throws(ContentDownloadError) {
        guard fsync(descriptor) == 0 else { throw failure("synchronize", path) }
        guard rename(path, name) == 0 else { throw failure("rename", path) }
        let folder = Foundation.open(directory, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { throw failure("open", directory) }
        defer { Foundation.close(folder) }
        guard fsync(folder) == 0 else { throw failure("synchronize", directory) }
    }

    /// Removes the file.
    func remove() throws(ContentDownloadError) {
        guard unlink(path) == 0 || errno == ENOENT else { throw failure("remove", path) }
    }
}

/// The error of the last system call.
private func failure(_ what: String, _ path: String) -> ContentDownloadError {
    let number = errno
    return ContentDownloadError(
        number == ENOSPC || number == EDQUOT ? .diskFull : .directoryUnusable,
        "cannot \(what) \(path): \(String(cString: strerror(number)))"
    )
}
