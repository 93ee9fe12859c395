public import Foundation

/// The program's part in redeeming offer codes: it opens the store's page in a browser.
public struct CodeRedemptionSheet: Sendable {
    /// Returns the payment processor's token to charge for what a code does not make free.
    public var paymentMethod: @Sendable () async throws -> String
    /// Opens the page.
    ///
    /// Its address signs the account in for five minutes, so nobody else should get it.
    public var open: @Sendable (URL) -> Void

    /// Makes a sheet.
    public init(
        paymentMethod: @escaping @Sendable () async throws -> String,
        open: @escaping @Sendable (URL) -> Void
    ) {
        self.paymentMethod = paymentMethod
        self.open = open
    }
}
