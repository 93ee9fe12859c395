import Foundation

/// A node of a broker: its ports and its files.
struct BrokerNode: Sendable {
    /// The number of the node, from 1.
    let id: Int
    let port: Int
    /// The port that is advertised to clients.
    let advertisedPort: Int
    let controllerPort: Int
    /// The directory of its data, and of its log if it has one.
    let directory: String
}

/// The nodes of a broker.
struct BrokerCluster: Sendable {
    /// A UUID in Kafka's form: sixteen bytes in base64 for URLs, without padding.
    let id = Data((0..<16).map { _ in UInt8.random(in: 0...255) }).base64EncodedString()
        .replacing("+", with: "0").replacing("/", with: "1").replacing("=", with: "")
    let nodes: [BrokerNode]

    /// The replication factor of topics.
    var replicationFactor: Int { min(nodes.count, 3) }

    /// Returns the configuration of a node.
    ///
    /// Each node is also a controller. Several nodes have the settings of
    /// `deploy/kubernetes/kafka.yaml`: three replicas, two of them in sync, and only in-sync
    /// replicas become leader.
    func configuration(of node: BrokerNode) -> String {
        let voters = nodes.map { "\($0.id)@127.0.0.1:\($0.controllerPort)" }
        let inSync = max(replicationFactor - 1, 1)
        return """
            process.roles=broker,controller
            node.id=\(node.id)
            controller.quorum.voters=\(voters.joined(separator: ","))
            listeners=CLIENT://127.0.0.1:\(node.port),CONTROLLER://127.0.0.1:\(node.controllerPort)
            advertised.listeners=CLIENT://127.0.0.1:\(node.advertisedPort)
            listener.security.protocol.map=CLIENT:PLAINTEXT,CONTROLLER:PLAINTEXT
            inter.broker.listener.name=CLIENT
            controller.listener.names=CONTROLLER
            log.dirs=\(node.directory)/data
            auto.create.topics.enable=false
            default.replication.factor=\(replicationFactor)
            min.insync.replicas=\(inSync)
            unclean.leader.election.enable=false
            offsets.topic.replication.factor=\(replicationFactor)
            offsets.topic.num.partitions=4
            transaction.state.log.replication.factor=\(replicationFactor)
            transaction.state.log.min.isr=\(inSync)
            group.initial.rebalance.delay.ms=0
            group.min.session.timeout.ms=1000

            """
    }
}
