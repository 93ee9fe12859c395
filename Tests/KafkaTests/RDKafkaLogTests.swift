import Logging
import TestSupport
import Testing

@testable import Kafka

/// The log lines of librdkafka, in the log of the client.
@Suite struct RDKafkaLogTests {
    /// The levels of lines that two handles of a process write.
    private func levels(of texts: [String]) -> [Logger.Level] {
        let log = RecordedLog()
        let notice = RefusalNotice()
        let boxes = (1...2).map { _ in CallbackBox(logger: log.logger, refusals: notice) }
        for text in texts {
            for box in boxes { box.log(level: 3, facility: "FAIL", text: text) }
        }
        return log.levels
    }

    @Test(arguments: [
        "sasl_ssl://kafka:9092/1: SASL authentication error: Authentication failed",
        "sasl_ssl://kafka:9092/1: SSL handshake failed: certificate verify failed",
    ])
    func aRefusedLoginOrCertificateIsLoggedOnceAMinute(_ text: String) {
        #expect(levels(of: [text, text]) == [.warning, .debug, .debug, .debug])
    }

    @Test func aRefusalIsLoggedAgainAfterAMinute() {
        let notice = RefusalNotice()
        let start = ContinuousClock.now
        let due = [0, 59, 60, 119, 120].map { notice.isDue(at: start + .seconds($0)) }
        #expect(due == [true, false, true, false, true])
    }

    @Test(arguments: [
        "sasl_ssl://kafka:9092/1: Connect to ipv4#127.0.0.1:9092 failed: Connection refused",
        "sasl_ssl://kafka:9092/1: SSL handshake failed: Disconnected",
        "sasl_ssl://kafka:9092/1: Connection setup timed out in state SSL_HANDSHAKE",
    ])
    func aBrokerThatIsAwayIsNotLoggedAtEachTry(_ text: String) {
        #expect(levels(of: [text]) == [.debug, .debug])
    }
}
