import EventTypes
import Foundation
import HTTPTypes
import ServiceKit
import Subscriptions

/// The settings of `payments`, including those that every service has.
struct PaymentsSettings: Sendable {
    let common: CommonSettings
    /// The environment of the store; the sandbox's payment methods exist only in the sandbox.
    let environment: StoreEnvironment
    let receiptsURL: String
    let policy: AttemptPolicy
    let limits: ChargeRunner.Limits
    let tax: TaxRates
    /// The store's decisions about subscriptions.
    let subscriptions: SubscriptionPolicy
    /// The maximum age of a token that restores.
    let restoreTokenAgeMax: Duration
    /// The directory of the keys of merchants' servers; `nil` if no signed offer is accepted.
    let offerKeysDirectory: String?
    /// The settings for merchants' servers, which extend subscriptions; `nil` if none may.
    let servers: ServerAPISettings?
    /// Whether consumables that are paid back stay with their buyers.
    let leavesRefundedConsumables: Bool
    /// The header in which the proxy in front names the address of a client; `nil` if there is none.
    let clientAddressHeader: HTTPField.Name?
    let sandboxDatabaseURL: String
    let sandboxSlowness: Duration
    /// The settings of Stripe; `nil` if another processor charges.
    let stripe: StripeSettings?

    /// Reads the settings. Keys: those of ``CommonSettings``, and
    /// - `STORE_ENVIRONMENT`, without a default: a store that takes play money by mistake gives its
    ///   goods away
    /// - `RECEIPTS_URL`
    /// - `PROCESSOR`, and those of ``StripeSettings``
    /// - `PROCESSOR_LEASE_MS`, `PROCESSOR_CALLS_MAX`, `PROCESSOR_PAUSE_MS`, `PROCESSOR_PAUSE_MAX_MS`
    /// - `PROCESSOR_POLL_MS`, `PROCESSOR_POLL_MAX_MS`, `PROCESSOR_WAIT_MAX_MS`
    /// - `PROCESSOR_BATCH_MAX`, `PROCESSOR_QUEUE_MAX`
    /// - `ACTION_EXPIRY_MS`
    /// - `APPROVAL_EXPIRY_MS`
    /// - `RESTORE_TOKEN_AGE_MAX_MS`
    /// - `SUBSCRIPTION_TIME_ZONE`, `SUBSCRIPTION_GRACE_DAYS`, `SUBSCRIPTION_GRACE_SCOPE`
    /// - `PRICE_CONSENT_STOREFRONTS`, `PRICE_NOTICE_DAYS`, `PRICE_NOTICE_DAYS_WEEKLY`
    /// - `SERVER_KEYS_DIRECTORY`, `SERVER_API_REQUESTS_PER_SECOND`
    /// - `REFUNDED_CONSUMABLES`
    /// - `CLIENT_ADDRESS_HEADER`
    /// - `TAX_BASIS_POINTS`
    /// - `SANDBOX_SUBSCRIPTION_RATE`, which a production store refuses
    /// - `SANDBOX_PROCESSOR_DATABASE_URL`, `SANDBOX_PROCESSOR_SLOW_MS`
    init(_ reader: inout SettingsReader) {
        common = CommonSettings(&reader, service: .payments, defaultPort: 8082)
        environment = reader.choice(
            "STORE_ENVIRONMENT",
            default: nil,
            "Which store this is, as for receipts; sandbox payment methods exist in Sandbox alone."
        )
        receiptsURL = reader.string(
            "RECEIPTS_URL",
            default: "http://127.0.0.1:8083",
            "Where receipts is: it is asked whether its STORE_ENVIRONMENT is the same."
        )
        let processor: ProcessorChoice = reader.choice(
            "PROCESSOR",
            default: .sandbox,
            "Who charges; a production store has no payments with the sandbox's processor."
        )
        policy = AttemptPolicy(&reader, calling: processor)
        limits = ChargeRunner.Limits(
            batchSizeMax: reader.integer(
                "PROCESSOR_BATCH_MAX",
                default: 256,
                in: 1...10_000,
                "The most charges in one call of the processor."
            ),
            queueMax: reader.integer(
                "PROCESSOR_QUEUE_MAX",
                default: 20_000,
                in: 1...1_000_000,
                "The most attempts that wait in memory; further ones wait in the database."
            )
        )
        restoreTokenAgeMax = reader.milliseconds(
            "RESTORE_TOKEN_AGE_MAX_MS",
            default: .seconds(300),
            in: .seconds(1)...(.seconds(24 * 60 * 60)),
            "How old, since its iat, the account token of a restore may be; an older one gets 401."
        )
        subscriptions = SubscriptionPolicy(&reader, in: environment)
        let keysDirectory = reader.string(
            "SERVER_KEYS_DIRECTORY",
            default: "",
            "Public keys of merchants' servers, <key id>.json, for signed offers and extensions."
        )
        offerKeysDirectory = keysDirectory.isEmpty ? nil : keysDirectory
        servers = ServerAPISettings(&reader, keysDirectory: keysDirectory)
        leavesRefundedConsumables = Self.leavesConsumables(&reader)
        clientAddressHeader = Self.addressHeader(&reader)
        tax = TaxRates(&reader)
        let sandboxURL = reader.secret(
            "SANDBOX_PROCESSOR_DATABASE_URL",
            default: "",
            "Where the sandbox processor keeps its books; DATABASE_URL if not set."
        )
        sandboxDatabaseURL = sandboxURL.isEmpty ? common.databaseURL : sandboxURL
        sandboxSlowness = reader.milliseconds(
            "SANDBOX_PROCESSOR_SLOW_MS",
            default: .seconds(2),
            in: .zero...(.seconds(60)),
            "How long the sandbox's slow payment method takes."
        )
        let stripe = StripeSettings(
            &reader,
            in: environment,
            isUsed: processor == .stripe,
            lease: policy.lease
        )
        self.stripe = processor == .stripe ? stripe : nil
    }

    /// The effect of a refund on a consumable, unless the refund says otherwise.
    private enum RefundedConsumables: String, CaseIterable {
        case takeBack
        case leave
    }

    private static func leavesConsumables(_ reader: inout SettingsReader) -> Bool {
        let choice: RefundedConsumables = reader.choice(
            "REFUNDED_CONSUMABLES",
            default: .takeBack,
            "Whether a refund of all takes a consumable's units back, also if they are spent."
        )
        return choice == .leave
    }

    private static func addressHeader(_ reader: inout SettingsReader) -> HTTPField.Name? {
        let key = "CLIENT_ADDRESS_HEADER"
        let text = reader.string(
            "CLIENT_ADDRESS_HEADER",
            default: "",
            "The header in which the proxy in front writes the client's address, whatever came with it."
        )
        guard !text.isEmpty else { return nil }
        let name = HTTPField.Name(text)
        if name == nil { reader.refuse(key, "is not the name of a header") }
        return name
    }
}

extension AttemptPolicy {
    /// A call to Stripe may take half a minute, and its lease has to last longer.
    fileprivate init(_ reader: inout SettingsReader, calling processor: ProcessorChoice) {
        self.init(
            lease: reader.milliseconds(
                "PROCESSOR_LEASE_MS",
                default: processor == .stripe ? .seconds(45) : .seconds(10),
                in: .milliseconds(100)...(.seconds(600)),
                "How long a process has an attempt to itself before another inquires about it."
            ),
            callsMax: reader.integer(
                "PROCESSOR_CALLS_MAX",
                default: 5,
                in: 1...100,
                "How many calls without an outcome a charge may have before it fails."
            ),
            pause: reader.milliseconds(
                "PROCESSOR_PAUSE_MS",
                default: .milliseconds(100),
                in: .milliseconds(1)...(.seconds(60)),
                "The pause after the first call without an outcome; it doubles with each."
            ),
            pauseMax: reader.milliseconds(
                "PROCESSOR_PAUSE_MAX_MS",
                default: .seconds(30),
                in: .milliseconds(1)...(.seconds(3600)),
                "The longest pause between two calls."
            ),
            poll: reader.milliseconds(
                "PROCESSOR_POLL_MS",
                default: .seconds(1),
                in: .milliseconds(1)...(.seconds(3600)),
                "The first pause before an inquiry about what the processor has begun; it grows."
            ),
            pollMax: reader.milliseconds(
                "PROCESSOR_POLL_MAX_MS",
                default: .seconds(3600),
                in: .milliseconds(1)...(.seconds(24 * 60 * 60)),
                "The longest pause between two such inquiries."
            ),
            waitMax: reader.milliseconds(
                "PROCESSOR_WAIT_MAX_MS",
                default: .seconds(24 * 60 * 60),
                in: .seconds(1)...(.seconds(366 * 24 * 60 * 60)),
                "How long a payment waits for a processor that takes no call before it fails."
            ),
            actionExpiry: reader.milliseconds(
                "ACTION_EXPIRY_MS",
                default: .seconds(3600),
                in: .milliseconds(100)...(.seconds(24 * 60 * 60)),
                "How long a buyer has to confirm a charge, as with 3-D Secure, before it is ended."
            ),
            approvalExpiry: reader.milliseconds(
                "APPROVAL_EXPIRY_MS",
                default: .seconds(24 * 60 * 60),
                in: .milliseconds(100)...(.seconds(366 * 24 * 60 * 60)),
                "How long a deferred transaction waits for approval before it fails."
            )
        )
    }
}

extension SubscriptionPolicy {
    /// The renewals that have a grace period.
    fileprivate enum Scope: String, CaseIterable {
        case all
        case paid
    }

    fileprivate init(_ reader: inout SettingsReader, in environment: StoreEnvironment) {
        let zoneKey = "SUBSCRIPTION_TIME_ZONE"
        let zone = reader.string(
            "SUBSCRIPTION_TIME_ZONE",
            default: "Etc/UTC",
            "The time zone in which the periods of subscriptions are counted. Do not change it later."
        )
        let timeZone = TimeZone(identifier: zone)
        if timeZone == nil { reader.refuse(zoneKey, "is not a time zone such as Europe/Berlin") }
        self.init(calendar: PeriodCalendar(timeZone: timeZone ?? .gmt))
        let days = reader.integer(
            "SUBSCRIPTION_GRACE_DAYS",
            default: 0,
            in: 0...28,
            "How long service goes on after a period that could not be charged: 0, 3, 16 or 28 days."
        )
        if ![0, 3, 16, 28].contains(days) {
            reader.refuse("SUBSCRIPTION_GRACE_DAYS", "is none of 0, 3, 16 and 28")
        }
        grace = days == 0 ? nil : .seconds(days * 86_400)
        let scope: Scope = reader.choice(
            "SUBSCRIPTION_GRACE_SCOPE",
            default: .all,
            "Which renewals have such days: all, or paid for those after a period that cost something."
        )
        graceScope = scope == .all ? .allRenewals : .paidToPaidOnly
        prices = PriceIncreaseRules.Policy(&reader)
        let rateKey = "SANDBOX_SUBSCRIPTION_RATE"
        rate = reader.choice(
            "SANDBOX_SUBSCRIPTION_RATE",
            default: .realTime,
            "How fast a sandbox's subscriptions renew, with Apple's names."
        )
        if rate != .realTime, environment != .sandbox {
            reader.refuse(rateKey, "is \(rate); a production store only knows realTime")
        }
    }
}
