import Foundation
import Glibc
import NIOCore
import Testing
import TestSupport

@testable import Fulfillment

/// An upload under way can be distinguished from an abandoned one on every file system.
@Suite(.timeLimit(.minutes(10)))
struct ContentSpoolTests {
    /// NFS grants an exclusive lock only to a file that is open for writing.
    ///
    /// The kernel reports the mode of a file only when it is closed, so the test watches for that.
    @Test func whatWasLeftIsLockedAsAFileThatIsOpenForWriting() async throws {
        let folder = ContentFolder()
        defer { folder.remove() }
        try folder.write([1, 2, 3], as: ["x.upload"])
        let watch = inotify_init1(Int32(IN_NONBLOCK))
        #expect(watch >= 0)
        defer { close(watch) }
        _ = inotify_add_watch(watch, folder.path, UInt32(IN_CLOSE_WRITE | IN_CLOSE_NOWRITE))
        // Reading the directory also closes it, so the events are filtered by name.
        #expect(try await ContentSpool(directory: folder.path).removeLeftovers() == 1)
        let closes = closes(on: watch).filter { $0.name == "x.upload" }
        #expect(closes.map { $0.mask } == [UInt32(IN_CLOSE_WRITE)])
    }

    private func closes(on watch: Int32) -> [(name: String, mask: UInt32)] {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(watch, &buffer, buffer.count)
        var closes: [(name: String, mask: UInt32)] = []
        var start = 0
        let head = MemoryLayout<inotify_event>.size
        while start + head <= count {
            let (mask, length) = buffer.withUnsafeBytes { bytes in
                (
                    bytes.loadUnaligned(fromByteOffset: start + 4, as: UInt32.self),
                    Int(bytes.loadUnaligned(fromByteOffset: start + 12, as: UInt32.self))
                )
            }
            let name = buffer[(start + head)..<(start + head + length)].prefix { $0 != 0 }
            closes.append((String(decoding: name, as: UTF8.self), mask))
            start += head + length
        }
        return closes
    }

    /// A cleaner may remove a file between its creation and its lock.
    @Test func howeverOftenSomebodyCleansUpMeanwhileAnUploadsFileHasItsName() async throws {
        let folder = ContentFolder()
        defer { folder.remove() }
        let spool = ContentSpool(directory: folder.path)
        try await ContentDirectory.create(folder.path)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 1...2 {
                group.addTask {
                    while !Task.isCancelled { _ = try await spool.removeLeftovers() }
                }
            }
            for count in 0..<3000 {
                let name = folder.path + "/\(count).upload"
                // A file that a cleaner has locked at once does not count.
                guard let file = try await ContentFile.create(name) else { continue }
                #expect(FileManager.default.fileExists(atPath: name))
                withExtendedLifetime(file) {}
            }
            group.cancelAll()
        }
    }
}
