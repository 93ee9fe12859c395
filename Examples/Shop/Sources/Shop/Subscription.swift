import ArgumentParser
import Foundation
import PaymentQueue

/// `shop subscription`: shows the subscriptions, and until when they are owned.
struct Subscription: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show, cancel, resume or change a subscription.",
        subcommands: [Show.self, Cancel.self, Resume.self, Change.self],
        defaultSubcommand: Show.self
    )

    /// `shop subscription show`.
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show what runs, until when, and what follows."
        )

        @OptionGroup var store: StoreOptions

        func run() async throws {
            try store.configure()
            let statuses = try await SubscriptionStatus.all().flatMap(\.statuses)
            if statuses.isEmpty { print("no subscription; `shop buy` begins one") }
            for status in statuses { print(status.line) }
        }
    }

    /// `shop subscription cancel`.
    struct Cancel: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Turn the renewal off. What is paid stays until its end."
        )

        @OptionGroup var store: StoreOptions

        func run() async throws {
            try store.configure()
            let status = try await SubscriptionStatus.running()
            try await status.cancel()
            print("cancelled; owned until \(status.ownedUntil)")
        }
    }

    /// `shop subscription resume`.
    struct Resume: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Turn the renewal on again.")

        @OptionGroup var store: StoreOptions

        func run() async throws {
            try store.configure()
            let status = try await SubscriptionStatus.running()
            try await status.resume()
            print("renews on \(status.ownedUntil)")
        }
    }

    /// `shop subscription change`.
    struct Change: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Choose the product of the next period.",
            discussion: "A product of a higher level is bought instead, and begins at once."
        )

        @OptionGroup var store: StoreOptions
        @Argument(help: "The product's identifier.")
        var identifier: String

        func run() async throws {
            try store.configure()
            guard let product = try await Product.products(for: [identifier]).first else {
                throw ShopError("\(identifier) is not sold here; `shop list` shows what is.")
            }
            let status = try await SubscriptionStatus.running()
            try await status.change(to: product)
            print("\(identifier) from \(status.ownedUntil)")
        }
    }
}

extension SubscriptionStatus {
    /// Returns the end of each product that the account owns because it subscribed.
    static func ends() async throws -> [String: String] {
        var ends: [String: String] = [:]
        for status in try await all().flatMap(\.statuses)
        where status.state == .subscribed || status.state == .inGracePeriod {
            ends[status.renewalInfo.unsafePayloadValue.currentProductID] = status.ownedUntil
        }
        return ends
    }

    /// Returns the account's subscription that has not ended.
    fileprivate static func running() async throws -> SubscriptionStatus {
        let statuses = try await SubscriptionStatus.all().flatMap(\.statuses)
        guard
            let running = statuses.first(where: { $0.state != .expired && $0.state != .revoked })
        else { throw ShopError("There is no subscription that runs.") }
        return running
    }

    /// The end of what is paid, or of the grace period.
    fileprivate var ownedUntil: String {
        let info = renewalInfo.unsafePayloadValue
        let end = state == .inGracePeriod ? info.gracePeriodExpirationDate : info.renewalDate
        return end?.formatted(.iso8601) ?? "?"
    }

    /// The status as a line.
    fileprivate var line: String {
        let info = renewalInfo.unsafePayloadValue
        let name: String
        switch state {
        case .subscribed: name = "owned until"
        case .inGracePeriod: name = "unpaid, and still owned until"
        case .inBillingRetryPeriod: name = "unpaid since"
        case .revoked: name = "taken back; it would have ended"
        default: name = "ended"
        }
        let next = info.autoRenewPreference.map { "then \($0)" } ?? "then nothing"
        return "\(info.currentProductID) \(name) \(ownedUntil), \(next)"
    }
}
