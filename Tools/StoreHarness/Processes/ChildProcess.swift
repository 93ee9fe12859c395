import Foundation
import Synchronization
import ThreadExecutor

/// A child process that never outlives this process.
///
/// It is started on a thread that lives as long as this process, with a parent-death signal if the
/// system supports it. It has its own process group, so that only this process handles a Ctrl-C in
/// the terminal.
public final class ChildProcess: Sendable {
    /// The way in which a child ended.
    public enum Exit: Hashable, Sendable, CustomStringConvertible {
        /// It exited with this code.
        case code(Int32)
        /// A signal ended it.
        case signal(Int32)

        /// The exit as text.
        public var description: String {
            switch self {
            case .code(let code): "exit code \(code)"
            case .signal(let signal): "signal \(signal)"
            }
        }
    }

    /// The process id.
    public let id: Int32
    /// The file to which its output and errors are appended.
    public let logPath: String
    private let ending = Mutex<Ending>(Ending())

    private struct Ending {
        var exit: Exit?
        var waiters: [CheckedContinuation<Exit, Never>] = []
    }

    private init(id: Int32, logPath: String) {
        self.id = id
        self.logPath = logPath
        LivingChildren.shared.insert(id)
        // A separate thread waits for it, because `waitpid` blocks as long as the child lives.
        let thread = Thread { self.waitForEnd() }
        thread.stackSize = 256 << 10
        thread.start()
    }

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - executable: The path of the program.
    ///   - arguments: The arguments after the name.
    ///   - environment: The complete environment.
    ///   - logPath: The file to which output and errors are appended.
    /// - Returns: The running program.
    /// - Throws: An error if it cannot be started.
    public static func start(
        _ executable: String,
        _ arguments: [String] = [],
        environment: [String: String],
        logPath: String
    ) async throws -> ChildProcess {
        let id = try await Spawner.shared.spawn(
            executable,
            arguments,
            environment: environment,
            logPath: logPath
        )
        return ChildProcess(id: id, logPath: logPath)
    }

    /// Runs a program to its end and returns its output.
    ///
    /// If the program fails, the error contains the output.
    @discardableResult
    public static func run(
        _ executable: String,
        _ arguments: [String] = [],
        environment: [String: String] = [:]
    ) async throws -> String {
        let logPath = NSTemporaryDirectory() + "/counterfoil-run-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: logPath) }  // A leftover does no harm.
        let child = try await start(
            executable,
            arguments,
            environment: environment,
            logPath: logPath
        )
        let exit = await child.exit()
        // A program that printed nothing may have left no file.
        let output = (try? String(contentsOfFile: logPath, encoding: .utf8)) ?? ""
        guard exit == .code(0) else {
            let name = URL(fileURLWithPath: executable).lastPathComponent
            throw HarnessError(
                "`\(name) \(arguments.joined(separator: " "))` ended with \(exit):\n\(output)"
            )
        }
        return output
    }

    /// Whether it is running.
    public var isRunning: Bool { ending.withLock { $0.exit == nil } }

    /// The way in which it ended; `nil` while it is running.
    public var exitIfEnded: Exit? { ending.withLock { $0.exit } }

    /// Waits for its end.
    public func exit() async -> Exit {
        await withCheckedContinuation { continuation in
            let exit = ending.withLock { ending -> Exit? in
                if ending.exit == nil { ending.waiters.append(continuation) }
                return ending.exit
            }
            if let exit { continuation.resume(returning: exit) }
        }
    }

    /// Sends a signal, unless it has ended.
    public func send(_ signal: Int32) {
        ending.withLock { ending in
            // The lock ensures that the id does not belong to another process yet.
            if ending.exit == nil { _ = Foundation.kill(id, signal) }
        }
    }

    /// Freezes it with SIGSTOP.
    ///
    /// The system still accepts its connections.
    public func freeze() { send(SIGSTOP) }

    /// Resumes it after ``freeze()``.
    public func thaw() { send(SIGCONT) }

    private func waitForEnd() {
        var status: Int32 = 0
        // First wait without reaping, so that the id stays reserved until `exit` is set.
        var information = siginfo_t()
        while waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
        let waiters = ending.withLock { ending in
            while waitpid(id, &status, 0) < 0 && errno == EINTR {}
            let signal = status & 0x7F
            ending.exit = signal == 0 ? .code((status >> 8) & 0xFF) : .signal(signal)
            defer { ending.waiters = [] }
            return ending.waiters.map { ($0, ending.exit ?? .code(0)) }
        }
        LivingChildren.shared.remove(id)
        for (waiter, exit) in waiters {
            waiter.resume(returning: exit)
        }
    }
}

/// The children to kill when this process ends by `exit`.
private final class LivingChildren: Sendable {
    static let shared = LivingChildren()
    private let ids = Mutex<Set<Int32>>([])

    private init() {
        atexit { LivingChildren.shared.killAll() }
    }

    func insert(_ id: Int32) { ids.withLock { _ = $0.insert(id) } }
    func remove(_ id: Int32) { ids.withLock { _ = $0.remove(id) } }

    private func killAll() {
        ids.withLock { ids in
            for id in ids { _ = Foundation.kill(id, SIGKILL) }
        }
    }
}

/// Starts all children on one thread that never ends. On Linux the parent-death signal is sent when
/// the *thread* that started the child ends.
private actor Spawner {
    static let shared = Spawner()
    private let executor = ThreadExecutor(name: "spawner")
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    private static let setpriv: String? = ["/usr/bin/setpriv", "/bin/setpriv"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    func spawn(
        _ executable: String,
        _ arguments: [String],
        environment: [String: String],
        logPath: String
    ) throws -> Int32 {
        var command = [executable] + arguments
        if let setpriv = Self.setpriv {
            command = [setpriv, "--pdeathsig", "KILL", "--"] + command
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(
            &actions,
            1,
            logPath,
            O_WRONLY | O_CREAT | O_APPEND,
            0o644
        )
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        try actions.closeEverythingElse()

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)
        )

        var argumentPointers = command.map { strdup($0) } + [nil]
        var environmentPointers = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer {
            for pointer in argumentPointers + environmentPointers { free(pointer) }
        }
        var id: pid_t = 0
        let result = posix_spawn(
            &id,
            command[0],
            &actions,
            &attributes,
            &argumentPointers,
            &environmentPointers
        )
        guard result == 0 else {
            throw HarnessError("Cannot start \(command[0]): \(String(cString: strerror(result))).")
        }
        return id
    }
}

extension posix_spawn_file_actions_t {
    /// Closes all descriptors except the first three in the child.
    ///
    /// Swift-NIO's sockets have no close-on-exec flag. A child with a copy of a proxy's socket
    /// would keep a dead connection open, and with it a PostgreSQL session, its database
    /// transaction and its locks.
    mutating func closeEverythingElse() throws {
        typealias AddCloseFrom =
            @convention(c) (
                UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32
            ) -> Int32
        // glibc has it since 2.34, but its header declares it only for sources that request more
        // than POSIX.
        guard let symbol = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") else {
            throw HarnessError("This C library is too old to start children: glibc 2.34 is needed.")
        }
        let addCloseFrom = unsafeBitCast(symbol, to: AddCloseFrom.self)
        let result = addCloseFrom(&self, 3)
        guard result == 0 else {
            throw HarnessError("Cannot start children: \(String(cString: strerror(result))).")
        }
    }
}
