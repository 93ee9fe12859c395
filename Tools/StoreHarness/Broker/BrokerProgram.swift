import Foundation

/// The program that runs as the tests' broker.
public enum BrokerProgram: Sendable {
    /// The development broker. It starts in milliseconds and keeps its log in memory.
    case developmentBroker
    /// Apache Kafka (KRaft), from the unpacked folder of its archive.
    case apacheKafka(home: String)

    /// The broker of this process: Apache Kafka if `KAFKA_HOME` is set, otherwise the development
    /// broker.
    public static let chosen: BrokerProgram = {
        let home = ProcessInfo.processInfo.environment["KAFKA_HOME"] ?? ""
        return home.isEmpty ? .developmentBroker : .apacheKafka(home: home)
    }()

    /// Whether a broker may have several nodes.
    ///
    /// Only Apache Kafka may.
    public var mayHaveSeveralNodes: Bool {
        if case .apacheKafka = self { true } else { false }
    }

    /// Returns the name and version, such as `Apache Kafka 4.0.0`.
    ///
    /// - Throws: ``HarnessError``, which names what is missing.
    public func version() async throws -> String {
        switch self {
        case .developmentBroker:
            return try await ChildProcess.run(try Self.developmentBroker(), ["--version"])
                .trimmingCharacters(in: .whitespacesAndNewlines)
        case .apacheKafka(let home):
            // Without libraries the version is unknown.
            let libraries =
                (try? FileManager.default.contentsOfDirectory(atPath: home + "/libs")) ?? []
            let clients = libraries.lazy.compactMap {
                $0.wholeMatch(of: /kafka-clients-(.+)\.jar/)?.1
            }
            guard let version = clients.first else {
                throw HarnessError("There is no Apache Kafka in \(home); KAFKA_HOME says so.")
            }
            return "Apache Kafka \(version)"
        }
    }

    /// The client settings for tests.
    ///
    /// They make clients notice a killed node quickly. The development broker needs more of them:
    /// there, a waiting fetch is not woken by new data, and a group takes half the session timeout
    /// to form.
    var clientProperties: [String: String] {
        var properties = [
            "max.poll.interval.ms": "15000",
            "session.timeout.ms": "6000",
            "heartbeat.interval.ms": "500",
        ]
        if case .developmentBroker = self {
            // A fetch that finds nothing polls while it waits. It uses a third of a core at an
            // interval of 10 ms and an eighth at 50 ms.
            properties["fetch.wait.max.ms"] = "25"
            // The time after which an unanswered request is sent again. An unanswered join is sent
            // again after a poll interval.
            properties["socket.timeout.ms"] = "5000"
            properties["partition.assignment.strategy"] = "range"
        }
        return properties
    }

    /// Starts a node.
    ///
    /// - Parameters:
    ///   - node: The node.
    ///   - cluster: All nodes including this one. The development broker always has a single node.
    /// - Returns: The process, which may take seconds until it listens.
    /// - Throws: ``HarnessError``, which names what is missing.
    func start(_ node: BrokerNode, of cluster: BrokerCluster) async throws -> ChildProcess {
        switch self {
        case .developmentBroker:
            guard cluster.nodes.count == 1 else {
                throw HarnessError("Several brokers need an Apache Kafka: set KAFKA_HOME.")
            }
            return try await ChildProcess.start(
                try Self.developmentBroker(),
                [
                    "broker", "--listener-url", "tcp://127.0.0.1:\(node.port)",
                    "--advertised-listener-url", "tcp://127.0.0.1:\(node.advertisedPort)",
                    "--storage-engine", "memory://tansu/",
                ],
                environment: ["PATH": "/usr/bin:/bin", "RUST_LOG": "error"],
                logPath: node.directory + "/broker.log"
            )
        case .apacheKafka(let home):
            let configuration = node.directory + "/server.properties"
            try cluster.configuration(of: node)
                .write(toFile: configuration, atomically: true, encoding: .utf8)
            if !FileManager.default.fileExists(atPath: node.directory + "/data/meta.properties") {
                try await format(home, configuration, id: cluster.id, in: node.directory)
            }
            return try await ChildProcess.start(
                home + "/bin/kafka-server-start.sh",
                [configuration],
                environment: Self.environment(node.directory),
                logPath: node.directory + "/broker.log"
            )
        }
    }

    /// Formats Kafka's data directory.
    private func format(
        _ home: String,
        _ configuration: String,
        id: String,
        in directory: String
    ) async throws {
        let log = directory + "/format.log"
        let child = try await ChildProcess.start(
            home + "/bin/kafka-storage.sh",
            ["format", "--cluster-id", id, "--config", configuration],
            environment: Self.environment(directory),
            logPath: log
        )
        guard await child.exit() == .code(0) else {
            // Without a log the error says only that it failed.
            let said = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
            throw HarnessError("Kafka's data directory cannot be made:\n\(said.suffix(2000))")
        }
    }

    private static func environment(_ directory: String) -> [String: String] {
        var environment = [
            "KAFKA_HEAP_OPTS": "-Xms256m -Xmx512m",
            // No garbage collector log and no JMX port.
            "EXTRA_ARGS": "-name kafkaServer",
            "LOG_DIR": directory + "/logs",
        ]
        for name in ["PATH", "HOME", "JAVA_HOME"] {
            environment[name] = ProcessInfo.processInfo.environment[name]
        }
        return environment
    }

    /// Returns the development broker's executable: `COUNTERFOIL_BROKER`, or the one installed by
    /// `make setup`.
    private static func developmentBroker() throws -> String {
        if let path = ProcessInfo.processInfo.environment["COUNTERFOIL_BROKER"] { return path }
        let path = SourceTree.path(".deps/bin/tansu")
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw HarnessError("The development broker is not at \(path); run `make setup`.")
        }
        return path
    }
}
