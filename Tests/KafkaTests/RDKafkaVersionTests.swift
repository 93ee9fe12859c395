import Testing

@testable import Kafka

@Suite struct RDKafkaVersionTests {
    @Test func theNumberIsReadInHexadecimal() {
        #expect(RDKafkaVersion(number: 0x0208_00ff).description == "2.8.0")
    }

    @Test func aVersionThatMisreadsNewerBrokersIsRefused() {
        let error = #expect(throws: KafkaError.self) {
            try RDKafkaVersion(number: 0x0200_02ff).requireSupported()
        }
        #expect(error?.code == .unsupportedVersion)
        #expect(error?.message.contains("2.0.2") == true)
        #expect(throws: Never.self) { try RDKafkaVersion(number: 0x0202_00ff).requireSupported() }
    }

    @Test func theLibraryOfThisProcessIsNewEnough() {
        #expect(throws: Never.self) { try KafkaLibrary.requireSupportedVersion() }
    }
}
