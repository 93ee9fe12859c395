import Testing

@testable import Kafka

@Suite struct RDKafkaVersionTests {
    @Test func theNumberIsReadInHexadecimal() {
        #expect(RDKafkaVersion(number: 0x020a_01ff).description == "2.10.1")
    }

    @Test func aVersionThatCannotLogInToNewerBrokersIsRefused() {
        let error = #expect(throws: KafkaError.self) {
            try RDKafkaVersion(number: 0x0203_00ff).requireSupported()
        }
        #expect(error?.code == .unsupportedVersion)
        #expect(error?.message.contains("2.3.0") == true)
        #expect(throws: Never.self) { try RDKafkaVersion(number: 0x020a_00ff).requireSupported() }
    }

    @Test func theLibraryOfThisProcessIsNewEnough() {
        #expect(throws: Never.self) { try KafkaLibrary.requireSupportedVersion() }
    }
}
