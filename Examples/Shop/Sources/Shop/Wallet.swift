import Foundation
import PaymentQueue

/// What this app gives by itself.
///
/// The steps are the books, so nothing is given twice, even if finishing a transaction fails again
/// and again.
struct Wallet: Sendable {
    private let log: StepLog

    init(url: URL) throws { log = try StepLog(url: url) }

    /// Gives what a transaction paid for.
    ///
    /// - Returns: Whether it was given now; `false` if it was given before.
    func deliver(_ transaction: SKPaymentTransaction) throws -> Bool {
        let product = transaction.payment.productIdentifier
        let coins = product.hasPrefix("com.example.coins.") ? 100 * transaction.payment.quantity : 0
        let gives = Self.unlockable.contains(product) ? product : String(coins)
        return try log.record("deliver", of: transaction, value: gives)
    }

    /// What is unlocked for good.
    private static let unlockable: Set = ["com.example.pro"]

    /// What was unlocked on this device: what a relaunch without network goes by (spec rule 128).
    var unlocked: Set<String> {
        Set(log.entries().compactMap(\.value)).intersection(Self.unlockable)
    }

    /// How many coins were given.
    var coins: Int { log.entries().compactMap { Int($0.value ?? "") }.reduce(0, +) }
}
