import Foundation

/// The resource usage of a process, from `/proc`.
public struct ProcessUsage: Hashable, Sendable {
    /// The resident memory in bytes.
    public var residentBytes: Int
    /// The maximum of the resident memory in bytes.
    public var residentBytesMax: Int
    /// The user and system time in seconds.
    public var cpuSeconds: Double
    /// The user and system time of its children that have ended, in seconds.
    public var endedChildrenSeconds: Double

    /// Reads a process's usage; `nil` if it has ended or there is no `/proc`.
    ///
    /// - Parameter id: The process id.
    public init?(of id: Int32) {
        // The process may have ended in the meantime.
        guard
            let stat = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8),
            let status = try? String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8),
            let name = stat.lastIndex(of: ")")
        else { return nil }
        // The first field after the name (which may contain spaces) is field 3. Fields 14 and 15
        // are the clock ticks, and 16 and 17 those of children that have ended.
        let fields = stat[stat.index(after: name)...].split(separator: " ")
        guard fields.count > 14 else { return nil }
        let ticks = fields[11...14].compactMap { Double($0) }
        guard ticks.count == 4 else { return nil }
        let ticksPerSecond = Double(sysconf(Int32(_SC_CLK_TCK)))
        cpuSeconds = (ticks[0] + ticks[1]) / ticksPerSecond
        endedChildrenSeconds = (ticks[2] + ticks[3]) / ticksPerSecond
        func kibibytes(_ key: String) -> Int {
            for line in status.split(separator: "\n") where line.hasPrefix(key + ":") {
                return line.split(whereSeparator: { $0 == " " || $0 == "\t" })
                    .dropFirst().first.flatMap { Int($0) } ?? 0
            }
            return 0
        }
        residentBytes = kibibytes("VmRSS") * 1024
        residentBytesMax = kibibytes("VmHWM") * 1024
    }

    /// Adds up a process and all its descendants, such as PostgreSQL's server with its backends.
    ///
    /// The time of descendants that have ended is in ``endedChildrenSeconds`` only.
    ///
    /// Shared memory is counted once for each process, so the result is an upper bound.
    ///
    /// - Parameter id: The id of the root process.
    /// - Returns: The sum, or `nil` if there is no such process.
    public static func ofTree(_ id: Int32) -> ProcessUsage? {
        guard var sum = ProcessUsage(of: id) else { return nil }
        sum.residentBytes = proportionalBytes(of: id) ?? sum.residentBytes
        for child in children(of: id) {
            guard let usage = ofTree(child) else { continue }
            sum.residentBytes += usage.residentBytes
            sum.cpuSeconds += usage.cpuSeconds
            sum.endedChildrenSeconds += usage.endedChildrenSeconds
        }
        sum.residentBytesMax = max(sum.residentBytesMax, sum.residentBytes)
        return sum
    }

    /// Returns the memory of a process, in which shared pages are divided among the processes that
    /// share them.
    private static func proportionalBytes(of id: Int32) -> Int? {
        let path = "/proc/\(id)/smaps_rollup"
        // Not readable for the processes of other users.
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
        for line in text.split(separator: "\n") where line.hasPrefix("Pss:") {
            return line.split(separator: " ").dropFirst().first.flatMap { Int($0) }
                .map { $0 * 1024 }
        }
        return nil
    }

    private static func children(of id: Int32) -> [Int32] {
        // Without CONFIG_PROC_CHILDREN the file is missing, and the tree consists of its root.
        let path = "/proc/\(id)/task/\(id)/children"
        guard let list = try? String(contentsOfFile: path, encoding: .utf8) else { return [] }
        return list.split(separator: " ").compactMap { Int32($0) }
    }
}
