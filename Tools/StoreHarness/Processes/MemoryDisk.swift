import Foundation

/// A file system in memory (tmpfs) that a test can fill and empty.
///
/// Mounting needs root or the capability `CAP_SYS_ADMIN`. In a mount namespace it is visible only
/// there. Otherwise the whole machine sees it until it is unmounted.
public struct MemoryDisk: Sendable {
    /// The mount point.
    public let directory: String
    /// The size in bytes while it is not full.
    ///
    /// It uses memory only for written data.
    private let size: UInt64

    /// Returns the reason why this process may not mount.
    ///
    /// - Returns: The system's error message; `nil` if it may mount.
    public static func reasonAgainst() -> String? {
        let directory = NSTemporaryDirectory() + "/counterfoil-mount-\(UUID().uuidString)"
        // A file that cannot be removed does no harm.
        defer { try? FileManager.default.removeItem(atPath: directory) }
        do {
            try FileManager.default.createDirectory(
                atPath: directory,
                withIntermediateDirectories: true
            )
            try MemoryDisk.mount(on: directory).unmount()
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// Mounts an empty file system on a directory.
    ///
    /// - Parameter directory: An empty directory.
    /// - Returns: The file system. Its size is half of the machine's memory.
    /// - Throws: ``HarnessError`` with the system's error message.
    static func mount(on directory: String) throws -> MemoryDisk {
        guard Foundation.mount("tmpfs", directory, "tmpfs", 0, "mode=0700") == 0 else {
            throw refusal("mount a tmpfs", directory)
        }
        let space = try space(in: directory)
        return MemoryDisk(directory: directory, size: space.total)
    }

    /// Fills the file system: from now on no write that needs more space succeeds.
    ///
    /// - Throws: ``HarnessError`` if the system refuses.
    public func fill() throws {
        // The size cannot be less than the used space, and other processes write in the meantime.
        for _ in 1...100 {
            let used = try Self.space(in: directory).used
            if remount(size: used) { return }
            guard errno == EINVAL else { break }
        }
        throw Self.refusal("fill", directory)
    }

    /// Restores the original size.
    ///
    /// - Throws: ``HarnessError`` if the system refuses.
    public func makeRoom() throws {
        guard remount(size: size) else { throw Self.refusal("make room in", directory) }
    }

    /// The number of used bytes.
    public var used: UInt64 { get throws { try Self.space(in: directory).used } }

    /// Unmounts the file system and discards its contents.
    func unmount() { Self.unmount(directory) }

    /// Unmounts the file system of a directory, if there is one.
    static func unmount(_ directory: String) {
        // This does nothing if nothing is mounted. Open files stay usable.
        _ = umount2(directory, Int32(MNT_DETACH))
    }

    private func remount(size: UInt64) -> Bool {
        let flags = UInt(MS_REMOUNT)
        return Foundation.mount("tmpfs", directory, "tmpfs", flags, "size=\(size)") == 0
    }

    private static func space(in directory: String) throws -> (total: UInt64, used: UInt64) {
        var status = statvfs()
        guard statvfs(directory, &status) == 0 else {
            throw refusal("see the room in", directory)
        }
        let block = UInt64(status.f_frsize)
        return (block * UInt64(status.f_blocks), block * UInt64(status.f_blocks - status.f_bfree))
    }

    private static func refusal(_ what: String, _ directory: String) -> HarnessError {
        HarnessError("Cannot \(what) \(directory): \(String(cString: strerror(errno))).")
    }
}
