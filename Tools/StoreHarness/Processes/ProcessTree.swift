import Foundation

/// The processes of this machine and their children, according to `/proc`.
enum ProcessTree {
    /// Returns the ids of a process's children.
    static func children(of parent: Int32) -> [Int32] {
        // Without /proc there are none.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { Int32($0) }.filter { status(of: $0)?.parent == parent }
    }

    /// Whether a process was stopped by a signal or has ended.
    static func isStoppedOrGone(_ id: Int32) -> Bool {
        guard let state = status(of: id)?.state else { return true }
        return ["T", "t", "Z", "X"].contains(state)
    }

    /// Resumes a process and its children if they were stopped by a signal.
    static func resume(_ id: Int32) {
        for child in children(of: id) { kill(child, SIGCONT) }
        kill(id, SIGCONT)
    }

    private static func status(of id: Int32) -> (state: Character, parent: Int32)? {
        // The process may have ended in the meantime.
        guard let text = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8),
            // The name before it may contain any character.
            let end = text.lastIndex(of: ")")
        else { return nil }
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 1, let state = fields[0].first, let parent = Int32(fields[1]) else {
            return nil
        }
        return (state, parent)
    }
}
