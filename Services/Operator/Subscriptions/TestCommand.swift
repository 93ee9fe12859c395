import ArgumentParser
import EventTypes
import Foundation
import NIOHTTP1
import OperatorCore
import StoreAPI
import StoreTest

/// `counterfoil test`: what tests of apps ask of a sandbox.
struct TestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Has a sandbox do what a test of an app needs.",
        discussion: """
            Examples:
              counterfoil test set ada --fail declined --times 2
              counterfoil test set ada --ask-to-buy
              counterfoil test set ada --storekit Store.storekit
              counterfoil test show ada
              counterfoil test reset ada
              counterfoil test renew 2175520387220000
              counterfoil test resolve 2175520387220000
              counterfoil test expire 2175520387220000 --intent 2
              counterfoil test storefront ada FRA
              counterfoil test raise 2175520387220000 3.99
              counterfoil test answer 2175520387220000 agree
              counterfoil test dispute 2175520387220000 --step win

            'counterfoil clock' sets the speed of time; 'approve', 'decline' and 'refund' decide about \
            purchases. A store in production fails with 404.
            """,
        subcommands: [
            ShowTestCommand.self, SetTestCommand.self, ResetTestCommand.self,
            RenewTestCommand.self, ResolveTestCommand.self, ExpireTestCommand.self,
            StorefrontTestCommand.self, RaiseTestCommand.self, AnswerTestCommand.self,
            DisputeTestCommand.self,
        ]
    )
}

/// The account and the app of a test.
struct TestAccountOptions: ParsableArguments {
    @OptionGroup var store: StoreOptions
    @OptionGroup var access: SubscriptionAccess
    @OptionGroup var app: AppOptions

    @Argument(help: "The account.", transform: identifier)
    var account: AccountID

    func bundleID() throws(OperatorError) -> BundleID {
        try app.app(keys: access.keys.directory)
    }

    /// Sets the account's storefront.
    func move(to storefront: Storefront) async throws -> AccountResponse {
        try await access.connection(of: store).send(
            .PUT,
            Routes.adminAccount(account),
            .json(AccountChangeRequest(bundleID: try bundleID(), storefront: storefront)),
            as: AccountResponse.self
        )
    }

    /// Sends a request about the account's settings, and prints them.
    func perform(_ method: HTTPMethod, _ settings: TestSettingsDocument? = nil) async throws {
        let content: StoreConnection.Content
        if let settings {
            content = try .json(settings)
        } else {
            content = StoreConnection.Content(
                query: [("bundleID", try bundleID().rawValue)]
            )
        }
        let answer = try await access.connection(of: store).send(
            method,
            Routes.testSettings(account),
            content,
            as: TestSettingsDocument.self
        )
        guard !store.json else { return try Console.say(json: answer) }
        func word(_ flag: Bool?) -> String { flag.map { $0 ? "on" : "off" } ?? "as the store" }
        let failure = answer.failNext.map { "\($0.reason.rawValue), \($0.times ?? 1) times" }
        Console.say(
            """
            ask to buy:            \(word(answer.asksToBuy))
            interrupted purchases: \(word(answer.interruptsPurchases))
            declined renewals:     \(word(answer.declinesRenewals))
            grace period:          \(word(answer.hasGracePeriod))
            next charges:          \(failure ?? "as the store")
            """
        )
    }
}

/// `counterfoil test show`.
struct ShowTestCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows what a test has the sandbox do with an account."
    )

    @OptionGroup var options: TestAccountOptions

    func perform() async throws { try await options.perform(.GET) }
}

/// `counterfoil test reset`.
struct ResetTestCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "reset",
        abstract: "Forgets what a test has the sandbox do with an account."
    )

    @OptionGroup var options: TestAccountOptions

    func perform() async throws { try await options.perform(.DELETE) }
}

/// `counterfoil test set`.
struct SetTestCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Sets what a test has the sandbox do with an account, instead of what was set."
    )

    @OptionGroup var options: TestAccountOptions

    @Option(
        name: .customLong("storekit"),
        help: "Follow the settings of Xcode's StoreKit configuration file; flags come before it.",
        completion: .file(extensions: ["storekit"])
    )
    var storeKit: String?

    @Flag(inversion: .prefixedNo, help: "Whether purchases wait for a parent's approval.")
    var askToBuy: Bool?

    @Flag(inversion: .prefixedNo, help: "Whether purchases are interrupted.")
    var interrupt: Bool?

    @Flag(inversion: .prefixedNo, help: "Whether renewals are declined.")
    var declineRenewals: Bool?

    @Flag(inversion: .prefixedNo, help: "Whether there is a grace period.")
    var grace: Bool?

    @Option(help: "Why the next charges fail: \(Self.reasons).")
    var fail: String?

    @Option(help: "How many charges fail.")
    var times = 1

    private static let reasons = SimulatedFailure.Reason.allCases.map(\.rawValue)
        .joined(separator: ", ")

    func validate() throws {
        guard (1...SimulatedFailure.timesMax).contains(times) else {
            throw ValidationError("--times must be from 1 to \(SimulatedFailure.timesMax).")
        }
        guard let fail, SimulatedFailure.Reason(rawValue: fail) == nil else { return }
        throw ValidationError("'\(fail)' is not a reason: choose one of \(Self.reasons).")
    }

    func perform() async throws {
        var settings = TestSettingsDocument(bundleID: try options.bundleID())
        if let storeKit { settings = try await follow(storeKit, settings.bundleID) }
        if let askToBuy { settings.asksToBuy = askToBuy }
        if let interrupt { settings.interruptsPurchases = interrupt }
        if let declineRenewals { settings.declinesRenewals = declineRenewals }
        if let grace { settings.hasGracePeriod = grace }
        if let reason = fail.flatMap(SimulatedFailure.Reason.init(rawValue:)) {
            settings.failNext = SimulatedFailure(reason, times: times)
        }
        try await options.perform(.PUT, settings)
    }

    /// Sets the account's storefront and the store's clock as a StoreKit file says, and reports.
    ///
    /// - Returns: The rest of the file's settings.
    private func follow(
        _ path: String,
        _ bundleID: BundleID
    ) async throws -> TestSettingsDocument {
        let file: StoreKitSettings
        do {
            file = try StoreKitSettings(try Data(contentsOf: URL(fileURLWithPath: path)))
        } catch {
            throw OperatorError.unreadable(path, error)
        }
        if let storefront = file.storefront { _ = try await options.move(to: storefront) }
        if let rate = file.timeRate {
            _ = try await options.access.connection(of: options.store).send(
                .POST,
                Routes.adminClockRun,
                .json(ClockRunRequest(rate: rate.rate.description)),
                as: ClockResponse.self
            )
        }
        if !options.store.json {
            for line in file.lines where !(line.isTaken && line.setting == "_locale") {
                Console.say(line.description)
            }
        }
        return file.settings(in: bundleID)
    }
}

/// `counterfoil test storefront`.
struct StorefrontTestCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "storefront",
        abstract: "Sets the storefront in which an account buys."
    )

    @OptionGroup var options: TestAccountOptions

    @Argument(help: "The storefront, such as FRA.", transform: identifier)
    var storefront: Storefront

    func perform() async throws {
        let answer = try await options.move(to: storefront)
        guard !options.store.json else { return try Console.say(json: answer.account) }
        Console.say("\(options.account) buys in \(storefront).")
    }
}

/// `counterfoil test renew`.
struct RenewTestCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "renew",
        abstract: "Ends the running period of a subscription, and charges for the next one."
    )

    @OptionGroup var options: SubscriptionOptions

    @Option(
        help: "The key under which the renewal is charged once (default: a new one).",
        transform: identifier
    )
    var key: IdempotencyKey?

    func perform() async throws {
        try await sendOnce(under: key, "it is charged once") { key in
            try await options.post(
                Routes.testRenewal,
                StoreConnection.Content(headers: [("Idempotency-Key", key.rawValue)])
            )
        }
    }
}

/// `counterfoil test resolve`.
struct ResolveTestCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "resolve",
        abstract: "Charges for an unpaid period of a subscription, by a method that succeeds."
    )

    @OptionGroup var options: SubscriptionOptions

    func perform() async throws { try await options.post(Routes.testResolution) }
}

/// `counterfoil test expire`.
struct ExpireTestCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "expire",
        abstract: "Ends a subscription now."
    )

    @OptionGroup var options: SubscriptionOptions

    @Option(help: "Apple's expiration intent, from 1 to 5.")
    var intent = 1

    func validate() throws {
        guard ExpirationIntent(rawValue: intent) == nil else { return }
        throw ValidationError("--intent must be from 1 to 5.")
    }

    func perform() async throws {
        try await options.post(
            Routes.testExpiry,
            .json(TestExpiryRequest(intent: ExpirationIntent(rawValue: intent)))
        )
    }
}
