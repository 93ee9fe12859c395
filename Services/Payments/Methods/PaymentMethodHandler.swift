import ClockAndIDs
import EventTypes
import Postgres
import StoreAPI
import Stripe

/// Lets buyers save payment methods at Stripe.
///
/// The app gives the card to Stripe itself. The store only begins, and afterwards asks Stripe what was
/// saved.
struct PaymentMethodHandler: Sendable {
    let client: PostgresClient
    let accounts: StripeAccounts
    let now: @Sendable () -> MachineTime
    /// Charges for what is owed once there is a card that may pay it.
    var dunning: DunningHandler?

    /// The answer to the completion of a setup.
    enum Completion: Sendable {
        case saved
        /// The account has no such setup.
        case unknown
        /// The buyer has not finished.
        case unfinished
    }

    /// Reads the methods that an account may pay with.
    func methods(of account: AccountKey) async throws -> [SavedPaymentMethod] {
        let name = accounts.of(account.bundleID).name
        return try await client.withConnection {
            try PaymentMethodStore.load(of: account, at: name, on: $0)
        }
    }

    /// Begins to save a method of an account.
    ///
    /// - Throws: `StripeFailure`; `PostgresError`.
    func begin(for account: AccountKey) async throws -> StripeSetupIntent {
        let stripe = accounts.of(account.bundleID)
        let customer = try await customer(of: account, at: stripe)
        let key = StripeIdempotencyKey(attempt: "\(newID)", kind: .setup)
        return try await stripe.gate.pass(.setups) { () async throws(StripeFailure) in
            try await stripe.client.createSetupIntent(customer: customer, metadata: [:], key: key)
        }
    }

    /// Saves what the buyer has given to Stripe, when the buyer asks.
    ///
    /// A setup that was begun before the app got another account at Stripe is found at the old one.
    ///
    /// - Parameters:
    ///   - id: The setup.
    ///   - account: The account that asks.
    /// - Returns: Whether a method is saved.
    /// - Throws: `StripeFailure`; `PostgresError`.
    func complete(_ id: String, for account: AccountKey) async throws -> Completion {
        let present = accounts.of(account.bundleID).name
        let known = try await client.withConnection { connection in
            try CustomerStore.processors(of: account, on: connection)
        }
        for name in known.filter({ $0 == present }) + known.filter({ $0 != present }) {
            guard let stripe = accounts.named(name) else { continue }
            let completion = try await complete(id, for: account, at: stripe)
            guard completion == .unknown else { return completion }
        }
        return .unknown
    }

    /// Saves what the buyer has given to an account at Stripe.
    ///
    /// - Parameters:
    ///   - id: The setup.
    ///   - account: The account that asks; `nil` if Stripe has told of it.
    ///   - stripe: The account at Stripe.
    /// - Returns: Whether a method is saved.
    /// - Throws: `StripeFailure`; `PostgresError`.
    func complete(
        _ id: String,
        for account: AccountKey?,
        at stripe: StripeAccount
    ) async throws -> Completion {
        guard let setup = try await setup(id, at: stripe), let customer = setup.customer?.id else {
            return .unknown
        }
        let owner = try await client.withConnection { [name = stripe.name] connection in
            try CustomerStore.account(of: customer, in: name, on: connection)
        }
        guard let owner, account == nil || account == owner else { return .unknown }
        guard setup.status == "succeeded", let method = setup.paymentMethod else {
            return .unfinished
        }
        let saved = try await stripe.gate.pass(.setups) { () async throws(StripeFailure) in
            try await stripe.client.paymentMethod(method.id)
        }
        // What belongs to nobody, or to another buyer by now, cannot be charged.
        guard saved.customer?.id == customer, let card = saved.card else { return .unknown }
        let entry = SavedPaymentMethod(
            token: PaymentMethod(rawValue: saved.id),
            brand: card.brand,
            lastFour: card.lastFour,
            expiryMonth: card.expiryMonth,
            expiryYear: card.expiryYear,
            mandate: setup.id
        )
        // A repetition saves nothing, so it ends nothing.
        let known = try await client.withConnection {
            try PaymentMethodStore.owner(of: entry.token, on: $0)
        }
        if known == nil { try await dunning?.endWaiting(of: owner, insteadOf: entry.token) }
        let attempts = try await client.withTransaction {
            [now, dunning, name = stripe.name] connection in
            let owed = try dunning?.owed(by: owner, on: connection) ?? []
            let isNew = try PaymentMethodStore.insert(
                entry,
                of: owner,
                in: name,
                at: now(),
                on: connection
            )
            guard isNew else { return [ProcessorAttempt]() }
            return try dunning?.charge(owed, by: entry.token, on: connection) ?? []
        }
        dunning?.didCommit(attempts)
        return .saved
    }

    /// Reads a setup; `nil` if there is none.
    private func setup(
        _ id: String,
        at stripe: StripeAccount
    ) async throws(StripeFailure) -> StripeSetupIntent? {
        // Whatever else an account names costs no call.
        guard id.hasPrefix("seti_") else { return nil }
        do throws(StripeFailure) {
            return try await stripe.gate.pass(.setups) { () async throws(StripeFailure) in
                try await stripe.client.setupIntent(id)
            }
        } catch {
            guard error.kind == .missing else { throw error }
            return nil
        }
    }

    /// The buyer of an account at an account at Stripe, who is made there if there is none.
    private func customer(
        of account: AccountKey,
        at stripe: StripeAccount
    ) async throws -> String {
        let (time, newKey) = (now(), newID)
        let customer = try await client.withTransaction { [name = stripe.name] connection in
            try CustomerStore.begin(account, in: name, key: newKey, at: time, on: connection)
        }
        if let reference = customer.reference { return reference }
        let key = StripeIdempotencyKey(attempt: "\(customer.key)", kind: .customer)
        do {
            let made = try await stripe.gate.pass(.setups) { () async throws(StripeFailure) in
                try await stripe.client.createCustomer(
                    metadata: ["customer_key": "\(customer.key)"],
                    key: key
                )
            }
            return try await client.withConnection {
                try CustomerStore.name(customer, made.id, on: $0)
            }
        } catch let failure as StripeFailure where failure.isReplayed && failure.kind == .unknown {
            // No call under the key will ever make a buyer. A spare one does no harm.
            try await client.withConnection {
                try CustomerStore.replaceKey(of: customer, by: newKey, on: $0)
            }
            throw failure
        }
    }

    private var newID: EventID { EventID(time: now()) }
}

/// Removes saved payment methods, and follows what banks change of them.
extension PaymentMethodHandler {
    /// Removes a method of an account.
    ///
    /// Stripe forgets it first, so a removal that was interrupted is repeated. A subscription that is
    /// paid with it is declined at its next renewal.
    ///
    /// - Returns: Whether the account has saved it.
    /// - Throws: `StripeFailure`; `PostgresError`.
    func remove(_ method: PaymentMethod, of account: AccountKey) async throws -> Bool {
        let owner = try await client.withConnection {
            try PaymentMethodStore.owner(of: method, on: $0)
        }
        guard let owner, owner.account == account else { return false }
        guard let stripe = accounts.named(owner.processor) else {
            // Nobody can ask Stripe to forget the card until its account is in the settings again.
            throw StripeFailure(.throttled(after: StripeProcessor.mistakePause))
        }
        let key = StripeIdempotencyKey(
            attempt: method.rawValue,
            kind: .detach,
            generation: Int(now().millisecondsSinceEpoch)
        )
        do throws(StripeFailure) {
            _ = try await stripe.gate.pass(.setups) { () async throws(StripeFailure) in
                try await stripe.client.detachPaymentMethod(method.rawValue, key: key)
            }
        } catch {
            if error.kind != .missing {
                guard error.status == 400 else { throw error }
                // Stripe refuses to remove what it has removed before. No other refusal removes it.
                let found = try await stripe.gate.pass(.setups) { () async throws(StripeFailure) in
                    try await stripe.client.paymentMethod(method.rawValue)
                }
                guard found.customer == nil else { throw error }
            }
        }
        try await client.withConnection { [now] in
            try PaymentMethodStore.remove(method, at: now(), on: $0)
        }
        return true
    }

    /// Writes what a saved method is now, after its account at Stripe has told of a change.
    ///
    /// - Throws: `StripeFailure`; `PostgresError`.
    func refresh(_ id: String, at stripe: StripeAccount) async throws {
        let method = PaymentMethod(rawValue: id)
        let saved = try await client.withConnection {
            try PaymentMethodStore.owner(of: method, on: $0)
        }
        guard let saved, saved.processor == stripe.name else { return }
        let owner = saved.account
        let found = try await stripe.gate.pass(.inquiries) { () async throws(StripeFailure) in
            try await stripe.client.paymentMethod(id)
        }
        let attempts = try await client.withTransaction { [now, dunning] connection in
            let owed = try dunning?.owed(by: owner, on: connection) ?? []
            guard found.customer != nil, let card = found.card else {
                try PaymentMethodStore.remove(method, at: now(), on: connection)
                return [ProcessorAttempt]()
            }
            let isMended = try PaymentMethodStore.renew(
                method,
                brand: card.brand,
                lastFour: card.lastFour,
                expiryMonth: card.expiryMonth,
                expiryYear: card.expiryYear,
                on: connection
            )
            guard isMended else { return [] }
            return try dunning?.tryAgain(owed, by: method, on: connection) ?? []
        }
        dunning?.didCommit(attempts)
    }
}
