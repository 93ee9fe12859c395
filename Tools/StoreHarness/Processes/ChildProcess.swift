import Foundation
import Synchronization
import ThreadExecutor

/// A child of this process that never outlives it: started on a thread that lives as long as this
/// process, with a parent-death signal where the system has one, in a process group of its own so
/// that a Ctrl-C in the terminal is this process's to handle.
public final class ChildProcess: Sendable {
    /// How a child ended.
    public enum Exit: Hashable, Sendable, CustomStringConvertible {
        /// It returned this code.
        case code(Int32)
        /// A signal ended it.
        case signal(Int32)

        /// In words.
        public var description: String {
            switch self {
            case .code(let code): "exit code \(code)"
            case .signal(let signal): "signal \(signal)"
            }
        }
    }

    /// The process id.
    public let id: Int32
    /// The file that its output and its errors are appended to.
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
        // A thread of its own waits for it: `waitpid` blocks for as long as the child lives.
        let thread = Thread { self.waitForEnd() }
        thread.stackSize = 256 << 10
        thread.start()
    }

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - executable: Its path.
    ///   - arguments: What follows the name.
    ///   - environment: Its whole environment.
    ///   - logPath: The file to append its output and errors to.
    /// - Returns: The running program.
    /// - Throws: An error when it cannot be started.
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

    /// Runs a program to its end and returns what it wrote, or throws with it.
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
        let output = (try? String(contentsOfFile: logPath, encoding: .utf8)) ?? ""
        guard exit == .code(0) else {
            let name = URL(fileURLWithPath: executable).lastPathComponent
            throw HarnessError(
                "`\(name) \(arguments.joined(separator: " "))` ended with \(exit):\n\(output)"
            )
        }
        return output
    }

    /// Whether it has not ended.
    public var isRunning: Bool { ending.withLock { $0.exit == nil } }

    /// How it ended; `nil` while it runs.
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
            // Under the lock, so that the id cannot be another process's already.
            if ending.exit == nil { _ = Foundation.kill(id, signal) }
        }
    }

    /// Freezes it with SIGSTOP; the system still answers for its connections.
    public func freeze() { send(SIGSTOP) }

    /// Lets it go on after ``freeze()``.
    public func thaw() { send(SIGCONT) }

    private func waitForEnd() {
        var status: Int32 = 0
        // First without reaping, so that the id stays ours until `exit` is set.
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

/// The children to kill when this process leaves by `exit`.
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

/// Starts children, all on one thread that never ends: the parent-death signal of Linux goes out
/// when the *thread* that started the child ends.
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
    /// Closes all descriptors but the first three in the child.
    ///
    /// Swift-NIO's sockets have no close-on-exec flag. A child that holds a copy of a proxy's socket
    /// keeps a connection alive whose two ends are gone, and with it a session of PostgreSQL, its
    /// database transaction and its locks.
    mutating func closeEverythingElse() throws {
        typealias AddCloseFrom =
            @convention(c) (
                UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32
            ) -> Int32
        // In glibc since 2.34; its header shows it only to sources that ask for more than POSIX.
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
