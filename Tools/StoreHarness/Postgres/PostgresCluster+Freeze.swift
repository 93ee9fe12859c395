import Foundation
import Postgres

extension PostgresCluster {
    /// Stops all processes of the server where they are (SIGSTOP), as a machine that hangs does: its
    /// sockets stay open, the system takes connections and answers keepalives, and nobody else does.
    ///
    /// - Throws: ``PostgresClusterError`` if the server does not run, or does not stand still.
    public func freeze() throws {
        let server = try runningProcessID()
        let deadline = ContinuousClock.now + .seconds(10)
        while ContinuousClock.now < deadline {
            // The first process first, so that it starts no others meanwhile.
            kill(server, SIGSTOP)
            guard ProcessTree.isStoppedOrGone(server) else { continue }
            let moving = ProcessTree.children(of: server)
                .filter { !ProcessTree.isStoppedOrGone($0) }
            if moving.isEmpty { return }
            for child in moving { kill(child, SIGSTOP) }
        }
        throw PostgresClusterError("The server in \(directory) does not stand still.")
    }

    /// Lets all processes of the server go on (SIGCONT).
    ///
    /// - Throws: ``PostgresClusterError`` if the server does not run.
    public func thaw() throws {
        ProcessTree.resume(try runningProcessID())
    }

    /// Waits until the server answers a query, and starts it again if it has ended by itself, as it
    /// does when it cannot recover from a crash on a full disk.
    ///
    /// - Parameter limit: How long to wait.
    /// - Returns: Whether it had to be started.
    /// - Throws: ``HarnessError`` when the time is up.
    @discardableResult
    public func waitUntilAnswering(within limit: Duration = .seconds(60)) async throws -> Bool {
        var wasStarted = false
        try await eventually(within: limit, "PostgreSQL to answer") {
            if !self.isRunning {
                wasStarted = true
                try await self.start()
            }
            return try await self.asSuperuser(within: .seconds(2)) { connection in
                try connection.query("SELECT 1").count == 1 ? true : nil
            }
        }
        return wasStarted
    }

    private func runningProcessID() throws -> Int32 {
        guard let server = processID else {
            throw PostgresClusterError("The server in \(directory) does not run.")
        }
        return server
    }
}
