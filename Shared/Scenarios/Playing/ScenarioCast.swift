import EventTypes
import PaymentQueue

/// The names of a scenario and what they stand for in the store.
struct ScenarioCast: Sendable {
    /// The products.
    let products: [String: ProductID]
    /// The accounts.
    let accounts: [String: AccountID]
    /// The devices.
    let devices: [String: PlayedDevice]
    /// The payments that were made so far.
    var payments: [String: PlayedPayment] = [:]

    /// The product of a name in the file.
    func product(_ name: String) throws -> ProductID { try Self.find(name, "product", products) }

    /// The account of a name in the file.
    func account(_ name: String) throws -> AccountID { try Self.find(name, "account", accounts) }

    /// The device of a name in the file.
    func device(_ name: String) throws -> PlayedDevice { try Self.find(name, "device", devices) }

    /// The payment of a name in the file.
    func payment(_ name: String) throws -> PlayedPayment {
        try Self.find(name, "payment", payments)
    }

    /// The name of a product; its id if it is none of the scenario's.
    func name(of product: ProductID) -> String {
        products.first { $0.value == product }?.key ?? product.rawValue
    }

    /// The name of a payment; `nil` if it is none of the scenario's.
    func name(of transaction: TransactionID) -> String? {
        payments.first { $0.value.id == transaction }?.key
    }

    private static func find<Value>(_ name: String, _ kind: String, _ all: [String: Value]) throws
        -> Value
    {
        guard let value = all[name] else { throw StepFailure("there is no \(kind) '\(name)'") }
        return value
    }
}

/// A payment of a scenario as the store and its device know it.
struct PlayedPayment: Sendable {
    /// The name in the file.
    let name: String
    /// The account that pays.
    let account: AccountID
    /// The transaction of the device that paid.
    ///
    /// It is `nil` if no device did.
    let transaction: SKPaymentTransaction?
    private let resumed: TransactionID?

    /// A payment that a device has made.
    init(name: String, account: AccountID, transaction: SKPaymentTransaction) {
        self.name = name
        self.account = account
        self.transaction = transaction
        resumed = nil
    }

    /// A payment that goes on for an interrupted one.
    init(name: String, account: AccountID, id: TransactionID) {
        self.name = name
        self.account = account
        transaction = nil
        resumed = id
    }

    /// The transaction in the store; `nil` if the store has not accepted the payment.
    var id: TransactionID? {
        resumed ?? transaction.flatMap { TransactionID(rawValue: $0.id) }
    }

    /// The transaction in the store.
    ///
    /// - Throws: ``StepFailure`` if there is none.
    var accepted: TransactionID {
        get throws {
            guard let id else {
                throw StepFailure("the store has not accepted the payment '\(name)'")
            }
            return id
        }
    }

    /// Whether it is a transaction that a device has seen.
    func isOf(_ other: SKPaymentTransaction) -> Bool {
        transaction === other || (id != nil && id?.rawValue == other.id)
    }
}
