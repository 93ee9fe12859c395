import ArgumentParser
import Foundation
import Kafka
import Testing

@testable import Operator
@testable import OperatorCore

/// The options that tell the operator's command line the broker.
@Suite struct KafkaOptionsTests {
    private func settings(_ environment: [String: String]) throws -> [String: String] {
        try KafkaOptions.parse([]).settings(environment).properties
    }

    @Test func propertiesOfTheBrokerStandInTheVariableOrInAFile() throws {
        let text = "security.protocol=sasl_ssl, sasl.password=a=b"
        let expected = ["security.protocol": "sasl_ssl", "sasl.password": "a=b"]
        #expect(try settings(["KAFKA_PROPERTIES": text]) == expected)
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try Data("\(text)\n".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try settings(["KAFKA_PROPERTIES_FILE": file.path]) == expected)
        #expect(throws: OperatorError.self) {
            try settings(["KAFKA_PROPERTIES_FILE": file.path, "KAFKA_PROPERTIES": text])
        }
    }

    @Test func aFileThatIsNotThereOrEmptyIsNamed() throws {
        let empty = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try Data("\n".utf8).write(to: empty)
        defer { try? FileManager.default.removeItem(at: empty) }
        for path in ["/nowhere/kafka-properties", empty.path] {
            let error = #expect(throws: OperatorError.self) {
                try settings(["KAFKA_PROPERTIES_FILE": path])
            }
            #expect(error?.description.contains(path) == true)
            #expect(error?.code == .usage)
        }
    }

    @Test func aValueMayBeEmptyAndANameNot() throws {
        #expect(try settings(["KAFKA_PROPERTIES": "ssl.ca.location="]) == ["ssl.ca.location": ""])
        #expect(throws: OperatorError.self) { try settings(["KAFKA_PROPERTIES": "=ca.pem"]) }
    }

    @Test func anEntryThatIsNoPropertyIsCountedAndNotShown() throws {
        let error = #expect(throws: OperatorError.self) {
            try settings(["KAFKA_PROPERTIES": "sasl.username=ada,sasl.password=half,secret"])
        }
        #expect(error?.description.contains("entry 3") == true)
        #expect(error?.description.contains("secret") == false)
    }
}
