import Logging
import Synchronization
import Testing

@testable import Kafka

/// What becomes of librdkafka's own lines.
@Suite struct RDKafkaLogTests {
    private final class Lines: Sendable {
        let levels = Mutex<[Logger.Level]>([])
    }

    private struct Recorder: LogHandler {
        let lines: Lines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            lines.levels.withLock { $0.append(event.level) }
        }
    }

    /// The levels of lines that two handles of a process write.
    private func levels(of texts: [String]) -> [Logger.Level] {
        let lines = Lines()
        let notice = RefusalNotice()
        let boxes = (1...2).map { _ in
            CallbackBox(
                logger: Logger(label: "test") { _ in Recorder(lines: lines) },
                refusals: notice
            )
        }
        for text in texts {
            for box in boxes { box.log(level: 3, facility: "FAIL", text: text) }
        }
        return lines.levels.withLock { $0 }
    }

    @Test(arguments: [
        "sasl_ssl://kafka:9092/1: SASL authentication error: Authentication failed",
        "sasl_ssl://kafka:9092/1: SSL handshake failed: certificate verify failed",
    ])
    func aRefusedLoginOrCertificateIsToldOfOnceAMinute(_ text: String) {
        #expect(levels(of: [text, text]) == [.warning, .debug, .debug, .debug])
    }

    @Test(arguments: [
        "sasl_ssl://kafka:9092/1: Connect to ipv4#127.0.0.1:9092 failed: Connection refused",
        "sasl_ssl://kafka:9092/1: SSL handshake failed: Disconnected",
        "sasl_ssl://kafka:9092/1: Connection setup timed out in state SSL_HANDSHAKE",
    ])
    func aBrokerThatIsAwayIsNotToldOfAtEachTry(_ text: String) {
        #expect(levels(of: [text]) == [.debug, .debug])
    }
}
