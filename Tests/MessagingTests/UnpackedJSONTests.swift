import Postgres
import Seals
import Testing

@testable import EventTypes
@testable import Messaging

@Suite(.timeLimit(.minutes(10)))
struct UnpackedJSONTests {
    @Test func postgresUnpacksEveryTextAsTheServicesDo() async throws {
        let texts = PackedJSON.texts.map { text in text.withUTF8Buffer { Array($0) } }
        let all = texts.joined(separator: Array("é".utf8))
        try await SealedDatabase.with { log in
            for bytes in texts + [Array(all), Array("{\n}".utf8), Array("{}".utf8), []] {
                let unpacked = try await log.client.withConnection { connection in
                    try connection.query("SELECT unpacked_json(\(PackedJSON.packed(bytes)))").first?
                        .decode(String.self)
                }
                #expect(unpacked == String(decoding: bytes, as: UTF8.self))
            }
        }
    }

    @Test func anEventOfANewerVersionIsAnErrorNotADamagedEvent() async throws {
        try await SealedDatabase.with { log in
            _ = try await log.tamper(
                """
                INSERT INTO outbox (event_id, type, topic, key, subject, time, data)
                VALUES (gen_random_uuid(), 'order.placed.v1', 'orders', 'ada', '1', now(), '\\x7b1e7e7d')
                """
            )
            await #expect(throws: UnknownTextCode.self) {
                try await log.client.withConnection { connection in
                    try EventLog.rows(after: .start, limit: 10, part: .visible, on: connection)
                }
            }
            let error = await #expect(throws: PostgresError.self) {
                try await log.client.withConnection { connection in
                    _ = try connection.query("SELECT unpacked_json(data) FROM outbox")
                }
            }
            #expect(error.map { "\($0)" }?.contains("code that this version does not know") == true)
        }
    }
}
