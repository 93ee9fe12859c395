import ArgumentParser
import Foundation
import Kafka
import OperatorCore

/// The broker's address, for the commands that use it; the settings are the services'.
struct KafkaOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            The broker's address (or KAFKA_BOOTSTRAP_SERVERS; default 127.0.0.1:9092). KAFKA_PROPERTIES, or \
            the file that KAFKA_PROPERTIES_FILE names, holds further properties of librdkafka: \
            name=value,name=value.
            """,
            valueName: "host:port,…"
        )
    )
    var kafka: String?

    /// The settings of a client.
    ///
    /// - Throws: ``OperatorError`` if a property is malformed, or the file cannot be read.
    func settings(
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(OperatorError) -> KafkaSettings {
        KafkaSettings(
            bootstrapServers: kafka ?? environment["KAFKA_BOOTSTRAP_SERVERS"] ?? "127.0.0.1:9092",
            clientID: "counterfoil",
            properties: try Self.properties(environment)
        )
    }

    private static func properties(
        _ environment: [String: String]
    ) throws(OperatorError) -> [String: String] {
        let variable = "KAFKA_PROPERTIES"
        let fileVariable = "KAFKA_PROPERTIES_FILE"
        guard let path = environment[fileVariable], !path.isEmpty else {
            return try properties(in: environment[variable, default: ""], of: variable)
        }
        guard environment[variable] == nil else {
            throw OperatorError(
                .usage,
                "\(variable) and \(fileVariable) are both set; set one of them."
            )
        }
        let text: String
        do {
            text = try String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8)
        } catch {
            throw OperatorError(
                .usage,
                "\(fileVariable) names '\(path)', which cannot be read: \(error.localizedDescription)"
            )
        }
        let properties = try properties(
            in: text.trimmingCharacters(in: .whitespacesAndNewlines),
            of: fileVariable
        )
        guard !properties.isEmpty else {
            throw OperatorError(.usage, "\(fileVariable) names an empty file: '\(path)'")
        }
        return properties
    }

    /// Reads properties in the form that the services read, too.
    ///
    /// - Throws: ``OperatorError``, which gives an entry's number and not its text: a malformed
    ///   entry may be half a password.
    private static func properties(
        in text: String,
        of variable: String
    ) throws(OperatorError) -> [String: String] {
        var properties: [String: String] = [:]
        for (index, entry) in text.split(separator: ",").enumerated() {
            let sides = entry.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = sides[0].trimmingCharacters(in: .whitespaces)
            guard sides.count == 2, !name.isEmpty else {
                throw OperatorError(
                    .usage,
                    "\(variable): entry \(index + 1) is not name=value. No value may hold a comma."
                )
            }
            properties[name] = sides[1].trimmingCharacters(in: .whitespaces)
        }
        return properties
    }
}
