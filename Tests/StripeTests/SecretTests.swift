import EventTypes
import Foundation
import Testing

@testable import Stripe

@Suite struct SecretTests {
    @Test(arguments: [
        ("rk_live_abcdefgh1", StoreEnvironment.production, true),
        ("sk_live_abcdefgh1", .production, false), ("rk_test_abcdefgh1", .sandbox, true),
        ("sk_test_abcdefgh1", .sandbox, false),
    ])
    func aKeyOfTheEnvironmentIsTaken(
        text: String,
        environment: StoreEnvironment,
        isRestricted: Bool
    ) throws {
        let key = try StripeKey(text, environment: environment)
        #expect(key.secret.text == text)
        #expect(key.isRestricted == isRestricted)
    }

    @Test(arguments: [
        ("rk_live_abcdefgh1", StoreEnvironment.sandbox, StripeKeyError.liveKeyInSandbox),
        ("sk_live_abcdefgh1", .sandbox, .liveKeyInSandbox),
        ("rk_test_abcdefgh1", .production, .testKeyInProduction),
        ("sk_test_abcdefgh1", .production, .testKeyInProduction),
        ("pk_live_abcdefgh1", .production, .publishable),
        ("pk_test_abcdefgh1", .sandbox, .publishable),
        ("whsec_abcdefgh1", .sandbox, .malformed), ("sk_test_", .sandbox, .malformed),
        ("sk_test_abcdefgh1\r\nX: y", .sandbox, .malformed), ("", .sandbox, .malformed),
    ])
    func aKeyOfAnotherKindIsRefused(
        text: String,
        environment: StoreEnvironment,
        error: StripeKeyError
    ) {
        #expect(throws: error) { try StripeKey(text, environment: environment) }
        #expect(!error.description.contains("abcdefgh1"))
    }

    @Test func aSecretNeverPrintsItself() throws {
        let key = try StripeKey("rk_test_abcdefgh1", environment: .sandbox)
        var dumped = ""
        dump(key, to: &dumped)
        dump(key.secret, to: &dumped)
        let file = try Self.file("rk_test_abcdefgh1")
        defer { try? FileManager.default.removeItem(atPath: file) }  // A leftover does no harm.
        let error = #expect(throws: SecretFileError.self) {
            _ = try SecretFile(path: file) { try StripeKey($0, environment: .production) }
        }
        let texts = [
            "\(key)", String(reflecting: key), "\(key.secret)", String(reflecting: key.secret),
            dumped, "\([key.secret])", "\(try #require(error))",
        ]
        for text in texts { #expect(!text.contains("abcdefgh1"), "\(text)") }
    }

    @Test func aFileIsReadAgainWhenItChanges() throws {
        let path = try Self.file("first")
        defer { try? FileManager.default.removeItem(atPath: path) }  // A leftover does no harm.
        let file = try SecretFile(path: path) { $0 }
        #expect(file.current == "first")
        try Self.replace(path, with: "second\n")
        #expect(file.current == "second")
        #expect(file.problem == nil)
    }

    @Test func aSecretThatKubernetesReplacesIsReadAgain() throws {
        let files = FileManager.default
        let directory = NSTemporaryDirectory() + "/stripe-secret-\(UUID().uuidString)"
        defer { try? files.removeItem(atPath: directory) }  // A leftover does no harm.
        // A volume has each version in a directory, and `..data` is a link to the newest one.
        for (version, text) in [("..1", "first"), ("..2", "other")] {
            let place = "\(directory)/\(version)"
            try files.createDirectory(atPath: place, withIntermediateDirectories: true)
            try Self.replace("\(place)/key", with: text)
        }
        let (data, path) = ("\(directory)/..data", "\(directory)/key")
        try files.createSymbolicLink(atPath: data, withDestinationPath: "..1")
        try files.createSymbolicLink(atPath: path, withDestinationPath: "..data/key")
        let file = try SecretFile(path: path) { $0 }
        #expect(file.current == "first")
        try files.removeItem(atPath: data)
        try files.createSymbolicLink(atPath: data, withDestinationPath: "..2")
        #expect(file.current == "other")
        #expect(file.problem == nil)
    }

    @Test func aChangeOfNoUseLeavesTheSecretAsItWas() throws {
        let path = try Self.file("first")
        defer { try? FileManager.default.removeItem(atPath: path) }  // A leftover does no harm.
        let file = try SecretFile(path: path) { $0 }
        try Self.replace(path, with: " \n")
        #expect(file.current == "first")
        #expect(file.problem?.contains("is empty") == true)
        try FileManager.default.removeItem(atPath: path)
        #expect(file.current == "first")
        try Self.replace(path, with: "second")
        #expect(file.current == "second")
        #expect(file.problem == nil)
    }

    private static func file(_ text: String) throws -> String {
        let path = NSTemporaryDirectory() + "/stripe-secret-\(UUID().uuidString)"
        try replace(path, with: text)
        return path
    }

    /// Replaces the file as a deployment does, by another file.
    private static func replace(_ path: String, with text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    }
}
