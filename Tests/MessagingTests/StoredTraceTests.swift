import Messaging
import Postgres
import StoreTracing
import Testing

@Suite(.timeLimit(.minutes(10)))
struct StoredTraceTests {
    private static let example = TraceContext(
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    )

    @Test func aTraceIsReadAsItWasStored() async throws {
        let stored = try #require(StoredTrace(Self.example))
        #expect(stored.context == Self.example)
        #expect(stored.text == Self.example?.description)
        try await SealedDatabase.with { log in
            try await log.client.withConnection { connection in
                let row = try connection.query(
                    "SELECT \(stored), encode(\(stored), 'hex'), \(StoredTrace(nil) as StoredTrace?)"
                ).first
                let (read, digits, none) = try #require(row).decode(
                    StoredTrace.self,
                    String.self,
                    StoredTrace?.self
                )
                #expect(read == stored)
                #expect(digits == "4bf92f3577b34da6a3ce929d0e0e473600f067aa0ba902b701")
                #expect(none == nil)
            }
        }
    }

    @Test func noTraceIsNotStored() { #expect(StoredTrace(nil) == nil) }

    /// A seal is over the text, so bytes that somebody changed must give another text.
    @Test(arguments: [(#"\x"#, ""), (#"\x0aff"#, "0aff")])
    func changedBytesAreAnotherText(bytes: String, text: String) async throws {
        try await SealedDatabase.with { log in
            let read = try await log.client.withConnection { connection in
                try connection.query("SELECT \(bytes)::text::bytea").first?.decode(StoredTrace.self)
            }
            #expect(read?.context == nil)
            #expect(read?.text == text)
        }
    }
}
