import EventTypes
import Configuration
import Foundation
import Logging
import Testing

@testable import ServiceKit

@Suite struct SettingsReaderTests {
    private enum Color: String, CaseIterable { case red, green }

    @Test func valuesAndDefaultsAreRead() throws {
        var reader = SettingsReader(environment: [
            "NAME": "x", "COUNT": "7", "WAIT_MS": "1500", "COLOR": "green",
            "PAIRS": "a=1, b = c=d,",
        ])
        #expect(reader.string("NAME", "A name.") == "x")
        #expect(reader.string("OTHER", default: "y", "A name.") == "y")
        #expect(reader.integer("COUNT", in: 1...10, "A count.") == 7)
        let wait = reader.milliseconds("WAIT_MS", in: .zero...(.seconds(2)), "A wait.")
        #expect(wait == .milliseconds(1500))
        #expect(reader.choice("COLOR", default: Color.red, "A color.") == .green)
        #expect(reader.list("PAIRS", default: [:], "Pairs.") == ["a": "1", "b": "c=d"])
        #expect(reader.problems.isEmpty)
        try reader.check()
    }

    @Test func everyProblemIsReported() {
        var reader = SettingsReader(environment: [
            "EMPTY": "", "COUNT": "seven", "RANGE": "11", "WAIT_MS": "1.5", "COLOR": "blue",
            "PAIRS": "a", "FILE": "/nowhere/at/all",
        ])
        _ = reader.string("MISSING", "A name.")
        _ = reader.string("EMPTY", "Another.")
        _ = reader.integer("COUNT", default: 1, in: 1...10, "A count.")
        _ = reader.integer("RANGE", default: 1, in: 1...10, "A count.")
        _ = reader.milliseconds("WAIT_MS", in: .zero...(.seconds(2)), "A wait.")
        _ = reader.choice("COLOR", default: Color.red, "A color.")
        _ = reader.list("PAIRS", default: [:], "Pairs.")
        _ = reader.file("FILE", "A file.")
        reader.refuse("A", "excludes B")
        #expect(
            reader.problems.map { "\($0.key) \($0.problem)" } == [
                "MISSING is required: A name.",
                "EMPTY is empty (Another.)",
                "COUNT is \"seven\", which is not a whole number",
                "RANGE is 11; it must be from 1 to 10",
                "WAIT_MS is \"1.5\", which is not a whole number",
                "COLOR is \"blue\"; it must be one of: red, green",
                "PAIRS holds an entry that is not name=value",
                reader.problems[7].key + " " + reader.problems[7].problem,
                "A excludes B",
            ]
        )
        #expect(reader.problems[7].problem.hasPrefix("names a file that cannot be read"))
        #expect(throws: ServiceKitError.self) { try reader.check() }
    }

    @Test func aSecretIsNeverShown() {
        var reader = SettingsReader(environment: ["DATABASE_URL": "postgresql://u:hunter2@h/d"])
        #expect(reader.secret("DATABASE_URL", "A URL.") == "postgresql://u:hunter2@h/d")
        #expect(reader.secret("OTHER_SECRET", default: "hunter2", "Another.") == "hunter2")
        #expect(!"\(reader.documented)".contains("hunter2"))
        #expect(reader.documented[0].value == "<redacted>")
    }

    @Test func aSecretMayStandInAFile() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).secret").path
        try Data("postgresql://u:hunter2@h/d\n".utf8).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        var reader = SettingsReader(environment: [
            "DATABASE_URL_FILE": path, "KAFKA_PROPERTIES": "sasl.password=hunter2",
        ])
        #expect(reader.secret("DATABASE_URL", "A URL.") == "postgresql://u:hunter2@h/d")
        #expect(reader.secretList("KAFKA_PROPERTIES", "More.") == ["sasl.password": "hunter2"])
        try reader.check()
        #expect(!"\(reader.documented)".contains("hunter2"))
        #expect(reader.documented.map(\.key).contains("DATABASE_URL_FILE"))
    }

    @Test func anUnusableSecretFileIsReportedWithoutItsContent() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).secret").path
        try Data("\n".utf8).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        var reader = SettingsReader(environment: [
            "EMPTY_FILE": path, "GONE_FILE": "/nowhere/at/all",
            "TWICE": "hunter2", "TWICE_FILE": path,
        ])
        for key in ["EMPTY", "GONE", "TWICE", "MISSING"] { _ = reader.secret(key, "A secret.") }
        let problems = reader.problems.map { "\($0.key) \($0.problem)" }
        #expect(problems.count == 4)
        #expect(problems[0].hasPrefix("EMPTY_FILE names an empty file"))
        #expect(problems[1].hasPrefix("GONE_FILE names a file that cannot be read"))
        #expect(problems[2] == "TWICE_FILE is set, and TWICE too; set one of them")
        #expect(problems[3] == "MISSING is required, or MISSING_FILE: A secret.")
        #expect(!"\(problems)".contains("hunter2"))
    }

    @Test func aDescribingReaderCollectsKeysAndHasNoProblems() {
        var reader = SettingsReader(environment: [:], isDescribing: true)
        _ = CommonSettings(&reader, service: .payments, defaultPort: 8082)
        #expect(reader.file("KEY_FILE", "A key.") == [])
        #expect(reader.problems.isEmpty)
        #expect(reader.documented.count == 18)
        #expect(throws: ServiceKitError.self) { try reader.check() }
    }

    @Test func commonSettingsHaveTheContractsDefaults() throws {
        var reader = SettingsReader(environment: [
            "DATABASE_URL": "postgresql://localhost/payments",
            "KAFKA_BOOTSTRAP_SERVERS": "localhost:9092",
            "KAFKA_PROPERTIES": "fetch.wait.max.ms=10,session.timeout.ms=6000",
            "APP_KEYS_DIRECTORY": "apps", "ADMIN_KEYS_DIRECTORY": "admins",
        ])
        let settings = CommonSettings(&reader, service: .payments, defaultPort: 8082)
        try reader.check()
        #expect(settings.http.host == "127.0.0.1")
        #expect(settings.http.port == 8082)
        #expect(settings.databasePoolSize == 4)
        #expect(settings.topicPartitions == 8)
        #expect(settings.topicReplication == 1)
        #expect(
            settings.kafkaProperties == ["fetch.wait.max.ms": "10", "session.timeout.ms": "6000"]
        )
    }
}
