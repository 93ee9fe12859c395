import Foundation
import NIOHTTP1
import Synchronization

/// One of the store's executables as a process: started, watched, killed, started again.
public final class ServiceProcess: Sendable {
    /// What it is called in messages: `payments`, `payments-2`.
    public let name: String
    /// The service that it is an instance of.
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

    /// Describes a process; ``start()`` starts it.
    ///
    /// - Parameters:
    ///   - name: What to call it.
    ///   - service: The executable's name.
    ///   - port: The port of its HTTP interface, also in `environment`.
    ///   - environment: Its settings.
    ///   - logPath: The file for its output.
    /// - Throws: An error when the executable was not built.
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

    /// Whether it runs.
    public var isRunning: Bool { child?.isRunning ?? false }

    /// Its process id, while there is one.
    public var id: Int32? { child?.id }

    /// What it has used of the machine since it was started.
    public var usage: ProcessUsage? { child.flatMap { ProcessUsage(of: $0.id) } }

    private var child: ChildProcess? { state.withLock { $0.child } }

    /// Its settings.
    public var environment: [String: String] { state.withLock { $0.environment } }

    /// Changes settings for the next start.
    public func set(_ settings: [String: String]) {
        state.withLock { $0.environment.merge(settings) { $1 } }
    }

    /// Starts it; does not wait until it is ready.
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

    /// Starts one of its commands, such as `migrate`, and does not wait for its end.
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

    /// Whether `/health/ready` says yes.
    public func isReady() async -> Bool {
        // No answer is a no.
        let response = try? await StoreHTTP.send(
            .GET,
            url + "/health/ready",
            timeout: .milliseconds(900)
        )
        return response?.status == 200
    }

    /// Waits until it is ready, and throws with the end of its log when it is not in time.
    ///
    /// - Parameter limit: The time it has.
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

    /// Sends it a signal, such as SIGSTOP, which halts it without ending it.
    public func send(_ signal: Int32) { child?.send(signal) }

    /// Ends it as a crash does (SIGKILL) and waits until it is gone.
    public func kill() async {
        guard let child else { return }
        child.send(SIGKILL)
        _ = await child.exit()
    }

    /// Freezes it with SIGSTOP, as a debugger or a paused virtual machine does.
    ///
    /// The system goes on to take its connections and to answer keepalives on them.
    public func freeze() { child?.freeze() }

    /// Lets it go on after ``freeze()``; one that runs is left as it is.
    public func thaw() { child?.thaw() }

    /// Asks it to end (SIGTERM) and waits; after the limit it is killed and that is an error.
    ///
    /// - Parameter limit: The time it has.
    /// - Returns: How it ended.
    /// - Throws: ``HarnessError`` when it had to be killed.
    @discardableResult
    public func terminate(within limit: Duration = .seconds(15)) async throws -> ChildProcess.Exit {
        guard let child else { return .code(0) }
        child.send(SIGTERM)
        let deadline = ContinuousClock.now.advanced(by: limit)
        while child.isRunning {
            if ContinuousClock.now >= deadline {
                await kill()
                throw HarnessError("\(name) did not end within \(limit) of SIGTERM.\n\(logTail())")
            }
            // Also when the waiting task is cancelled: the process has to be gone.
            await Task { try? await Task.sleep(for: .milliseconds(10)) }.value
        }
        return await child.exit()
    }

    /// Waits for its end, as when it refuses to start.
    ///
    /// - Parameter limit: The time it has.
    /// - Returns: How it ended.
    /// - Throws: ``HarnessError`` when the time is up.
    public func waitForExit(within limit: Duration = .seconds(30)) async throws -> ChildProcess.Exit
    {
        try await eventually(within: limit, "\(name) to end by itself") {
            self.child?.exitIfEnded
        }
    }

    /// Kills it if it runs, and starts it again.
    public func restart() async throws {
        await kill()
        try await start()
    }

    /// Everything it wrote.
    public func log() -> String {
        // Not started yet: nothing written.
        (try? String(contentsOfFile: logPath, encoding: .utf8)) ?? ""
    }

    /// The end of what it wrote, with its name on top.
    ///
    /// - Parameter lines: How many lines.
    /// - Returns: The lines.
    public func logTail(lines: Int = 25) -> String {
        let tail = log().split(separator: "\n").suffix(lines).map { "    " + $0 }
        return "  the end of \(logPath):\n" + tail.joined(separator: "\n")
    }
}
