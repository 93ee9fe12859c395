import Foundation
public import Kafka
import Logging
import Synchronization

/// A broker for one test: the development broker as a child process, whose log lives in its memory,
/// so that killing it loses every topic, offset and group.
public final class TestBroker: Sendable {
    /// The port it listens on.
    public let port: Int
    /// The port it tells clients to use: a proxy's, if one stands in front of it.
    public let advertisedPort: Int
    private let process = Mutex<ChildProcess?>(nil)
    private let logPath: String

    /// The process id, while it runs.
    public var processID: Int32? { process.withLock { $0?.id } }

    private init(port: Int, advertisedPort: Int) {
        self.port = port
        self.advertisedPort = advertisedPort
        logPath = NSTemporaryDirectory() + "/counterfoil-broker-\(port).log"
    }

    deinit {
        process.withLock { $0?.send(SIGKILL) }
        try? FileManager.default.removeItem(atPath: logPath)  // A leftover does no harm.
    }

    /// Starts a broker and waits until it answers.
    ///
    /// - Throws: ``HarnessError``, saying how to get the broker if it is not there.
    public static func start(
        port: Int? = nil,
        advertisedPort: Int? = nil
    ) async throws -> TestBroker {
        let port = try port ?? freePort()
        let broker = TestBroker(port: port, advertisedPort: advertisedPort ?? port)
        try await broker.restart()
        return broker
    }

    /// Where clients begin.
    public var bootstrapServers: String { "127.0.0.1:\(advertisedPort)" }

    /// What this broker needs that a real Kafka does not: a waiting fetch is not woken by new data,
    /// and a group takes half the session's time-out to form.
    public static let properties = [
        // A fetch that finds nothing is tried again and again while it waits, which keeps a third of
        // a core busy at 10 ms and an eighth at 50.
        "fetch.wait.max.ms": "25",
        // A request that is not answered is sent again after this, a join after a poll interval.
        "socket.timeout.ms": "5000",
        "max.poll.interval.ms": "15000",
        "session.timeout.ms": "6000",
        "heartbeat.interval.ms": "500",
        "partition.assignment.strategy": "range",
    ]

    /// Settings for a client of this broker.
    public func settings(clientID: String = "test") -> KafkaSettings {
        KafkaSettings(
            bootstrapServers: bootstrapServers,
            clientID: clientID,
            properties: Self.properties
        )
    }

    /// Kills it with SIGKILL; its log is gone.
    public func kill() async {
        await end(SIGKILL)
    }

    /// Stops it.
    public func stop() async {
        await end(SIGKILL)
    }

    /// Starts it again on the same port, with an empty log.
    public func restart() async throws {
        await kill()
        let child = try await ChildProcess.start(
            try Self.executable(),
            [
                "broker", "--listener-url", "tcp://127.0.0.1:\(port)", "--advertised-listener-url",
                "tcp://127.0.0.1:\(advertisedPort)", "--storage-engine", "memory://tansu/",
            ],
            environment: ["PATH": "/usr/bin:/bin", "RUST_LOG": "error"],
            logPath: logPath
        )
        process.withLock { $0 = child }
        let listens = try await eventually("the broker to listen on port \(port)") {
            if child.exitIfEnded != nil { return false }
            return accepts(port: self.port) ? true : nil
        }
        guard listens else {
            let log = (try? String(contentsOfFile: logPath, encoding: .utf8)) ?? ""
            throw HarnessError("The broker ended at once:\n\(log.suffix(2000))")
        }
    }

    private func end(_ signal: Int32) async {
        guard let child = process.withLock({ $0.take() }) else { return }
        child.send(signal)
        _ = await child.exit()
    }

    /// The broker's executable: `COUNTERFOIL_BROKER`, or where `make setup` puts it.
    private static func executable() throws -> String {
        if let path = ProcessInfo.processInfo.environment["COUNTERFOIL_BROKER"] { return path }
        let package = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let path = package.appendingPathComponent(".deps/bin/tansu").path
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw HarnessError("The development broker is not at \(path); run `make setup`.")
        }
        return path
    }
}

/// Whether somebody listens on a port of the loopback address.
func accepts(port: Int) -> Bool {
    let socket = Foundation.socket(
        AF_INET,
        Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue),
        0
    )
    guard socket >= 0 else { return false }
    defer { close(socket) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    address.sin_port = in_port_t(port).bigEndian
    return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
            connect(socket, pointer, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
    }
}

/// Starts a broker for one test and stops it after, also when the test throws.
public func withTestBroker<Result>(
    _ body: (TestBroker) async throws -> Result
) async throws -> Result {
    let broker = try await TestBroker.start()
    do {
        let result = try await body(broker)
        await broker.stop()
        return result
    } catch {
        await broker.stop()
        throw error
    }
}
