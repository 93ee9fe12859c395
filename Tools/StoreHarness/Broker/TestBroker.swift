import Foundation
public import Kafka
import Logging
import Synchronization

/// A broker for one test, as a child process.
///
/// It is the development broker, which keeps its log in memory, or the Apache Kafka in
/// `KAFKA_HOME`, which has its own folder and may have several nodes.
public final class TestBroker: Sendable {
    private let cluster: BrokerCluster
    private let processes = Mutex<[Int: ChildProcess]>([:])

    /// The numbers of its nodes, from 1.
    public var nodes: [Int] { cluster.nodes.map(\.id) }
    /// The port that the first node listens on.
    public var port: Int { cluster.nodes[0].port }
    /// The replication factor of topics.
    public var replicationFactor: Int { cluster.replicationFactor }
    /// The process id of the first node, while it runs.
    public var processID: Int32? { processes.withLock { $0[1]?.id } }
    /// The addresses that clients connect to first.
    public var bootstrapServers: String {
        cluster.nodes.map { "127.0.0.1:\($0.advertisedPort)" }.joined(separator: ",")
    }

    private init(nodes: [BrokerNode]) {
        cluster = BrokerCluster(nodes: nodes)
    }

    deinit {
        processes.withLock { for child in $0.values { child.send(SIGKILL) } }
        // A file that cannot be removed does no harm.
        for node in cluster.nodes { try? FileManager.default.removeItem(atPath: node.directory) }
    }

    /// Starts a broker and waits until it answers.
    ///
    /// - Parameters:
    ///   - advertisedPort: The port that it advertises to clients, for example that of a proxy in
    ///     front of it.
    ///   - nodes: The number of nodes. Several are possible only with Apache Kafka and without a
    ///     proxy.
    /// - Returns: The broker with an empty log.
    /// - Throws: ``HarnessError``, which explains how to install a missing broker.
    public static func start(
        advertisedPort: Int? = nil,
        nodes: Int = 1
    ) async throws -> TestBroker {
        precondition(nodes == 1 || advertisedPort == nil, "A proxy stands in front of one node.")
        let broker = TestBroker(
            nodes: try (1...nodes).map { id in
                let port = try freePort()
                return BrokerNode(
                    id: id,
                    port: port,
                    advertisedPort: advertisedPort ?? port,
                    controllerPort: try freePort(),
                    directory: NSTemporaryDirectory() + "/counterfoil-broker-\(port)"
                )
            }
        )
        try await broker.restart()
        return broker
    }

    /// The client settings apart from the addresses.
    public static var properties: [String: String] { BrokerProgram.chosen.clientProperties }

    /// Returns the settings for a client of this broker.
    public func settings(clientID: String = "test") -> KafkaSettings {
        KafkaSettings(
            bootstrapServers: bootstrapServers,
            clientID: clientID,
            properties: Self.properties
        )
    }

    /// Kills all nodes with SIGKILL.
    public func kill() async {
        for node in nodes { await kill(node: node) }
    }

    /// Kills one node with SIGKILL.
    public func kill(node id: Int) async {
        guard let child = processes.withLock({ $0.removeValue(forKey: id) }) else { return }
        child.send(SIGKILL)
        _ = await child.exit()
    }

    /// Freezes one node with SIGSTOP.
    ///
    /// The system still accepts its connections.
    public func freeze(node id: Int) { processes.withLock { $0[id] }?.freeze() }

    /// Resumes one node after ``freeze(node:)``.
    public func thaw(node id: Int) { processes.withLock { $0[id] }?.thaw() }

    /// Restarts all nodes on the same ports with an empty log.
    ///
    /// Running nodes are killed first.
    ///
    /// - Throws: ``HarnessError`` if a node ends or does not listen in time.
    public func restart() async throws {
        await kill()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for node in nodes {
                group.addTask { try await self.restart(node: node, keepingLog: false) }
            }
            try await group.waitForAll()
        }
    }

    /// Restarts one node on the same port.
    ///
    /// A running node is killed first.
    ///
    /// - Parameters:
    ///   - id: The number of the node.
    ///   - keepingLog: Whether it keeps its log. The development broker has no log to keep.
    /// - Throws: ``HarnessError`` if it ends or does not listen in time. It also does not listen
    ///   while too few other nodes are running.
    public func restart(node id: Int, keepingLog: Bool) async throws {
        await kill(node: id)
        let node = cluster.nodes[id - 1]
        if !keepingLog {
            try? FileManager.default.removeItem(atPath: node.directory)  // May be missing.
        }
        try FileManager.default.createDirectory(
            atPath: node.directory,
            withIntermediateDirectories: true
        )
        let child = try await BrokerProgram.chosen.start(node, of: cluster)
        processes.withLock { $0[id] = child }
        // Kafka needs some seconds, and many when several nodes start at once.
        let listens = try await eventually(
            within: .seconds(90),
            "the broker to listen on port \(node.port)"
        ) {
            if child.exitIfEnded != nil { return false }
            return accepts(port: node.port) ? true : nil
        }
        guard listens else {
            // Without a log the error says only that it ended.
            let log = (try? String(contentsOfFile: child.logPath, encoding: .utf8)) ?? ""
            throw HarnessError("The broker ended at once:\n\(log.suffix(2000))")
        }
    }
}
