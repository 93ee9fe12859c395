import Foundation
public import Kafka
import Logging
import Synchronization

/// A broker for one test, as a child process: the development broker, whose log lives in its memory,
/// or the Apache Kafka in `KAFKA_HOME`, whose log lies in a folder of its own.
public final class TestBroker: Sendable {
    /// The port it listens on.
    public let port: Int
    /// The port it tells clients to use: a proxy's, if one stands in front of it.
    public let advertisedPort: Int
    private let process = Mutex<ChildProcess?>(nil)
    private let directory: String

    /// The process id, while it runs.
    public var processID: Int32? { process.withLock { $0?.id } }

    private init(port: Int, advertisedPort: Int) {
        self.port = port
        self.advertisedPort = advertisedPort
        directory = NSTemporaryDirectory() + "/counterfoil-broker-\(port)"
    }

    deinit {
        process.withLock { $0?.send(SIGKILL) }
        try? FileManager.default.removeItem(atPath: directory)  // A leftover does no harm.
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

    /// What clients of it are told beside that.
    public static var properties: [String: String] { BrokerProgram.chosen.clientProperties }

    /// Settings for a client of this broker.
    public func settings(clientID: String = "test") -> KafkaSettings {
        KafkaSettings(
            bootstrapServers: bootstrapServers,
            clientID: clientID,
            properties: Self.properties
        )
    }

    /// Kills it with SIGKILL.
    public func kill() async {
        guard let child = process.withLock({ $0.take() }) else { return }
        child.send(SIGKILL)
        _ = await child.exit()
    }

    /// Starts it on the same port; one that runs is killed before.
    ///
    /// - Parameter keepingLog: Whether with the log that it had; the development broker has none.
    /// - Throws: ``HarnessError`` if it ends, or does not listen in time.
    public func restart(keepingLog: Bool = false) async throws {
        await kill()
        if !keepingLog {
            try? FileManager.default.removeItem(atPath: directory)  // At first there is none.
        }
        try FileManager.default.createDirectory(
            atPath: directory,
            withIntermediateDirectories: true
        )
        let child = try await BrokerProgram.chosen.start(
            port: port,
            advertisedPort: advertisedPort,
            in: directory
        )
        process.withLock { $0 = child }
        // Kafka takes some seconds, and many when several start at once.
        let listens = try await eventually(
            within: .seconds(90),
            "the broker to listen on port \(port)"
        ) {
            if child.exitIfEnded != nil { return false }
            return accepts(port: self.port) ? true : nil
        }
        guard listens else {
            let log = (try? String(contentsOfFile: child.logPath, encoding: .utf8)) ?? ""
            throw HarnessError("The broker ended at once:\n\(log.suffix(2000))")
        }
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
        await broker.kill()
        return result
    } catch {
        await broker.kill()
        throw error
    }
}
