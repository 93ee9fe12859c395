import Foundation
import Postgres

extension PostgresCluster {
    /// Freezes all processes of the server (SIGSTOP), like a machine that hangs.
    ///
    /// Its sockets stay open, and the system still accepts connections and answers keepalives, but
    /// no process responds.
    ///
    /// - Throws: ``PostgresClusterError`` if the server is not running or cannot be stopped.
    public func freeze() throws {
        let server = try runningProcessID()
        let deadline = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < deadline {
            // Stop the main process first, so that it cannot start others in the meantime.
            kill(server, SIGSTOP)
            guard ProcessTree.isStoppedOrGone(server) else { continue }
            let moving = ProcessTree.children(of: server)
                .filter { !ProcessTree.isStoppedOrGone($0) }
            if moving.isEmpty { return }
            for child in moving { kill(child, SIGSTOP) }
        }
        throw PostgresClusterError("The server in \(directory) does not stand still.")
    }

    /// Resumes all processes of the server (SIGCONT).
    ///
    /// - Throws: ``PostgresClusterError`` if the server is not running.
    public func thaw() throws {
        ProcessTree.resume(try runningProcessID())
    }

    /// Waits until the server answers a query.
    ///
    /// If the server has ended by itself, it is started again.
    ///
    /// It ends, for example, if it cannot recover from a crash because the disk is full.
    ///
    /// - Parameter limit: The time limit.
    /// - Returns: Whether it had to be started.
    /// - Throws: ``HarnessError`` after the time limit.
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
