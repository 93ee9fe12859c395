public import Foundation
import StoreAPI

/// Asks the store for the app receipt and keeps it as a file (spec rules 78 to 82).
///
/// The receipt holds every purchase of the account in this app, from any device, signed by the
/// store; consumables only until they are finished. It makes no transactions. The file is at
/// ``StoreConfiguration/receiptURL`` and is replaced as a whole, or not at all.
public final class SKReceiptRefreshRequest: SKRequest, @unchecked Sendable {
    // `@unchecked`: as its superclass says.

    /// The properties asked for, for tests in the sandbox.
    public let receiptProperties: [String: any Sendable]?

    /// Makes a request; ``SKRequest/start()`` sends it.
    ///
    /// - Parameter properties: For tests in the sandbox; `nil` asks for the receipt as it is.
    public init(receiptProperties properties: [String: any Sendable]? = nil) {
        receiptProperties = properties
        super.init()
    }

    override func perform(
        on queue: SKPaymentQueue
    ) async throws -> @Sendable (any SKRequestDelegate) -> Void {
        try await queue.refreshReceipt()
        return { _ in }
    }
}

extension SKPaymentQueue {
    /// Where the app receipt is (`Bundle.appStoreReceiptURL`); there may be no file yet.
    public var receiptURL: URL? { transport?.configuration.receiptURL }

    /// Asks the store for the app receipt and keeps it; the `async` form of
    /// ``SKReceiptRefreshRequest``.
    ///
    /// - Returns: The receipt, as it was written.
    /// - Throws: ``SKError``, `CancellationError`, or an error of the file system.
    @discardableResult
    public func refreshReceipt() async throws -> Data {
        guard let transport else {
            throw SKError.notConfigured
        }
        let receipt: Data
        do {
            receipt = try await transport.bytes(
                .get(transport.configuration.addresses.receipts + Routes.appReceipt)
            )
        } catch let failure as StoreFailure {
            throw failure.error
        }
        if let url = transport.configuration.receiptURL {
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try receipt.write(to: url, options: .atomic)
        }
        return receipt
    }
}

/// Ends an app whose receipt does not hold (spec rule 90).
///
/// ``StoreConfiguration/invalidReceiptHandler`` is called first. The app ends with the status that
/// asks the system for a new receipt, 173.
public func SKTerminateForInvalidReceipt() -> Never {
    SKPaymentQueue.default().transport?.configuration.invalidReceiptHandler?()
    FileHandle.standardError.write(
        Data("The receipt of this app does not hold; the app ends with status 173.\n".utf8)
    )
    exit(173)
}
