import ArgumentParser
import Foundation
import Kafka

/// Where the broker is, for the commands that talk to it; the same settings as the services'.
struct KafkaOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            The broker (or KAFKA_BOOTSTRAP_SERVERS; default 127.0.0.1:9092). KAFKA_PROPERTIES holds \
            further properties of librdkafka: name=value,name=value.
            """,
            valueName: "host:port,…"
        )
    )
    var kafka: String?

    /// The settings of a client.
    ///
    /// - Throws: ``OperatorError`` if a property is none.
    func settings(
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(OperatorError) -> KafkaSettings {
        var properties: [String: String] = [:]
        for entry in environment["KAFKA_PROPERTIES", default: ""].split(separator: ",") {
            let sides = entry.split(separator: "=", maxSplits: 1)
            guard sides.count == 2 else {
                throw OperatorError(.usage, "KAFKA_PROPERTIES holds '\(entry)': write name=value.")
            }
            properties[sides[0].trimmingCharacters(in: .whitespaces)] = String(sides[1])
        }
        return KafkaSettings(
            bootstrapServers: kafka ?? environment["KAFKA_BOOTSTRAP_SERVERS"] ?? "127.0.0.1:9092",
            clientID: "counterfoil",
            properties: properties
        )
    }
}
