import EventTypes
import Foundation
import Logging
import Synchronization
import Testing

@testable import ServiceKit

@Suite struct LogOutputTests {
    private func lines(_ format: LogFormat, _ log: (Logger) -> Void) -> String {
        let written = Collected()
        let logger = Logger(label: "payments") { label in
            LogOutput(
                label: label,
                level: .info,
                format: format,
                now: { MachineTime(millisecondsSinceEpoch: 1_800_000_000_007) },
                write: { written.append($0) }
            )
        }
        log(logger)
        return written.text
    }

    @Test func textIsForPeople() {
        let written = lines(.text) { logger in
            var logger = logger
            logger[metadataKey: "purchase.id"] = "7"
            logger.debug("too quiet")
            logger.warning("it is late", metadata: ["after": "3 s", "empty": "", "line": "a\nb"])
        }
        #expect(
            written
                == #"2027-01-15T08:00:00.007Z warning  payments: it is late after="3 s" empty="" "#
                + #"line="a\nb" purchase.id=7"# + "\n"
        )
    }

    @Test func jsonIsForPrograms() throws {
        let written = lines(.json) { $0.info("started", metadata: ["quote": "\"\u{1}\u{7F}"]) }
        let object = try JSONSerialization.jsonObject(with: Data(written.utf8)) as? [String: String]
        #expect(
            object == [
                "time": "2027-01-15T08:00:00.007Z", "level": "info", "service": "payments",
                "message": "started", "quote": "\"\u{1}\u{7F}",
            ]
        )
        #expect(!written.contains("\u{7F}"), "A terminal would act on it.")
        #expect(written.hasSuffix("}\n"))
    }
}

/// Text to which several tasks can append.
final class Collected: Sendable {
    private let collected = Mutex("")
    var text: String { collected.withLock { $0 } }
    func append(_ more: String) { collected.withLock { $0 += more } }
}
