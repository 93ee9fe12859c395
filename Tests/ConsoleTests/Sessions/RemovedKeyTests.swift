import ClockAndIDs
import EventTypes
import Foundation
import HTTPTypes
import HummingbirdTesting
import StoreAPI
import Synchronization
import Testing

@testable import Console

/// Keys that are removed while their sessions are open.
@Suite(.timeLimit(.minutes(10)))
struct RemovedKeyTests {
    /// A clock that a test moves.
    private final class MovedClock: Sendable {
        private let time = Mutex(MachineTime.now())

        var now: MachineTime { time.withLock { $0 } }

        func advance(by span: Duration) {
            time.withLock { $0 = $0.advanced(by: span) }
        }
    }

    @Test func aKeyThatIsRemovedEndsItsSessionsInFiveSeconds() async throws {
        let clock = MovedClock()
        try await ConsoleUnderTest.run(
            scopes: [.read],
            isReadOnly: true,
            now: { clock.now }
        ) { console in
            let cookie = try await console.signIn().cookie
            func status() async throws -> HTTPResponse.Status {
                try await console.send(.get, "/now", cookie: cookie, [:]).status
            }
            let before = try await status()
            #expect(before == .ok)
            let files = ["maria.pem", "maria.json"].map {
                URL(filePath: console.folder).appending(path: $0)
            }
            let contents = try files.map { try Data(contentsOf: $0) }
            for file in files { try FileManager.default.removeItem(at: file) }
            clock.advance(by: .seconds(5))
            let after = try await status()
            #expect(after == .unauthorized)
            // The session is over, also if the key comes back.
            for (file, content) in zip(files, contents) { try content.write(to: file) }
            clock.advance(by: .seconds(5))
            let again = try await status()
            #expect(again == .unauthorized)
        }
    }
}
