public import EventTypes
import Foundation
import NIOHTTP1
public import PaymentQueue
public import ReceiptValidation
import StoreAPI
import Synchronization

/// A session in which an app is tested on a sandbox, as `SKTestSession` is on a device.
///
/// Each session has an account of its own, so tests run beside each other. The store's clock is that of
/// the whole store.
public final class StoreTestSession: Sendable {
    /// The addresses of the store.
    public let addresses: StoreConfiguration.Addresses
    /// The app.
    public let bundleID: BundleID

    struct State: Sendable {
        var account: AccountID
        var settings: TestSettingsDocument
        var storefront = EventTypes.Storefront(unchecked: "USA")
        var language = LanguageTag(unchecked: "en-US")
    }

    /// The store whose signatures the app under test trusts; `nil` if it does not check them.
    let receiptTrust: ReceiptTrust?
    let connection: StoreTestConnection
    let state: Mutex<State>

    /// Begins a session with an account that nobody else has.
    ///
    /// - Parameters:
    ///   - addresses: The addresses of the store.
    ///   - bundleID: The app.
    ///   - receiptTrust: The store whose signatures the app trusts; `nil` does not check them.
    ///   - accountToken: Signs a token for an account in the app.
    ///   - administratorToken: Signs a token for an administrator.
    public init(
        addresses: StoreConfiguration.Addresses,
        bundleID: BundleID,
        receiptTrust: ReceiptTrust? = nil,
        accountToken: @escaping @Sendable (AccountID) async throws -> String,
        administratorToken: @escaping @Sendable () async throws -> String
    ) {
        self.addresses = addresses
        self.bundleID = bundleID
        self.receiptTrust = receiptTrust
        connection = StoreTestConnection(
            accountToken: accountToken,
            administratorToken: administratorToken
        )
        state = Mutex(
            State(
                account: Self.freshAccount(),
                settings: TestSettingsDocument(bundleID: bundleID)
            )
        )
    }

    /// The account that the app under test buys with.
    public var account: AccountID { state.withLock { $0.account } }

    /// Gives the session another account, which has bought nothing and is not tested.
    ///
    /// Nothing is ever deleted in a store.
    public func clearTransactions() {
        state.withLock { state in
            state = State(
                account: Self.freshAccount(),
                settings: TestSettingsDocument(bundleID: bundleID)
            )
        }
    }

    private static func freshAccount() -> AccountID {
        AccountID(unchecked: "test-\(UUID().uuidString.lowercased())")
    }

    // MARK: - The clock

    /// Sets how fast the clock of the whole store goes.
    public func setTimeRate(_ rate: TimeRate) async throws {
        _ = try await connection.send(
            .POST,
            addresses.payments + Routes.adminClockRun,
            ClockRunRequest(rate: rate.rate == .one ? nil : rate.rate.description),
            as: ClockResponse.self
        )
    }

    /// Advances the clock of the whole store, and waits until everything due is done.
    ///
    /// - Parameters:
    ///   - time: The time, from a millisecond to five years.
    ///   - limit: The longest wait.
    /// - Throws: ``StoreTestError``, or an error of the network.
    public func advance(by time: Duration, within limit: Duration = .seconds(60)) async throws {
        _ = try await connection.send(
            .POST,
            addresses.payments + Routes.adminClockAdvance,
            ClockAdvanceRequest(by: ClockSpan(time)?.description),
            as: ClockResponse.self
        )
        let end = ContinuousClock.now + limit
        while true {
            let clock = try await connection.send(
                .GET,
                addresses.payments + Routes.adminClock,
                as: ClockResponse.self
            )
            if clock.status == .ready { return }
            guard clock.status == .advancing, ContinuousClock.now < end else {
                throw StoreTestError.tooLate("the clock is \(clock.status.rawValue)")
            }
            try await Task.sleep(for: .milliseconds(25))
        }
    }

    // MARK: - Settings

    /// Sets whether purchases wait for a parent's approval.
    public func setAskToBuyEnabled(_ isOn: Bool) async throws {
        try await set { $0.asksToBuy = isOn }
    }

    /// Sets whether purchases are interrupted.
    public func setInterruptedPurchasesEnabled(_ isOn: Bool) async throws {
        try await set { $0.interruptsPurchases = isOn }
    }

    /// Sets whether renewals are declined, so that subscriptions enter billing retry.
    public func setShouldEnterBillingRetryOnRenewal(_ isOn: Bool) async throws {
        try await set { $0.declinesRenewals = isOn }
    }

    /// Sets whether there is a grace period of 16 days.
    public func setBillingGracePeriodEnabled(_ isOn: Bool) async throws {
        try await set { $0.hasGracePeriod = isOn }
    }

    /// Has the next charges fail.
    ///
    /// - Parameters:
    ///   - reason: The reason.
    ///   - times: The number of charges, from 1.
    /// - Throws: ``StoreTestError``, or an error of the network.
    public func failNextCharge(
        _ reason: ChargeFailure,
        times: Int = 1
    ) async throws {
        try await set { $0.failNext = SimulatedFailure(reason.reason, times: times) }
    }

    /// Sets the storefront of the account.
    public func changeStorefront(_ storefront: EventTypes.Storefront) async throws {
        _ = try await connection.send(
            .PUT,
            addresses.payments + Routes.adminAccount(account),
            AccountChangeRequest(bundleID: bundleID, storefront: storefront),
            as: AccountResponse.self
        )
        state.withLock { $0.storefront = storefront }
    }

    /// Leaves the account's charges as they are.
    public func resetToDefaultState() async throws {
        let settings = try await connection.send(
            .DELETE,
            addresses.payments + Routes.testSettings(account)
                + "?bundleID=\(bundleID.rawValue)",
            as: TestSettingsDocument.self
        )
        state.withLock { $0.settings = settings }
    }

    /// Changes the settings that this session has made, and sends them.
    ///
    /// A failure counts once: the next change does not repeat it.
    func set(_ change: @Sendable (inout TestSettingsDocument) -> Void) async throws {
        var (account, settings) = state.withLock { ($0.account, $0.settings) }
        change(&settings)
        let sent = try await connection.send(
            .PUT,
            addresses.payments + Routes.testSettings(account),
            settings,
            as: TestSettingsDocument.self
        )
        state.withLock { state in
            state.settings = sent
            state.settings.failNext = nil
        }
    }

    // MARK: - Transactions

    /// The account's transactions that are not finished, oldest first: also those that wait for a parent.
    public func unfinishedTransactions() async throws -> [EventTypes.Transaction] {
        let account = account
        return try await connection.send(
            .GET,
            addresses.fulfillment + Routes.queueTransactions,
            by: account,
            as: QueueResponse.self
        ).transactions.map(\.transaction)
    }

    /// Approves a purchase that waits for a parent.
    public func approveAskToBuyTransaction(_ id: TransactionID) async throws {
        try await decide(.approve, id)
    }

    /// Declines a purchase that waits for a parent.
    public func declineAskToBuyTransaction(_ id: TransactionID) async throws {
        try await decide(.decline, id)
    }

    private func decide(_ decision: ApprovalRequest.Decision, _ id: TransactionID) async throws {
        _ = try await connection.send(
            .POST,
            addresses.payments + Routes.approval(id),
            ApprovalRequest(decision: decision),
            as: TransactionResponse.self
        )
    }

    /// Refunds a transaction in full.
    public func refundTransaction(_ id: TransactionID) async throws {
        _ = try await connection.send(
            .POST,
            addresses.payments + Routes.refund(id),
            RefundRequest(),
            as: TransactionResponse.self
        )
    }

    /// Resumes an interrupted purchase, by a method that succeeds.
    ///
    /// - Returns: The transaction that goes on for it.
    @discardableResult
    public func resolveInterruptedTransaction(_ id: TransactionID) async throws -> TransactionID {
        try await connection.send(
            .POST,
            addresses.payments + Routes.resumption(id),
            as: TransactionResponse.self
        ).transaction.id
    }

    // MARK: - Subscriptions

    /// The account's subscription whose newest period is of a product.
    public func subscription(to product: String) async throws -> Subscription {
        let account = account
        let own = try await connection.send(
            .GET,
            addresses.payments + Routes.subscriptions,
            by: account,
            as: SubscriptionsResponse.self
        ).subscriptions
        guard let found = own.first(where: { $0.product.id.rawValue == product }) else {
            throw StoreTestError.notSubscribed(product: product)
        }
        return found
    }

    /// Charges for the next period, which begins now if the charge succeeds, and waits for it.
    ///
    /// - Returns: The subscription afterwards.
    /// - Throws: ``StoreTestError``, or an error of the network.
    @discardableResult
    public func forceRenewal(of product: String) async throws -> Subscription {
        try await post(Routes.testRenewal, to: product)
        return try await charged(product)
    }

    /// Charges for a period that is unpaid, by a method that succeeds, and waits for it.
    ///
    /// - Returns: The subscription afterwards.
    /// - Throws: ``StoreTestError``, or an error of the network.
    @discardableResult
    public func resolveBillingIssue(of product: String) async throws -> Subscription {
        try await post(Routes.testResolution, to: product)
        return try await charged(product)
    }

    /// Waits until no charge is under way.
    private func charged(_ product: String) async throws -> Subscription {
        let end = ContinuousClock.now + .seconds(15)
        while true {
            let subscription = try await subscription(to: product)
            if subscription.charge == nil { return subscription }
            guard ContinuousClock.now < end else {
                throw StoreTestError.tooLate("the charge of '\(product)'")
            }
            try await Task.sleep(for: .milliseconds(25))
        }
    }

    /// Ends a subscription now.
    public func expireSubscription(
        to product: String,
        intent: ExpirationIntent = .autoRenewDisabled
    ) async throws {
        try await post(Routes.testExpiry, to: product, TestExpiryRequest(intent: intent))
    }

    /// Asks the subscriber about a higher price now.
    ///
    /// The next renewal costs it if the subscriber agrees, and no more than the catalog says.
    public func requestPriceIncreaseConsent(to product: String, price: Money) async throws {
        try await post(
            Routes.testPriceIncrease,
            to: product,
            TestPriceIncreaseRequest(price: price)
        )
    }

    /// Answers the question about a higher price, as the buyer does.
    public func answerPriceIncrease(of product: String, isAgreed: Bool) async throws {
        _ = try await connection.send(
            .PUT,
            addresses.payments + Routes.priceIncrease(try await subscription(to: product).id),
            PriceIncreaseDecisionRequest(decision: isAgreed ? .agree : .decline),
            by: account,
            as: SubscriptionResponse.self
        )
    }

    /// Turns the renewal of a subscription on or off, as the buyer does.
    public func setAutoRenew(_ isOn: Bool, of product: String) async throws {
        _ = try await connection.send(
            .PUT,
            addresses.payments + Routes.autoRenew(try await subscription(to: product).id),
            AutoRenewRequest(isOn: isOn),
            by: account,
            as: SubscriptionResponse.self
        )
    }

    private func post(
        _ path: (TransactionID) -> String,
        to product: String,
        _ body: (any Encodable)? = nil
    ) async throws {
        let id = try await subscription(to: product).id
        _ = try await connection.send(
            .POST,
            addresses.payments + path(id),
            body,
            as: SubscriptionResponse.self
        )
    }
}
