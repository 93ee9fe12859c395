import EventTypes
import Foundation
import StoreAPI
import Testing

@testable import StoreTest

/// The settings of Xcode's StoreKit configuration files.
@Suite struct StoreKitSettingsTests {
    private static let app = BundleID(unchecked: "com.example.app")

    private func read(_ settings: String) throws -> (StoreKitSettings, lines: [String]) {
        let file = try StoreKitSettings(Data("{\"settings\": \(settings)}".utf8))
        return (file, file.lines.map(\.description))
    }

    @Test(arguments: ["{}", #"{"settings": null}"#, #"{"settings": {}, "version": null}"#])
    func aFileWithoutSettingsLeavesTheStoreAsItIs(json: String) throws {
        let file = try StoreKitSettings(Data(json.utf8))
        #expect(file.lines.isEmpty && file.timeRate == nil && file.storefront == nil)
        #expect(file.settings(in: Self.app) == TestSettingsDocument(bundleID: Self.app))
    }

    @Test func settingsThatAreOffSayNothing() throws {
        let (file, lines) = try read(
            """
            {"_askToBuyEnabled": false, "_billingGracePeriodEnabled": false,
             "_billingIssuesEnabled": false, "_disableDialogs": true,
             "_failTransactionsEnabled": false, "_renewalBillingIssuesEnabled": null,
             "_storeKitErrors": [{"current": null, "enabled": false, "name": "Purchase"}],
             "_timeRate": 0, "_developerTeamID": "TEAM", "_lastSynchronizedDate": 7.5}
            """
        )
        #expect(lines.isEmpty)
        #expect(file.settings(in: Self.app) == TestSettingsDocument(bundleID: Self.app))
    }

    @Test func aSandboxFollowsWhatItCan() throws {
        let (file, lines) = try read(
            """
            {"_askToBuyEnabled": true, "_billingGracePeriodEnabled": true,
             "_billingIssuesEnabled": true, "_locale": "fr_FR", "_storefront": "FRA",
             "_renewalBillingIssuesEnabled": true, "_timeRate": 13,
             "_storeKitErrors": [{"enabled": true, "name": "Load Products"},
                                 {"enabled": true, "name": "Purchase"}],
             "_dance": true, "_sing": "loudly"}
            """
        )
        #expect(
            lines == [
                "taken: setting _askToBuyEnabled has purchases wait for a parent",
                "taken: setting _billingGracePeriodEnabled gives a grace period",
                "taken: setting _billingIssuesEnabled interrupts purchases",
                "not taken: setting _dance is not known",
                "taken: setting _locale is fr-FR",
                "taken: setting _renewalBillingIssuesEnabled has renewals declined",
                "not taken: setting _sing is not known",
                "not taken: setting _storeKitErrors 'Load Products' is an error that a store does "
                    + "not simulate",
                "taken: setting _storeKitErrors has the next 1000 charges declined",
                "taken: setting _storefront is FRA",
                "taken: setting _timeRate is \(TimeRate.monthlyRenewalEveryFiveMinutes.rate)",
            ]
        )
        let settings = file.settings(in: Self.app)
        #expect(settings.asksToBuy == true && settings.interruptsPurchases == true)
        #expect(settings.declinesRenewals == true && settings.hasGracePeriod == true)
        #expect(settings.failNext == SimulatedFailure(.declined, times: 1000))
        #expect(file.storefront?.rawValue == "FRA" && file.language?.rawValue == "fr-FR")
        #expect(file.timeRate == .monthlyRenewalEveryFiveMinutes)
    }

    @Test(arguments: [
        (1, "1h=1d"), (2, "30m=1d"), (3, "5m=1d"), (4, "1m=1d"), (5, "30s=1d"), (6, "1s=1d"),
    ])
    func oldRatesAreDays(number: Int, rate: String) throws {
        let file = try read("{\"_timeRate\": \(number)}").0
        #expect(file.timeRate == ClockRate(rate).map(TimeRate.init))
    }

    /// These rates renew a week and a year equally often.
    @Test(arguments: [7, 14, 1000, 1005])
    func aRateThatNoClockCanHaveIsReported(number: Int) throws {
        let (file, lines) = try read("{\"_timeRate\": \(number)}")
        #expect(file.timeRate == nil)
        let reason = "which is no speed that a clock can have"
        #expect(lines == ["not taken: setting _timeRate is \(number), \(reason)"])
    }

    @Test(arguments: ["", "[]", "Store"])
    func whatIsNoObjectIsRefused(json: String) {
        #expect(throws: StoreTestError.notAStoreKitFile) {
            try StoreKitSettings(Data(json.utf8))
        }
    }
}
