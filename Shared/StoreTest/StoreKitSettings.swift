public import EventTypes
public import Foundation
public import StoreAPI

/// The settings of Xcode's StoreKit configuration file, as far as a sandbox follows them.
///
/// Settings that are missing, null or off leave the store as it is.
///
/// Pure: it depends only on the file.
public struct StoreKitSettings: Hashable, Sendable {
    /// The effect of one setting.
    public struct Line: Hashable, Sendable, CustomStringConvertible {
        /// Whether a sandbox follows the setting.
        public let isTaken: Bool
        /// The name of the setting, such as `_askToBuyEnabled`.
        public let setting: String
        /// The effect, or the reason why there is none, as the rest of a sentence.
        public let text: String

        /// The line of a report.
        public var description: String {
            "\(isTaken ? "taken" : "not taken"): setting \(setting) \(text)"
        }
    }

    /// The storefront of the account.
    public private(set) var storefront: EventTypes.Storefront?
    /// The language of titles and descriptions.
    public private(set) var language: LanguageTag?
    /// The speed of the store's clock.
    public private(set) var timeRate: TimeRate?
    /// Whether purchases wait for a parent's approval.
    public private(set) var asksToBuy: Bool?
    /// Whether purchases are interrupted.
    public private(set) var interruptsPurchases: Bool?
    /// Whether renewals are declined.
    public private(set) var declinesRenewals: Bool?
    /// Whether there is a grace period.
    public private(set) var hasGracePeriod: Bool?
    /// Whether charges are declined.
    public private(set) var failsCharges = false
    /// The effects of all settings that say something, in the order of their names.
    public private(set) var lines: [Line] = []

    private typealias Members = [String: Any]

    /// Settings that describe the file, or dialogs that a store does not have.
    private static let quiet: Set = [
        "_applicationInternalID", "_compatibilityTimeRate", "_developerTeamID", "_disableDialogs",
        "_lastSynchronizedDate",
    ]

    /// Reads the settings of a file.
    ///
    /// - Parameter file: The content of a file whose name ends in `.storekit`.
    /// - Throws: ``StoreTestError/notAStoreKitFile`` if it is no JSON object.
    public init(_ file: Data) throws {
        let json = try? JSONSerialization.jsonObject(with: file)
        guard let members = json as? Members else { throw StoreTestError.notAStoreKitFile }
        let settings = members["settings"] as? Members ?? [:]
        for name in settings.keys.sorted() where !Self.quiet.contains(name) {
            read(name, settings[name])
        }
    }

    /// The wishes for an account in an app.
    public func settings(in bundleID: BundleID) -> TestSettingsDocument {
        var settings = TestSettingsDocument(bundleID: bundleID)
        settings.asksToBuy = asksToBuy
        settings.interruptsPurchases = interruptsPurchases
        settings.declinesRenewals = declinesRenewals
        settings.hasGracePeriod = hasGracePeriod
        if failsCharges {
            settings.failNext = SimulatedFailure(.declined, times: SimulatedFailure.timesMax)
        }
        return settings
    }

    private mutating func read(_ name: String, _ value: Any?) {
        switch name {
        case "_storefront": readStorefront(name, value)
        case "_locale": readLanguage(name, value)
        case "_timeRate": readTimeRate(name, value)
        case "_storeKitErrors": readErrors(name, value)
        default:
            guard Self.saysSomething(value) else { return }
            guard value as? Bool == true else { return skip(name, "is not known") }
            readSwitch(name)
        }
    }

    private mutating func readSwitch(_ name: String) {
        switch name {
        case "_askToBuyEnabled":
            asksToBuy = true
            take(name, "has purchases wait for a parent")
        // Xcode calls an interrupted purchase a billing issue.
        case "_billingIssuesEnabled":
            interruptsPurchases = true
            take(name, "interrupts purchases")
        case "_renewalBillingIssuesEnabled":
            declinesRenewals = true
            take(name, "has renewals declined")
        case "_billingGracePeriodEnabled":
            hasGracePeriod = true
            take(name, "gives a grace period")
        case "_failTransactionsEnabled": failCharges(name)
        default: skip(name, "is not known")
        }
    }

    private mutating func readStorefront(_ name: String, _ value: Any?) {
        guard let text = value as? String, !text.isEmpty else { return }
        guard let storefront = EventTypes.Storefront(rawValue: text) else {
            return skip(name, "is '\(text)', which is not \(EventTypes.Storefront.form)")
        }
        self.storefront = storefront
        take(name, "is \(storefront)")
    }

    private mutating func readLanguage(_ name: String, _ value: Any?) {
        guard let text = value as? String, !text.isEmpty else { return }
        guard let language = LanguageTag(rawValue: text.replacing("_", with: "-")) else {
            return skip(name, "is '\(text)', which is not \(LanguageTag.form)")
        }
        self.language = language
        take(name, "is \(language)")
    }

    private mutating func readTimeRate(_ name: String, _ value: Any?) {
        guard let number = value as? Int, number != 0 else { return }
        guard let rate = TimeRate(storeKit: number) else {
            return skip(name, "is \(number), which is no speed that a clock can have")
        }
        timeRate = rate
        take(name, "is \(rate.rate)")
    }

    private mutating func readErrors(_ name: String, _ value: Any?) {
        for error in value as? [Members] ?? [] where error["enabled"] as? Bool == true {
            let place = error["name"] as? String ?? "without a name"
            if place == "Purchase" {
                failCharges(name)
            } else {
                skip(name, "'\(place)' is an error that a store does not simulate")
            }
        }
    }

    private mutating func failCharges(_ name: String) {
        failsCharges = true
        take(name, "has the next \(SimulatedFailure.timesMax) charges declined")
    }

    private mutating func take(_ name: String, _ text: String) {
        lines.append(Line(isTaken: true, setting: name, text: text))
    }

    private mutating func skip(_ name: String, _ text: String) {
        lines.append(Line(isTaken: false, setting: name, text: text))
    }

    /// Whether a value says anything: not null, false, zero or empty.
    private static func saysSomething(_ value: Any?) -> Bool {
        switch value {
        case nil, is NSNull: false
        case let text as String: !text.isEmpty
        case let list as [Any]: !list.isEmpty
        case let members as Members: !members.isEmpty
        case let number as NSNumber: number != 0
        default: true
        }
    }
}
