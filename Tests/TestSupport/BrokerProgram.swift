import Foundation

/// What runs as the tests' broker.
public enum BrokerProgram: Sendable {
    /// The development broker: up in milliseconds, its log in its memory.
    case developmentBroker
    /// Apache Kafka (KRaft, one node), from the folder that its archive unpacks to.
    case apacheKafka(home: String)

    /// Apache Kafka where `KAFKA_HOME` says there is one, else the development broker.
    public static let chosen: BrokerProgram = {
        let home = ProcessInfo.processInfo.environment["KAFKA_HOME"] ?? ""
        return home.isEmpty ? .developmentBroker : .apacheKafka(home: home)
    }()

    /// Its name and version, such as `Apache Kafka 4.0.0`.
    ///
    /// - Throws: ``HarnessError``, saying what is missing.
    public func version() async throws -> String {
        switch self {
        case .developmentBroker:
            return try await ChildProcess.run(try Self.developmentBroker(), ["--version"])
                .trimmingCharacters(in: .whitespacesAndNewlines)
        case .apacheKafka(let home):
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

    /// What clients are told so that they soon miss one that was killed, and what the development
    /// broker needs: there a waiting fetch is not woken by new data, and a group takes half the
    /// session's time-out to form.
    var clientProperties: [String: String] {
        var properties = [
            "max.poll.interval.ms": "15000",
            "session.timeout.ms": "6000",
            "heartbeat.interval.ms": "500",
        ]
        if case .developmentBroker = self {
            // A fetch that finds nothing is tried again and again while it waits, which keeps a
            // third of a core busy at 10 ms and an eighth at 50.
            properties["fetch.wait.max.ms"] = "25"
            // A request that is not answered is sent again after this, a join after a poll interval.
            properties["socket.timeout.ms"] = "5000"
            properties["partition.assignment.strategy"] = "range"
        }
        return properties
    }

    /// Starts it.
    ///
    /// - Parameters:
    ///   - port: Where it listens.
    ///   - advertisedPort: Where clients are told to go.
    ///   - directory: Where its files are, and its log if it keeps one.
    /// - Returns: Its process, which may take seconds to listen.
    /// - Throws: ``HarnessError``, saying what is missing.
    func start(
        port: Int,
        advertisedPort: Int,
        in directory: String
    ) async throws -> ChildProcess {
        switch self {
        case .developmentBroker:
            return try await ChildProcess.start(
                try Self.developmentBroker(),
                [
                    "broker", "--listener-url", "tcp://127.0.0.1:\(port)",
                    "--advertised-listener-url", "tcp://127.0.0.1:\(advertisedPort)",
                    "--storage-engine", "memory://tansu/",
                ],
                environment: ["PATH": "/usr/bin:/bin", "RUST_LOG": "error"],
                logPath: directory + "/broker.log"
            )
        case .apacheKafka(let home):
            let configuration = directory + "/server.properties"
            try Self.configuration(
                port: port,
                advertisedPort: advertisedPort,
                controllerPort: try freePort(),
                directory: directory
            ).write(toFile: configuration, atomically: true, encoding: .utf8)
            if !FileManager.default.fileExists(atPath: directory + "/data/meta.properties") {
                try await format(home, configuration, in: directory)
            }
            return try await ChildProcess.start(
                home + "/bin/kafka-server-start.sh",
                [configuration],
                environment: Self.environment(directory),
                logPath: directory + "/broker.log"
            )
        }
    }

    /// Makes Kafka's data directory, with a cluster id of its own.
    private func format(_ home: String, _ configuration: String, in directory: String) async throws
    {
        // A UUID in Kafka's form: sixteen bytes, base64 for URLs, without padding.
        let id = Data((0..<16).map { _ in UInt8.random(in: 0...255) }).base64EncodedString()
            .replacing("+", with: "0").replacing("/", with: "1").replacing("=", with: "")
        let log = directory + "/format.log"
        let child = try await ChildProcess.start(
            home + "/bin/kafka-storage.sh",
            ["format", "--cluster-id", id, "--config", configuration],
            environment: Self.environment(directory),
            logPath: log
        )
        guard await child.exit() == .code(0) else {
            let said = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
            throw HarnessError("Kafka's data directory cannot be made:\n\(said.suffix(2000))")
        }
    }

    private static func environment(_ directory: String) -> [String: String] {
        var environment = [
            "KAFKA_HEAP_OPTS": "-Xms256m -Xmx512m",
            // Neither a log of the collector nor a port for JMX.
            "EXTRA_ARGS": "-name kafkaServer",
            "LOG_DIR": directory + "/logs",
        ]
        for name in ["PATH", "HOME", "JAVA_HOME"] {
            environment[name] = ProcessInfo.processInfo.environment[name]
        }
        return environment
    }

    /// One node that is its own controller; what a deployment sets is in `deploy`.
    private static func configuration(
        port: Int,
        advertisedPort: Int,
        controllerPort: Int,
        directory: String
    ) -> String {
        """
        process.roles=broker,controller
        node.id=1
        controller.quorum.voters=1@127.0.0.1:\(controllerPort)
        listeners=CLIENT://127.0.0.1:\(port),CONTROLLER://127.0.0.1:\(controllerPort)
        advertised.listeners=CLIENT://127.0.0.1:\(advertisedPort)
        listener.security.protocol.map=CLIENT:PLAINTEXT,CONTROLLER:PLAINTEXT
        inter.broker.listener.name=CLIENT
        controller.listener.names=CONTROLLER
        log.dirs=\(directory)/data
        auto.create.topics.enable=false
        offsets.topic.replication.factor=1
        offsets.topic.num.partitions=4
        transaction.state.log.replication.factor=1
        transaction.state.log.min.isr=1
        group.initial.rebalance.delay.ms=0
        group.min.session.timeout.ms=1000

        """
    }

    /// The development broker's executable: `COUNTERFOIL_BROKER`, or where `make setup` puts it.
    private static func developmentBroker() throws -> String {
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
