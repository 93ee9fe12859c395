import EventTypes
import HTTPTypes
import Logging
import ServiceKit
import Subscriptions
import Testing

@testable import Payments

@Suite struct PaymentsSettingsTests {
    static let required = [
        "DATABASE_URL": "postgresql://a@localhost/payments",
        "KAFKA_BOOTSTRAP_SERVERS": "localhost:1",
        "APP_KEYS_DIRECTORY": "/nowhere", "ADMIN_KEYS_DIRECTORY": "/nowhere",
        "STORE_ENVIRONMENT": "Production",
    ]

    func read(_ more: [String: String]) -> (PaymentsSettings, [String]) {
        var reader = SettingsReader(
            environment: Self.required.merging(more) { _, new in new }
        )
        let settings = PaymentsSettings(&reader)
        return (settings, reader.problems.map(\.key))
    }

    @Test func theDefaultsAreRightInProduction() {
        let (settings, problems) = read([:])
        #expect(problems.isEmpty)
        #expect(settings.policy.lease == .seconds(10))
        #expect(settings.policy.approvalExpiry == .seconds(86_400))
        #expect(settings.tax == TaxRates())
        #expect(settings.sandboxDatabaseURL == settings.common.databaseURL)
        #expect(settings.common.http.port == 8082)
    }

    @Test(arguments: ["", "sandbox", "LocalTesting", "Xcode"])
    func theEnvironmentIsOneOfTwo(name: String) {
        #expect(read(["STORE_ENVIRONMENT": name]).1 == ["STORE_ENVIRONMENT"])
        #expect(read(["STORE_ENVIRONMENT": "Sandbox"]).0.environment == .sandbox)
        #expect(read([:]).0.environment == .production)
    }

    @Test func theEnvironmentHasNoDefault() {
        var required = Self.required
        required["STORE_ENVIRONMENT"] = nil
        var reader = SettingsReader(environment: required)
        _ = PaymentsSettings(&reader)
        #expect(reader.problems.map(\.key) == ["STORE_ENVIRONMENT"])
    }

    @Test(arguments: SubscriptionRate.allCases)
    func onlyASandboxHasFasterSubscriptions(rate: SubscriptionRate) {
        let key = "SANDBOX_SUBSCRIPTION_RATE"
        let (sandbox, none) = read(["STORE_ENVIRONMENT": "Sandbox", key: rate.rawValue])
        #expect(none.isEmpty && sandbox.subscriptions.rate == rate)
        #expect(read([key: rate.rawValue]).1 == (rate == .realTime ? [] : [key]))
        #expect(read([key: "fast"]).1 == [key])
        #expect(read([:]).0.subscriptions.rate == .realTime)
    }

    @Test func aRefundTakesConsumablesBackUnlessTheStoreLeavesThem() {
        let key = "REFUNDED_CONSUMABLES"
        #expect(!read([:]).0.leavesRefundedConsumables)
        #expect(read([key: "leave"]).0.leavesRefundedConsumables)
        #expect(read([key: "forget"]).1 == [key])
    }

    @Test func aHeaderMayNameTheAddressesOfClients() {
        let key = "CLIENT_ADDRESS_HEADER"
        let (settings, problems) = read([key: "X-Forwarded-For"])
        #expect(problems.isEmpty)
        #expect(settings.clientAddressHeader?.canonicalName == "x-forwarded-for")
        #expect(read([:]).0.clientAddressHeader == nil)
        #expect(read([key: "forwarded for"]).1 == [key])
    }

    @Test func merchantsServersHaveALimitIfThereAreKeys() {
        let (keys, limit) = ("SERVER_KEYS_DIRECTORY", "SERVER_API_REQUESTS_PER_SECOND")
        #expect(read([limit: "7"]).0.servers?.keysDirectory == nil)
        #expect(read([keys: "/keys"]).0.servers?.requestsPerSecond == 50)
        #expect(read([keys: "/keys", limit: "7"]).0.servers?.requestsPerSecond == 7)
        #expect(read([limit: "0"]).1 == [limit])
    }

    @Test func taxRatesAreReadPerStorefront() {
        let (settings, problems) = read(["TAX_BASIS_POINTS": "DEU=1900,FRA=2000"])
        #expect(problems.isEmpty)
        #expect(settings.tax.basisPoints(in: Storefront(unchecked: "FRA")) == 2000)
        #expect(settings.tax.basisPoints(in: Storefront(unchecked: "USA")) == 0)
    }

    @Test func everyProblemIsReportedAtOnce() {
        let (_, problems) = read([
            "TAX_BASIS_POINTS": "Germany=1900,FRA=20%", "PROCESSOR_LEASE_MS": "soon",
            "PROCESSOR_CALLS_MAX": "0", "APPROVAL_EXPIRY_MS": "-1",
        ])
        #expect(
            Set(problems) == [
                "TAX_BASIS_POINTS", "PROCESSOR_LEASE_MS", "PROCESSOR_CALLS_MAX",
                "APPROVAL_EXPIRY_MS",
            ]
        )
        #expect(problems.count == 5)
    }

    @Test func composingWithoutSettingsIsRefused() {
        var reader = SettingsReader(environment: [:])
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        #expect(throws: (any Error).self) { try composePayments(&reader, logger) }
        #expect(reader.problems.count >= 4)
    }
}
