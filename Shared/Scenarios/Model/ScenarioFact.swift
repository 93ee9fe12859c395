/// A fact that has to become true.
public struct ScenarioFact: Hashable, Sendable {
    /// The line in the file.
    public let line: Int
    /// The subject of the fact.
    public let subject: ScenarioSubject
    /// The value that has to be observed.
    public let expected: ScenarioValue
}

/// Something that can be observed of a store.
public enum ScenarioSubject: Hashable, Sendable, CustomStringConvertible {
    /// The states of a payment that a device has seen, in order.
    case states(payment: String, device: String)
    /// The products that a device has restored.
    case restored(device: String)
    /// The payments in an account's queue.
    case unfinished(account: String)
    /// The payments in an account's queue that await their buyer at the bank.
    case awaitingBuyer(account: String)
    /// The products that an account owns.
    case owned(account: String)
    /// The names of the entitlements that an account has.
    case entitled(account: String)
    /// An account's balance of a unit.
    case credit(account: String, unit: String)
    /// A member of a transaction.
    case transaction(payment: String, field: String)
    /// A member of what the store has signed.
    case receipt(payment: String, field: String)
    /// A member of the subscription that a payment belongs to.
    case subscription(payment: String, field: String)
    /// An end of the subscription that a payment belongs to.
    case subscriptionEnd(payment: String, end: ScenarioPeriodEnd)
    /// The sum that an account of the ledger has received from a payment.
    case ledger(payment: String, account: String)
    /// The types of the notifications about a payment, in order.
    case notifications(payment: String)
    /// The types of the webhooks about a payment, in order.
    case webhooks(payment: String)

    /// The subject in words.
    public var description: String {
        switch self {
        case .states(let payment, let device): "the states of '\(payment)' on '\(device)'"
        case .restored(let device): "what '\(device)' has restored"
        case .unfinished(let account): "the queue of '\(account)'"
        case .awaitingBuyer(let account): "what awaits '\(account)' at the bank"
        case .owned(let account): "what '\(account)' owns"
        case .entitled(let account): "the named entitlements of '\(account)'"
        case .credit(let account, let unit): "the \(unit) of '\(account)'"
        case .transaction(let payment, let field): "\(field) of the transaction '\(payment)'"
        case .receipt(let payment, let field): "\(field) in the receipt of '\(payment)'"
        case .subscription(let payment, let field): "\(field) of the subscription '\(payment)'"
        case .subscriptionEnd(let payment, let end):
            "\(end.kind.rawValue) of the subscription '\(payment)'"
        case .ledger(let payment, let account): "\(account) in the ledger of '\(payment)'"
        case .notifications(let payment): "the notifications about '\(payment)'"
        case .webhooks(let payment): "the webhooks about '\(payment)'"
        }
    }
}

/// An expected or observed value.
public enum ScenarioValue: Hashable, Sendable, CustomStringConvertible {
    /// One value.
    case text(String)
    /// Values whose order matters.
    case sequence([String])
    /// Values whose order does not matter.
    case set(Set<String>)
    /// There is nothing to observe yet.
    case nothing

    /// The value in words.
    public var description: String {
        switch self {
        case .text(let text): text
        case .sequence(let values): values.isEmpty ? "none" : values.joined(separator: ", ")
        case .set(let values):
            values.isEmpty ? "none" : values.sorted().joined(separator: ", ")
        case .nothing: "nothing"
        }
    }
}
