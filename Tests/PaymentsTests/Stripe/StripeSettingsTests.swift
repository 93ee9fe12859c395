import EventTypes
import Foundation
import ServiceKit
import Testing

@testable import Payments

/// The settings of a store that takes money with Stripe.
@Suite struct StripeSettingsTests {
    /// Reads settings with files of a key and of secrets.
    private func read(
        key: String? = "rk_test_abcdefgh1",
        secrets: String? = "whsec_abcdefgh1234",
        accounts: [String: String] = [:],
        _ more: [String: String] = [:]
    ) throws -> (settings: PaymentsSettings, problems: [SettingsProblem]) {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("stripe-settings-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var environment = PaymentsSettingsTests.required
        environment["STORE_ENVIRONMENT"] = "Sandbox"
        environment["PROCESSOR"] = "stripe"
        environment["STRIPE_RETURN_URL"] = "https://app.example.com/back"
        for (name, text) in [("STRIPE_KEY_FILE", key), ("STRIPE_WEBHOOK_SECRETS_FILE", secrets)] {
            guard let text else { continue }
            let file = folder.appendingPathComponent(name)
            try Data(text.utf8).write(to: file)
            environment[name] = file.path
        }
        for (name, key) in accounts {
            let files = folder.appendingPathComponent(name)
            try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
            try Data(key.utf8).write(to: files.appendingPathComponent("key"))
            try Data("whsec_ijklmnop5678".utf8)
                .write(to: files.appendingPathComponent("webhook-secrets"))
            environment["STRIPE_ACCOUNTS"] = accounts.keys.sorted().joined(separator: ",")
            environment["STRIPE_ACCOUNTS_DIRECTORY"] = folder.path
        }
        var reader = SettingsReader(environment: environment.merging(more) { $1 })
        let settings = PaymentsSettings(&reader)
        return (settings, reader.problems)
    }

    @Test func aKeyTwoSecretsAndAnAddressAreEnough() throws {
        let (settings, problems) = try read(secrets: "whsec_abcdefgh1234\nwhsec_ijklmnop5678\n")
        #expect(problems.map(\.key) == [])
        #expect(
            settings.stripe?.returnURLs == ReturnURLs(first: "https://app.example.com/back")
        )
        #expect(settings.policy.lease == .seconds(45))
    }

    /// Stripe takes 100 calls a second of a live account, 25 of a sandbox, and 25 at one endpoint.
    ///
    /// `deploy/kubernetes` runs two processes of `payments`.
    @Test func twoProcessesStayBelowTheLimitsOfStripe() throws {
        let sandbox = try #require(try read().settings.stripe)
        let live = try #require(
            try read(key: "rk_live_abcdefgh1", ["STORE_ENVIRONMENT": "Production"]).settings.stripe
        )
        #expect(sandbox.callsPerSecond * 2 <= 25)
        #expect(live.callsPerSecond * 2 <= 100)
        for stripe in [sandbox, live] { #expect(stripe.endpointCallsPerSecond * 2 <= 25) }
    }

    @Test func theSandboxIsTheDefaultAndNeedsNothing() {
        let (settings, problems) = PaymentsSettingsTests().read(["STORE_ENVIRONMENT": "Sandbox"])
        #expect(problems.isEmpty && settings.stripe == nil)
        #expect(settings.policy.lease == .seconds(10))
    }

    @Test(arguments: [
        ("Sandbox", "sk_live_abcdefgh1"), ("Production", "rk_test_abcdefgh1"),
        ("Sandbox", "pk_test_abcdefgh1"), ("Sandbox", "secret"), ("Sandbox", " "),
    ])
    func aKeyThatDoesNotFitIsRefusedAndNotShown(environment: String, key: String) throws {
        let (_, problems) = try read(key: key, ["STORE_ENVIRONMENT": environment])
        #expect(problems.map(\.key) == ["STRIPE_KEY_FILE"])
        #expect(problems.allSatisfy { !$0.problem.contains("abcdefgh1") })
    }

    @Test func everythingThatIsMissingIsNamedAtOnce() throws {
        let (_, problems) = try read(
            key: nil,
            secrets: nil,
            ["STRIPE_RETURN_URL": "", "PROCESSOR_LEASE_MS": "32000", "STRIPE_API_URL": "there"]
        )
        #expect(
            Set(problems.map(\.key)) == [
                "STRIPE_KEY_FILE", "STRIPE_WEBHOOK_SECRETS_FILE", "STRIPE_RETURN_URL",
                "PROCESSOR_LEASE_MS", "STRIPE_API_URL",
            ]
        )
    }

    @Test func anAppMayHaveAnAccountOfItsOwn() throws {
        let (settings, problems) = try read(
            accounts: ["games": "rk_test_ijklmnop2", "news": "rk_test_qrstuvwx3"],
            ["STRIPE_APPS": "com.acme.chess=games, com.acme.daily=news"]
        )
        #expect(problems.map(\.problem) == [])
        let stripe = try #require(settings.stripe)
        #expect(stripe.accounts.map(\.name.rawValue) == ["default", "games", "news"])
        let (chess, other) = (
            BundleID(unchecked: "com.acme.chess"), BundleID(unchecked: "com.acme.other")
        )
        #expect(stripe.apps[chess]?.rawValue == "games" && stripe.apps[other] == nil)
    }

    @Test(arguments: [
        ("STRIPE_ACCOUNTS", "Games", "STRIPE_ACCOUNTS"),
        ("STRIPE_ACCOUNTS", "games,default", "STRIPE_ACCOUNTS"),
        ("STRIPE_ACCOUNTS", "games,games", "STRIPE_ACCOUNTS"),
        ("STRIPE_ACCOUNTS", "games,../games", "STRIPE_ACCOUNTS"),
        ("STRIPE_ACCOUNTS", "games,", "STRIPE_ACCOUNTS"),
        ("STRIPE_APPS", "com.acme.chess=news", "STRIPE_APPS"),
        ("STRIPE_APPS", "com acme=games", "STRIPE_APPS"),
        // Nothing is there for this account.
        ("STRIPE_ACCOUNTS", "games,news", "STRIPE_ACCOUNTS_DIRECTORY"),
        ("STRIPE_ACCOUNTS_DIRECTORY", "", "STRIPE_ACCOUNTS_DIRECTORY"),
        ("PROCESSOR", "sandbox", "STRIPE_ACCOUNTS"),
    ])
    func accountsThatCannotBeMeantAreRefused(key: String, value: String, named: String) throws {
        let (_, problems) = try read(accounts: ["games": "rk_test_ijklmnop2"], [key: value])
        #expect(Set(problems.map(\.key)) == [named])
    }

    @Test(arguments: ["rk_test_abcdefgh1", "rk_live_ijklmnop2", "secret"])
    func theKeyOfAnAccountIsItsOwnAndFits(key: String) throws {
        let (_, problems) = try read(accounts: ["games": key])
        #expect(problems.map(\.key) == ["STRIPE_ACCOUNTS_DIRECTORY"])
        #expect(problems.allSatisfy { $0.problem.contains("games") && !$0.problem.contains(key) })
    }

    @Test func anAppMayHaveAnAddressOfItsOwn() throws {
        let (settings, problems) = try read([
            "STRIPE_RETURN_URLS":
                "com.acme.chess=https://chess.acme.com/back?a=b, com.acme.go=acme-go://back"
        ])
        #expect(problems.map(\.key) == [])
        let urls = try #require(settings.stripe?.returnURLs)
        #expect(urls.of(BundleID(unchecked: "com.acme.chess")) == "https://chess.acme.com/back?a=b")
        #expect(urls.of(BundleID(unchecked: "com.acme.go")) == "acme-go://back")
        #expect(urls.of(BundleID(unchecked: "com.acme.other")) == "https://app.example.com/back")
    }

    @Test(arguments: [
        "com acme=https://acme.com/back", "com.acme.chess=back", "com.acme.chess=",
        "https://acme.com/back",
    ])
    func anAddressThatIsNoneIsRefused(value: String) throws {
        let (_, problems) = try read(["STRIPE_RETURN_URLS": value])
        #expect(problems.map(\.key) == ["STRIPE_RETURN_URLS"])
    }

    @Test func productionCallsStripeByTLSOnly() throws {
        let (_, problems) = try read(
            key: "rk_live_abcdefgh1",
            ["STORE_ENVIRONMENT": "Production", "STRIPE_API_URL": "http://127.0.0.1:1"]
        )
        #expect(problems.map(\.key) == ["STRIPE_API_URL"])
    }
}
