import Foundation

extension PostgresCluster {
    /// Stops all processes of the server where they are (SIGSTOP), as a machine that hangs does: its
    /// sockets stay open, and nobody answers.
    ///
    /// - Throws: ``PostgresClusterError`` if the server does not run.
    public func freeze() throws {
        // The first process first, so that it starts no others meanwhile.
        for id in try processIDs() { kill(id, SIGSTOP) }
    }

    /// Lets all processes of the server go on (SIGCONT).
    ///
    /// - Throws: ``PostgresClusterError`` if the server does not run.
    public func thaw() throws {
        for id in try processIDs().reversed() { kill(id, SIGCONT) }
    }

    /// The server's first process and its children, of which each session is one.
    private func processIDs() throws -> [Int32] {
        guard let first = processID else {
            throw PostgresClusterError("The server in \(directory) does not run.")
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/ps")
        process.arguments = ["-A", "-o", "pid=,ppid="]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(
            decoding: output.fileHandleForReading.readDataToEndOfFile(),
            as: UTF8.self
        )
        process.waitUntilExit()
        let children = text.split(separator: "\n").compactMap { line -> Int32? in
            let numbers = line.split(separator: " ").compactMap { Int32($0) }
            return numbers.count == 2 && numbers[1] == first ? numbers[0] : nil
        }
        return [first] + children
    }
}
