import Foundation
import Synchronization
import Testing

@testable import ServiceKit

@Suite(.timeLimit(.minutes(10))) struct ResponseDateTests {
    @Test func aDateIsWrittenAsHTTPDemands() {
        #expect(ResponseDate { 784_111_777 }.text == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(ResponseDate { 1_709_251_199 }.text == "Thu, 29 Feb 2024 23:59:59 GMT")
        #expect(ResponseDate { 0 }.text == "Thu, 01 Jan 1970 00:00:00 GMT")
    }

    @Test func aDateFollowsTheClock() {
        let second = Mutex(784_111_777)
        let date = ResponseDate { second.withLock { $0 } }
        #expect(date.text.hasSuffix("08:49:37 GMT"))
        #expect(date.text.hasSuffix("08:49:37 GMT"))
        second.withLock { $0 += 1 }
        #expect(date.text.hasSuffix("08:49:38 GMT"))
        second.withLock { $0 -= 10 }
        #expect(date.text.hasSuffix("08:49:28 GMT"), "The clock was set back.")
    }

    @Test func everyAnswerHasADate() async throws {
        try await withServer { port, _ in
            for path in ["/health/live", "/nothing/here"] {
                let date = try #require(try await send("GET", path, to: port).headers["date"])
                let form = /[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT/
                #expect(date.wholeMatch(of: form) != nil, "\(date)")
            }
        }
    }
}
