import EventTypes
public import Kafka
import Logging

extension StoreHarness {
    /// How to reach the store's broker.
    ///
    /// - Parameter clientID: What to be called there.
    /// - Returns: The settings.
    public func kafkaSettings(clientID: String) -> KafkaSettings {
        broker.settings(clientID: clientID)
    }

    /// Makes the topics, as set-up scripts do in a deployment.
    func createTopics() async throws {
        let admin = try KafkaAdmin(
            settings: kafkaSettings(clientID: "set-up"),
            logger: Logger(label: "set-up", factory: { _ in SwiftLogNoOpLogHandler() })
        )
        _ = try await admin.createTopics(
            Topics.all.map { topic in
                KafkaTopicDefinition(
                    name: topic.name,
                    partitions: options.partitions,
                    replicationFactor: broker.replicationFactor
                )
            }
        )
        await admin.close()
    }
}
