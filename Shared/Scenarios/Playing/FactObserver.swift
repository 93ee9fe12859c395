import EventTypes
import Foundation
import NIOHTTP1
import PaymentQueue
import ReceiptValidation
import StoreAPI

/// Observes the subjects of facts once.
///
/// It asks the store at most once for everything that several facts need.
struct FactObserver {
    let cast: ScenarioCast
    let connection: ScenarioConnection
    private let receipts: ReceiptValidator
    private var transactions: [TransactionID: EventTypes.Transaction] = [:]
    private var signed: [TransactionID: JWSTransaction] = [:]
    private var sums: [TransactionID: [String: Int64]] = [:]
    /// The subscriptions by the names of their payments.
    var subscriptions: [String: Subscription] = [:]

    init(_ cast: ScenarioCast, _ connection: ScenarioConnection, _ receipts: ReceiptValidator) {
        self.cast = cast
        self.connection = connection
        self.receipts = receipts
    }

    /// Observes all subjects.
    mutating func observe(
        _ subjects: some Sequence<ScenarioSubject>
    ) async throws -> [ScenarioSubject: ScenarioValue] {
        var values: [ScenarioSubject: ScenarioValue] = [:]
        for subject in subjects {
            do {
                values[subject] = try await observe(subject)
            } catch let refusal as ScenarioConnection.Refusal where refusal.status == 404 {
                // The store does not know it yet.
                values[subject] = .nothing
            }
        }
        return values
    }

    private mutating func observe(_ subject: ScenarioSubject) async throws -> ScenarioValue {
        switch subject {
        case .states(let payment, let device):
            let payment = try cast.payment(payment)
            let device = try cast.device(device)
            try device.startIfNew()
            let sighting = device.sightings.last { payment.isOf($0.transaction) }
            return .sequence(sighting?.states ?? [])
        case .restored(let device):
            return .set(Set(restored(on: try cast.device(device))))
        case .unfinished(let account):
            let unfinished = try await queue(of: try cast.account(account))
            return .set(Set(unfinished.map { name(of: $0) }))
        case .awaitingBuyer(let account):
            let waiting = try await queue(of: try cast.account(account))
                .filter { $0.awaitsBuyer ?? false }
            return .set(Set(waiting.map { name(of: $0) }))
        case .owned(let account):
            return .set(Set(try await owned(by: try cast.account(account))))
        case .entitled(let account):
            let named = try await entitlements(of: try cast.account(account)).named
            return .set(Set(named.map(\.name.rawValue)))
        case .credit(let account, let unit):
            let credits = try await connection.send(
                .GET,
                connection.store.addresses.fulfillment + Routes.credits,
                by: .account(try cast.account(account)),
                as: CreditsResponse.self
            )
            return .text("\(credits.balances[unit] ?? 0)")
        case .transaction(let payment, let field):
            guard let transaction = try await transaction(payment) else { return .nothing }
            return Self.value(of: field, in: transaction)
        case .receipt(let payment, let field):
            return try await receipt(payment, field)
        case .subscription(let payment, let field):
            return try await subscription(payment, field)
        case .subscriptionEnd(let payment, let end):
            return try await self.end(end, of: payment)
        case .ledger(let payment, let account):
            return try await ledger(payment, account)
        case .notifications(let payment): return .sequence(try notifications(about: payment))
        case .webhooks(let payment): return .sequence(try webhooks(about: payment))
        }
    }

    private func restored(on device: PlayedDevice) -> [String] {
        device.sightings.filter { $0.states.contains("restored") }.map {
            cast.name(of: ProductID(unchecked: $0.transaction.payment.productIdentifier))
        }
    }

    private func queue(of account: AccountID) async throws -> [EventTypes.Transaction] {
        try await connection.send(
            .GET,
            connection.store.addresses.fulfillment + Routes.queueTransactions,
            by: .account(account),
            as: QueueResponse.self
        ).transactions.map(\.transaction)
    }

    /// The name of a transaction in a queue: that of its payment, or its reason and its product.
    private func name(of transaction: EventTypes.Transaction) -> String {
        cast.name(of: transaction.id)
            ?? "\(transaction.reason.rawValue) of \(cast.name(of: transaction.productID))"
    }

    // MARK: - The merchant's server

    private struct SignedBody: Decodable { let signedPayload: String }

    private func notifications(about payment: String) throws -> [String] {
        guard let id = try cast.payment(payment).id else { return [] }
        return try (connection.store.merchant?.notifications ?? []).compactMap { body in
            let signed = try JSONDecoder().decode(SignedBody.self, from: Data(body)).signedPayload
            let notification = try receipts.verify(signed, as: JWSNotification.self)
            guard let inner = notification.data?.signedTransactionInfo else { return nil }
            let transaction = try receipts.verify(inner, as: JWSTransaction.self)
            return transaction.transactionId == id.rawValue ? notification.notificationType : nil
        }
    }

    private struct WebhookBody: Decodable {
        struct Subject: Decodable { let id: TransactionID }

        let type: String
        let transaction: Subject
    }

    private func webhooks(about payment: String) throws -> [String] {
        guard let id = try cast.payment(payment).id else { return [] }
        return try (connection.store.merchant?.webhooks ?? []).compactMap { bytes in
            let body = try JSONDecoder().decode(WebhookBody.self, from: Data(bytes))
            return body.transaction.id == id ? body.type : nil
        }
    }

    // MARK: - One payment

    private mutating func transaction(_ name: String) async throws -> EventTypes.Transaction? {
        let payment = try cast.payment(name)
        guard let id = payment.id else { return nil }
        if let known = transactions[id] { return known }
        let transaction = try await connection.transaction(of: payment)
        transactions[id] = transaction
        return transaction
    }

    private static func value(of field: String, in transaction: EventTypes.Transaction)
        -> ScenarioValue
    {
        switch field {
        case "state": .text(transaction.state.rawValue)
        case "failure": transaction.failureReason.map { .text($0.rawValue) } ?? .nothing
        case "reason": .text(transaction.reason.rawValue)
        case "price": .text(transaction.price.description)
        case "refunded": .text(transaction.refunded.description)
        case "revoked": .text("\(transaction.revokedAt != nil)")
        case "quantity": .text("\(transaction.quantity)")
        default: .nothing
        }
    }

    private mutating func receipt(_ name: String, _ field: String) async throws -> ScenarioValue {
        let payment = try cast.payment(name)
        guard let id = payment.id else { return .nothing }
        let receipt: JWSTransaction
        if let known = signed[id] {
            receipt = known
        } else {
            let answer = try await connection.send(
                .GET,
                connection.store.addresses.receipts + Routes.receipt(id),
                by: .account(payment.account),
                as: ReceiptResponse.self
            )
            do {
                receipt = try receipts.verify(answer.signedTransaction)
            } catch {
                throw StepFailure("the receipt of '\(name)' is not valid: \(error)")
            }
            signed[id] = receipt
        }
        switch field {
        case "product": return .text(cast.name(of: ProductID(unchecked: receipt.productId)))
        case "type": return .text(receipt.type)
        case "price": return receipt.money.map { .text($0.description) } ?? .nothing
        case "quantity": return .text("\(receipt.quantity)")
        case "storefront": return receipt.storefront.map { .text($0) } ?? .nothing
        case "revoked": return .text("\(receipt.revocationDate != nil)")
        default: return .nothing
        }
    }

    private mutating func ledger(_ name: String, _ account: String) async throws -> ScenarioValue {
        guard let transaction = try await transaction(name), let ledger = connection.store.ledger
        else { return .nothing }
        let entries: [String: Int64]
        if let known = sums[transaction.id] {
            entries = known
        } else {
            entries = try await ledger(transaction.id)
            sums[transaction.id] = entries
        }
        let sum = entries.filter { $0.key == account || $0.key.hasPrefix("\(account):") }.values
            .reduce(0, +)
        return .text(
            Money(minorUnits: sum, currency: transaction.price.currency).description
        )
    }
}

extension EventTypes.Transaction {
    /// The sum of its refunds that were not reversed.
    fileprivate var refunded: Money {
        let amounts = (refunds ?? []).filter { $0.reversedAt == nil }.map(\.amount.minorUnits)
        return Money(minorUnits: amounts.reduce(0, +), currency: price.currency)
    }
}

extension JWSTransaction {
    /// The price, which is signed in thousandths of the currency's unit.
    fileprivate var money: Money? {
        guard let price, let currency = currency.flatMap(Currency.init(rawValue:)) else {
            return nil
        }
        let divisor: Int64 = [1000, 100, 10][min(currency.exponent, 2)]
        return Money(
            minorUnits: currency.exponent >= 3 ? price : price / divisor,
            currency: currency
        )
    }
}
