import Foundation
import PaymentQueue

/// The deliveries that this app makes itself.
///
/// The log of steps is the record of deliveries, so nothing is granted twice, even if finishing a
/// transaction fails repeatedly.
struct Wallet: Sendable {
    private let log: StepLog

    init(url: URL) throws { log = try StepLog(url: url) }

    /// Grants what a transaction paid for.
    ///
    /// Each period of a subscription is a transaction of its own, and so grants its coins once.
    ///
    /// - Returns: `true` if it was granted now; `false` if it was granted before.
    func deliver(_ transaction: SKPaymentTransaction) throws -> Bool {
        let product = transaction.payment.productIdentifier
        var coins = 0
        if product.hasPrefix("com.example.coins.") { coins = 100 * transaction.payment.quantity }
        if product.hasPrefix("com.example.club.") { coins = Self.coinsOfAMonth }
        let gives = Self.unlockable.contains(product) ? product : String(coins)
        return try log.record("deliver", of: transaction, value: gives)
    }

    /// The coins for each month in the club.
    private static let coinsOfAMonth = 50

    /// The products that stay unlocked permanently.
    private static let unlockable: Set = ["com.example.pro"]

    /// The products unlocked on this device.
    ///
    /// A relaunch without a network uses them (spec rule 128).
    var unlocked: Set<String> {
        Set(log.entries().compactMap(\.value)).intersection(Self.unlockable)
    }

    /// The number of coins granted.
    var coins: Int { log.entries().compactMap { Int($0.value ?? "") }.reduce(0, +) }
}
