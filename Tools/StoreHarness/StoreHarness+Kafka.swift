import EventTypes
public import Kafka
import Logging

extension StoreHarness {
    /// Returns the settings for a client of the store's broker.
    ///
    /// - Parameter clientID: The client id.
    /// - Returns: The settings.
    public func kafkaSettings(clientID: String) -> KafkaSettings {
        broker.settings(clientID: clientID)
    }

    /// Creates the topics, like the setup scripts of a deployment.
    func createTopics() async throws {
        let admin = try KafkaAdmin(
            settings: kafkaSettings(clientID: "set-up"),
            logger: Logger(label: "set-up", factory: { _ in SwiftLogNoOpLogHandler() })
        )
        _ = try await admin.createTopics(
            Topics.all.map { topic in
                KafkaTopicDefinition(
                    name: topic.name,
                    partitions: topic.fixedPartitions ?? options.partitions,
                    replicationFactor: broker.replicationFactor
                )
            }
        )
        await admin.close()
    }
}
