import Foundation
import NIOHTTP1
import Synchronization

/// A process of one of the store's executables.
///
/// It can be started, watched, killed and restarted.
public final class ServiceProcess: Sendable {
    /// The name in messages: `payments`, `payments-2`.
    public let name: String
    /// The service of this instance.
    public let service: String
    /// The port of its HTTP interface.
    public let port: Int
    /// The file with its output.
    public let logPath: String
    private let executable: String
    private let state: Mutex<State>

    private struct State {
        var child: ChildProcess?
        var environment: [String: String]
    }

    /// Describes a process, which ``start()`` starts.
    ///
    /// - Parameters:
    ///   - name: The name in messages.
    ///   - service: The executable's name.
    ///   - port: The port of its HTTP interface, which is also in `environment`.
    ///   - environment: Its settings.
    ///   - logPath: The file for its output.
    /// - Throws: An error if the executable was not built.
    public init(
        name: String,
        service: String,
        port: Int,
        environment: [String: String],
        logPath: String
    ) throws {
        self.name = name
        self.service = service
        self.port = port
        self.logPath = logPath
        executable = try BuiltExecutables.path(service)
        state = Mutex(State(environment: environment))
    }

    /// `http://127.0.0.1:<port>`.
    public var url: String { "http://127.0.0.1:\(port)" }

    /// Whether it is running.
    public var isRunning: Bool { child?.isRunning ?? false }

    /// The process id, while it is running.
    public var id: Int32? { child?.id }

    /// The resource usage since its start.
    public var usage: ProcessUsage? { child.flatMap { ProcessUsage(of: $0.id) } }

    private var child: ChildProcess? { state.withLock { $0.child } }

    /// The settings.
    public var environment: [String: String] { state.withLock { $0.environment } }

    /// Changes settings for the next start.
    public func set(_ settings: [String: String]) {
        state.withLock { $0.environment.merge(settings) { $1 } }
    }

    /// Starts it without waiting until it is ready.
    public func start() async throws {
        let environment = state.withLock { $0.environment }
        let child = try await ChildProcess.start(
            executable,
            environment: environment,
            logPath: logPath
        )
        state.withLock { $0.child = child }
    }

    /// Runs one of its commands, such as `migrate`, to the end.
    @discardableResult
    public func run(_ arguments: String..., settings: [String: String] = [:]) async throws -> String
    {
        let environment = state.withLock { $0.environment }.merging(settings) { $1 }
        return try await ChildProcess.run(executable, arguments, environment: environment)
    }

    /// Starts one of its commands, such as `migrate`, without waiting for its end.
    public func startCommand(
        _ arguments: String...,
        settings: [String: String] = [:]
    ) async throws -> ChildProcess {
        let environment = state.withLock { $0.environment }.merging(settings) { $1 }
        return try await ChildProcess.start(
            executable,
            arguments,
            environment: environment,
            logPath: logPath
        )
    }

    /// Whether `/health/ready` reports that it is ready.
    public func isReady() async -> Bool {
        // Without an answer it is not ready.
        let response = try? await StoreHTTP.send(
            .GET,
            url + "/health/ready",
            timeout: .milliseconds(900)
        )
        return response?.status == 200
    }

    /// Waits until it is ready.
    ///
    /// - Parameter limit: The time limit.
    /// - Throws: ``HarnessError`` with the end of its log.
    public func waitUntilReady(within limit: Duration = .seconds(60)) async throws {
        let deadline = ContinuousClock.now.advanced(by: limit)
        while true {
            if await isReady() { return }
            if let exit = child?.exitIfEnded {
                throw HarnessError("\(name) ended with \(exit) before it was ready.\n\(logTail())")
            }
            guard ContinuousClock.now < deadline else {
                throw HarnessError("\(name) is not ready after \(limit).\n\(logTail())")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Sends it a signal, for example SIGSTOP, which stops it without ending it.
    public func send(_ signal: Int32) { child?.send(signal) }

    /// Kills it (SIGKILL), like a crash, and waits until it is gone.
    public func kill() async {
        guard let child else { return }
        child.send(SIGKILL)
        _ = await child.exit()
    }

    /// Freezes it with SIGSTOP, like a debugger or a paused virtual machine.
    ///
    /// The system still accepts its connections and answers keepalives on them.
    public func freeze() { child?.freeze() }

    /// Resumes it after ``freeze()``.
    ///
    /// A running process is not affected.
    public func thaw() { child?.thaw() }

    /// Asks it to end (SIGTERM) and waits.
    ///
    /// After the time limit it is killed, and that is an error.
    ///
    /// - Parameter limit: The time limit.
    /// - Returns: The way in which it ended.
    /// - Throws: ``HarnessError`` if it had to be killed.
    @discardableResult
    public func terminate(within limit: Duration = .seconds(60)) async throws -> ChildProcess.Exit {
        guard let child else { return .code(0) }
        child.send(SIGTERM)
        let deadline = ContinuousClock.now.advanced(by: limit)
        while child.isRunning {
            if ContinuousClock.now >= deadline {
                await kill()
                throw HarnessError("\(name) did not end within \(limit) of SIGTERM.\n\(logTail())")
            }
            // Wait even if the waiting task is cancelled, because the process must be gone.
            await Task { try? await Task.sleep(for: .milliseconds(10)) }.value
        }
        return await child.exit()
    }

    /// Waits for its end, for example when it refuses to start.
    ///
    /// - Parameter limit: The time limit.
    /// - Returns: The way in which it ended.
    /// - Throws: ``HarnessError`` after the time limit.
    public func waitForExit(within limit: Duration = .seconds(60)) async throws -> ChildProcess.Exit
    {
        try await eventually(within: limit, "\(name) to end by itself") {
            self.child?.exitIfEnded
        }
    }

    /// Kills it if it is running, and starts it again.
    public func restart() async throws {
        await kill()
        try await start()
    }

    /// Returns its complete output.
    public func log() -> String {
        // A process that was not started has no output.
        (try? String(contentsOfFile: logPath, encoding: .utf8)) ?? ""
    }

    /// Returns the end of its output, under a line with its name.
    ///
    /// - Parameter lines: The number of lines.
    /// - Returns: The lines.
    public func logTail(lines: Int = 25) -> String {
        let tail = log().split(separator: "\n").suffix(lines).map { "    " + $0 }
        return "  the end of \(logPath):\n" + tail.joined(separator: "\n")
    }
}
