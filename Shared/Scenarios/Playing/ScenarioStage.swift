import EventTypes
import Foundation
import NIOHTTP1
import PaymentQueue
import ReceiptValidation
import StoreAPI

/// The state of a run: performs steps one after the other.
struct ScenarioStage {
    let connection: ScenarioConnection
    private let receipts: ReceiptValidator
    private(set) var cast: ScenarioCast
    /// The end of the accounts' names in the store.
    let suffix: String
    /// The products as the catalog knows them.
    private(set) var drafts: [String: ProductDraft]
    /// The codes of each campaign.
    private(set) var codes: [String: [String]] = [:]
    /// The lost answers, each with the line of its step.
    private var drops: [(line: Int, isDone: @Sendable () -> Bool)] = []

    /// Refusals that say "not yet": the step is repeated.
    private static let early: Set<String> = [
        "not_deferred", "not_purchased", "not_interrupted", "refund_unknown", "refund_not_settled",
        "transaction_unknown", "subscription_unknown", "offer_unknown", "price_not_asked",
        "dispute_refused",
    ]

    /// Sets the stage: sells the products, and changes the accounts.
    ///
    /// - Parameters:
    ///   - scenario: The scenario.
    ///   - suffix: The end of the accounts' names in the store, so that runs do not meet.
    ///   - connection: The connection to the store.
    /// - Throws: An error that says what the store did not do.
    init(_ scenario: Scenario, suffix: String, _ connection: ScenarioConnection) async throws {
        self.connection = connection
        self.suffix = suffix
        let addresses = connection.store.addresses
        let root = try await connection.send(
            .GET,
            addresses.receipts + Routes.rootCertificate,
            by: .account(AccountID(unchecked: "probe" + suffix))
        )
        receipts = ReceiptValidator(
            ReceiptTrust(
                roots: [root],
                bundleID: connection.store.bundleID.rawValue,
                environment: .sandbox
            )
        )
        let accounts = Dictionary(
            uniqueKeysWithValues: scenario.accounts.map {
                ($0.name, AccountID(unchecked: $0.name + suffix))
            }
        )
        let storefronts = Dictionary(
            uniqueKeysWithValues: scenario.accounts.map { ($0.name, $0.storefront) }
        )
        var devices: [String: PlayedDevice] = [:]
        for device in scenario.devices {
            devices[device.name] = PlayedDevice(
                device,
                account: accounts[device.account] ?? AccountID(unchecked: device.account + suffix),
                storefront: (storefronts[device.account] ?? nil)
                    ?? EventTypes.Storefront(unchecked: "USA"),
                store: connection.store,
                wait: connection.wait
            )
        }
        var products: [String: ProductID] = [:]
        drafts = [:]
        let repriced = scenario.repricedProducts
        for product in scenario.products {
            let draft = product.draft(webhookURL: connection.store.merchant?.webhookURL ?? "")
            let id = try product.id(of: draft)
            // No other run may change the price under which this one's accounts subscribe.
            products[product.name] =
                repriced.contains(product.name) ? ProductID(unchecked: id.rawValue + suffix) : id
            drafts[product.name] = draft
        }
        cast = ScenarioCast(products: products, accounts: accounts, devices: devices)
        for product in scenario.products { try await sell(product) }
        for account in scenario.accounts { try await change(account) }
        for product in scenario.products { try await waitUntilSold(product) }
    }

    /// Kills all apps.
    func close() {
        for device in cast.devices.values { device.stop() }
    }

    /// Performs a step.
    ///
    /// - Throws: An error that says what happened instead.
    mutating func perform(_ action: ScenarioAction, line: Int) async throws {
        switch action {
        case .buy(let purchase): try await buy(purchase)
        case .decide(let decision, let payment, let code):
            let id = try cast.payment(payment).accepted
            try await ask(Routes.approval(id), ApprovalRequest(decision: decision), refused: code)
        case .refund(let payment, let amount, let revokes, let code):
            let id = try cast.payment(payment).accepted
            try await ask(
                Routes.refund(id),
                RefundRequest(amount: amount, revokes: revokes),
                refused: code
            )
        case .reverse(let payment, let number, let code):
            let id = try cast.payment(payment).accepted
            try await ask(Routes.refundReversal(id, number), nil, refused: code)
        case .confirm(let decision, let payment, let code):
            try await decide(decision, onPageOf: cast.payment(payment), refused: code)
        case .dispute(let step, let payment, let code):
            try await dispute(cast.payment(payment), step, refused: code)
        case .resume(let payment, let name, let code):
            try await resume(try cast.payment(payment), as: name, refused: code)
        case .restore(let device): try await cast.device(device).restore()
        case .finish(let payment, let device):
            try await cast.device(device).finish(try cast.payment(payment))
        case .autoRenew(let isOn, let payment, let code):
            try await setAutoRenew(isOn, of: cast.payment(payment), refused: code)
        case .choose(let product, let payment, let code):
            try await choose(cast.product(product), for: cast.payment(payment), refused: code)
        case .extend(let payment, let days, let code):
            try await extend(cast.payment(payment), by: days, refused: code)
        case .family(let organizer, let others): try await makeFamily(organizer, with: others)
        case .leave(let account, let code): try await leaveFamily(account, refused: code)
        case .ask(let payment, let decision, let code):
            try await askForRefund(of: cast.payment(payment), decision, refused: code)
        case .campaign(let campaign): codes[campaign.name] = try await makeCodes(of: campaign)
        case .redeem(let redemption):
            cast.payments[redemption.name] = try await redeem(redemption)
        case .price(let change): drafts[change.product] = try await schedule(change)
        case .consent(let decision, let payment, let code):
            try await answer(decision, toPriceOf: cast.payment(payment), refused: code)
        case .advance(let span, let isAwaited): try await advance(span, isAwaited: isAwaited)
        case .clock(let clock): try await set(clock)
        case .pass(let span): try await waitUntilPassed(span)
        case .start(let device): try cast.device(device).start()
        case .stop(let device): try cast.device(device).stop()
        case .change(let account): try await change(account)
        case .kill(let service): try await faults.kill(service)
        case .restart(let service): try await faults.restart(service)
        case .freeze(let service): try await faults.freeze(service)
        case .thaw(let service): try await faults.thaw(service)
        case .drop(let answer, let times):
            drops.append((line, try await faults.drop(answer, times: times)))
        case .duplicate(let payment):
            try await faults.duplicate(try cast.payment(payment).accepted)
        case .reorder(let payment):
            let periods = try await connection.periods(of: cast.payment(payment))
            for period in periods.reversed() { try await faults.duplicate(period.id) }
        case .answer(let status): try merchant.answer(with: status)
        case .shuffle(let steps):
            for step in steps { try await perform(step.action, line: step.line) }
        case .expect: break
        case .test(let test): try await carryOut(test)
        }
    }

    /// The lines of the steps whose answers were not lost, because nobody asked.
    var linesOfUnmetDrops: [Int] { drops.filter { !$0.isDone() }.map(\.line) }

    private var faults: any ScenarioFaults {
        get throws {
            guard let faults = connection.store.faults else { throw StepFailure("no faults here") }
            return faults
        }
    }

    private var merchant: any ScenarioMerchant {
        get throws {
            guard let merchant = connection.store.merchant else {
                throw StepFailure("no merchant here")
            }
            return merchant
        }
    }

    /// Observes the subjects of facts once.
    func observe(_ facts: [ScenarioFact]) async throws -> [ScenarioSubject: ScenarioValue] {
        var observer = FactObserver(cast, connection, receipts)
        return try await observer.observe(Set(facts.map(\.subject)))
    }

    // MARK: - Products and accounts

    private func sell(_ product: ScenarioProduct) async throws {
        try await connection.send(
            .PUT,
            connection.store.addresses.catalog + Routes.adminProduct(cast.product(product.name)),
            by: .administrator,
            drafts[product.name]
        )
    }

    private func waitUntilSold(_ product: ScenarioProduct) async throws {
        guard let (storefront, price) = product.prices.min(by: { $0.key < $1.key }) else { return }
        try await waitUntilSold(product.name, in: storefront, for: price, not: ["product_unknown"])
    }

    /// Waits until `payments` sells a product.
    ///
    /// It then refuses a payment with a method that does not exist because of the method, and for none
    /// of other reasons.
    func waitUntilSold(
        _ product: String,
        in storefront: EventTypes.Storefront,
        for price: Money,
        not reasons: Set<String>
    ) async throws {
        let request = PaymentRequest(
            productID: try cast.product(product),
            storefront: storefront,
            price: price,
            paymentMethod: "no_such_method"
        )
        try await connection.wait.until("payments to know the product '\(product)'") {
            do {
                try await connection.send(
                    .POST,
                    connection.store.addresses.payments + Routes.payments,
                    by: .account(AccountID(unchecked: "probe" + suffix)),
                    request,
                    key: UUID().uuidString
                )
            } catch let refusal as ScenarioConnection.Refusal {
                return reasons.contains(refusal.code) ? nil : ()
            }
            return ()
        }
    }

    private func change(_ account: ScenarioAccount) async throws {
        guard account.storefront != nil || account.canPay != nil else { return }
        let id = try cast.account(account.name)
        try await connection.send(
            .PUT,
            connection.store.addresses.payments + Routes.adminAccount(id),
            by: .administrator,
            AccountChangeRequest(
                bundleID: connection.store.bundleID,
                canMakePayments: account.canPay,
                storefront: account.storefront
            )
        )
        guard let storefront = account.storefront else { return }
        for device in cast.devices.values where device.account == id {
            try await device.waitToKnow(storefront)
        }
    }

    // MARK: - Payments

    private mutating func buy(_ purchase: ScenarioPurchase) async throws {
        let device = try cast.device(purchase.device)
        let transaction = try await device.buy(
            purchase,
            try cast.product(purchase.product),
            with: try await discount(for: purchase)
        )
        let payment = PlayedPayment(
            name: purchase.name,
            account: device.account,
            transaction: transaction
        )
        cast.payments[purchase.name] = payment
        guard !purchase.isUnanswered else { return }
        try await connection.wait.until("an answer to the payment") {
            payment.id != nil || transaction.transactionState == .failed ? () : nil
        }
        let error = transaction.error as? SKError
        let refusal = error?.storeCode ?? "\(transaction.error, default: "no reason")"
        try Self.judge(payment.id == nil ? refusal : nil, refused: purchase.refused)
    }

    private mutating func resume(
        _ payment: PlayedPayment,
        as name: String,
        refused code: String?
    ) async throws {
        let path = try Routes.resumption(payment.accepted)
        guard let bytes = try await ask(path, nil, refused: code) else { return }
        let answer = try JSONDecoder().decode(TransactionResponse.self, from: Data(bytes))
        cast.payments[name] = PlayedPayment(
            name: name,
            account: payment.account,
            id: answer.transaction.id
        )
    }

    /// Sends a command to `payments`, and expects success or a refusal.
    ///
    /// - Returns: The answer; `nil` if it was refused as expected.
    @discardableResult
    func ask(
        _ path: String,
        _ body: (any Encodable)?,
        by sender: ScenarioConnection.Sender = .administrator,
        method: HTTPMethod = .POST,
        refused code: String?
    ) async throws -> [UInt8]? {
        let url = connection.store.addresses.payments + path
        var last: ScenarioConnection.Refusal?
        do {
            return try await connection.wait.until("the store to do it (\(last, default: "-"))") {
                do {
                    let key = UUID().uuidString
                    let bytes = try await connection.send(method, url, by: sender, body, key: key)
                    try Self.judge(nil, refused: code)
                    return bytes
                } catch let refusal as ScenarioConnection.Refusal
                    where refusal.code != code && Self.early.contains(refusal.code)
                {
                    last = refusal
                    return nil
                }
            }
        } catch let refusal as ScenarioConnection.Refusal {
            guard refusal.code == code else { throw refusal }
            return nil
        }
    }

    /// Compares a refusal with the expected one; `nil` is success.
    static func judge(_ refusal: String?, refused code: String?) throws {
        switch (refusal, code) {
        case (nil, nil): return
        case (nil, let code?): throw StepFailure("succeeded, and had to be refused with \(code)")
        case (let refusal?, nil): throw StepFailure("refused with \(refusal)")
        case (let refusal?, let code?):
            if refusal != code {
                throw StepFailure("refused with \(refusal), and had to be with \(code)")
            }
        }
    }
}
