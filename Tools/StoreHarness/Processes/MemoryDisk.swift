import Foundation

/// A file system of its own in memory (tmpfs), which can be made full and given room again.
///
/// Mounting needs root, or the right to mount (`CAP_SYS_ADMIN`). Inside a mount namespace it is seen
/// there alone; elsewhere it is seen by the whole machine until it is unmounted.
public struct MemoryDisk: Sendable {
    /// The directory that it is mounted on.
    public let directory: String
    /// Its size in bytes while it has room.
    ///
    /// Memory is used only for what is written.
    private let size: UInt64

    /// Says why this process may not mount, if it may not.
    ///
    /// - Returns: The reason in the system's words; `nil` where it may mount.
    public static func reasonAgainst() -> String? {
        let directory = NSTemporaryDirectory() + "/counterfoil-mount-\(UUID().uuidString)"
        // A leftover does no harm.
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

    /// Mounts an empty one over a directory.
    ///
    /// - Parameter directory: An empty directory.
    /// - Returns: The file system, with room for half of the machine's memory.
    /// - Throws: ``HarnessError`` with the system's reason.
    static func mount(on directory: String) throws -> MemoryDisk {
        guard Foundation.mount("tmpfs", directory, "tmpfs", 0, "mode=0700") == 0 else {
            throw refusal("mount a tmpfs", directory)
        }
        let space = try space(in: directory)
        return MemoryDisk(directory: directory, size: space.total)
    }

    /// Makes it full: from now on nothing can be written that needs more room.
    ///
    /// - Throws: ``HarnessError`` when the system refuses.
    public func fill() throws {
        // The size cannot go below what is used, and others write meanwhile.
        for _ in 1...100 {
            let used = try Self.space(in: directory).used
            if remount(size: used) { return }
            guard errno == EINVAL else { break }
        }
        throw Self.refusal("fill", directory)
    }

    /// Gives it its room again.
    ///
    /// - Throws: ``HarnessError`` when the system refuses.
    public func makeRoom() throws {
        guard remount(size: size) else { throw Self.refusal("make room in", directory) }
    }

    /// Bytes in use.
    public var used: UInt64 { get throws { try Self.space(in: directory).used } }

    /// Takes it away, with all that is in it.
    func unmount() { Self.unmount(directory) }

    /// Takes away what is mounted on a directory, if anything is.
    static func unmount(_ directory: String) {
        // Where nothing is mounted this does nothing. Whoever still has a file open keeps the file.
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
