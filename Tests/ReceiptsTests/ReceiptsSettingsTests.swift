import EventTypes
import Foundation
import ServiceKit
import SwiftASN1
import TestSupport
import Testing
import X509

@testable import Receipts

@Suite struct ReceiptsSettingsTests {
    private func withFiles(
        _ test: TestChain,
        _ body: ([String: String]) throws -> Void
    ) throws {
        let directory = FileManager.default.temporaryDirectory
            .appending(path: "receipts-settings-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer {
            // A directory left behind in the temporary directory does not affect later tests.
            try? FileManager.default.removeItem(at: directory)
        }
        let key = directory.appending(path: "key.pem")
        let chain = directory.appending(path: "chain.pem")
        try Data(test.key).write(to: key)
        try Data(test.certificates).write(to: chain)
        try body([
            "DATABASE_URL": "postgresql://localhost/receipts",
            "KAFKA_BOOTSTRAP_SERVERS": "localhost:9092",
            "APP_KEYS_DIRECTORY": directory.path(), "ADMIN_KEYS_DIRECTORY": directory.path(),
            "STORE_ENVIRONMENT": "Sandbox", "SIGNING_KEY_FILE": key.path(),
            "SIGNING_CHAIN_FILE": chain.path(), "OCSP_DIRECTORY": directory.path(),
            "SERVER_KEYS_DIRECTORY": directory.path(),
        ])
    }

    private func problems(_ environment: [String: String]) -> [String] {
        var reader = SettingsReader(environment: environment)
        #expect(throws: ServiceKitError.self) {
            try ReceiptsSettings(&reader, now: TestChain.now.onMachines)
        }
        return reader.problems.map(\.key)
    }

    @Test func whatIsCompleteIsAccepted() throws {
        try withFiles(try TestChain()) { environment in
            var reader = SettingsReader(environment: environment)
            let settings = try ReceiptsSettings(&reader, now: TestChain.now.onMachines)
            #expect(settings.environment == .sandbox)
            #expect(settings.common.http.port == 8083)
            #expect(settings.chain.isValid(at: TestChain.now.onMachines))
        }
    }

    @Test func rootsOfBeforeAreReadAndHaveToBeCertificates() throws {
        let former = try TestChain()
        try withFiles(try TestChain()) { environment in
            var environment = environment
            let file = FileManager.default.temporaryDirectory
                .appending(path: "receipts-roots-\(UUID().uuidString).pem")
            defer {
                // A file left behind in the temporary directory does not affect later tests.
                try? FileManager.default.removeItem(at: file)
            }
            try Data(former.parsed[2].serializeAsPEM().pemString.utf8).write(to: file)
            environment["FORMER_ROOTS_FILE"] = file.path()
            var reader = SettingsReader(environment: environment)
            let settings = try ReceiptsSettings(&reader, now: TestChain.now.onMachines)
            #expect(settings.formerRoots == [try former.signingChain().rootCertificate])
            try Data("no certificate".utf8).write(to: file)
            #expect(problems(environment) == ["FORMER_ROOTS_FILE"])
            environment["FORMER_ROOTS_FILE"] = "/nowhere"
            #expect(problems(environment) == ["FORMER_ROOTS_FILE"])
        }
    }

    @Test(arguments: ["LocalTesting", "Xcode", "sandbox", ""])
    func anyOtherEnvironmentIsRefused(_ name: String) throws {
        try withFiles(try TestChain()) { environment in
            var environment = environment
            environment["STORE_ENVIRONMENT"] = name
            #expect(problems(environment) == ["STORE_ENVIRONMENT"])
        }
    }

    @Test func everythingThatIsMissingIsNamedOnce() throws {
        #expect(
            Set(problems([:])) == [
                "DATABASE_URL", "KAFKA_BOOTSTRAP_SERVERS", "APP_KEYS_DIRECTORY",
                "ADMIN_KEYS_DIRECTORY", "STORE_ENVIRONMENT", "SIGNING_KEY_FILE",
                "SIGNING_CHAIN_FILE", "OCSP_DIRECTORY", "SERVER_KEYS_DIRECTORY",
            ]
        )
        #expect(problems([:]).count == 9)
    }

    @Test func everyFaultOfTheChainIsNamedBesideOtherProblems() throws {
        try withFiles(try TestChain(.markersSwapped)) { environment in
            var environment = environment
            environment["STORE_ENVIRONMENT"] = nil
            #expect(
                problems(environment) == [
                    "STORE_ENVIRONMENT", "SIGNING_CHAIN_FILE", "SIGNING_CHAIN_FILE",
                ]
            )
        }
    }

    @Test func aKeyFileThatHoldsNoKeyIsRefused() throws {
        try withFiles(try TestChain()) { environment in
            var environment = environment
            environment["SIGNING_KEY_FILE"] = environment["SIGNING_CHAIN_FILE"]
            #expect(problems(environment) == ["SIGNING_KEY_FILE"])
        }
    }

    @Test func secretsAreOptionalAndAFolderThatHoldsNoneOfThemIsRefused() throws {
        try withFiles(try TestChain()) { environment in
            var reader = SettingsReader(environment: environment)
            let settings = try ReceiptsSettings(&reader, now: TestChain.now.onMachines)
            #expect("\(settings.sharedSecrets)" == "SharedSecrets(0)")
            var environment = environment
            environment["SHARED_SECRETS_DIRECTORY"] = "/nowhere"
            #expect(problems(environment) == ["SHARED_SECRETS_DIRECTORY"])
        }
    }
}
