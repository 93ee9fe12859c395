public import Foundation
public import ReceiptValidation
import StoreAPI

/// The property for a test receipt that has expired.
public let SKReceiptPropertyIsExpired = AppReceiptQuery.expired
/// The property for a test receipt that was revoked.
public let SKReceiptPropertyIsRevoked = AppReceiptQuery.revoked
/// The property for a test receipt of a volume purchase.
public let SKReceiptPropertyIsVolumePurchase = AppReceiptQuery.volumePurchase

/// A request that loads the app receipt from the store and stores it in a file (spec rules 78 to
/// 83).
///
/// The store signs the receipt. It contains all purchases of the account in this app, from any
/// device, but consumables only until they are finished. The request makes no transactions. The
/// file at ``StoreConfiguration/receiptURL`` is replaced atomically. A receipt that fails the
/// checks of ``StoreConfiguration/receiptTrust`` does not replace it.
public final class SKReceiptRefreshRequest: SKRequest,
    @unchecked Sendable  // A subclass has to repeat it. This one adds only a constant.
{
    /// The requested properties, for tests in the sandbox.
    public let receiptProperties: [String: any Sendable]?

    /// Makes a request; ``SKRequest/start()`` sends it.
    ///
    /// - Parameter properties: For tests in the sandbox, such as `[SKReceiptPropertyIsExpired:
    ///   true]`; `nil` requests the normal receipt.
    public init(receiptProperties properties: [String: any Sendable]? = nil) {
        receiptProperties = properties
        super.init()
    }

    override func perform(
        on queue: SKPaymentQueue
    ) async throws -> @Sendable (any SKRequestDelegate) -> Void {
        try await queue.refreshReceipt(properties: receiptProperties)
        return { _ in }
    }
}

extension SKPaymentQueue {
    /// The URL of the app receipt (`Bundle.appStoreReceiptURL`).
    ///
    /// The file may not exist yet.
    public var receiptURL: URL? { transport?.configuration.receiptURL }

    /// Loads the app receipt from the store and stores it in a file.
    ///
    /// This is the `async` form of ``SKReceiptRefreshRequest``.
    ///
    /// - Parameter properties: For tests in the sandbox; `nil` requests the normal receipt.
    /// - Returns: The receipt as it was written: PKCS#7 in DER.
    /// - Throws: ``SKError``, `ReceiptRefusal` if the receipt is not valid, `CancellationError`, or
    ///   an error of the file system.
    @discardableResult
    public func refreshReceipt(properties: [String: any Sendable]? = nil) async throws -> Data {
        guard let transport else {
            throw SKError.notConfigured
        }
        let configuration = transport.configuration
        let receipt: Data
        do {
            receipt = try await transport.bytes(
                .get(
                    configuration.addresses.receipts + Routes.appReceipt
                        + (try query(of: configuration, properties))
                )
            )
        } catch let failure as StoreFailure {
            throw failure.error
        }
        _ = try believed(receipt, by: configuration)
        if let url = configuration.receiptURL {
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try receipt.write(to: url, options: .atomic)
        }
        return receipt
    }

    /// Reads the stored app receipt without the network.
    ///
    /// - Returns: The contents of the receipt; `nil` if there is no receipt or no
    ///   ``StoreConfiguration/receiptTrust``. The receipt may have expired.
    /// - Throws: `ReceiptRefusal` if the receipt is not valid. Request a new one. If that does not
    ///   help, call ``SKTerminateForInvalidReceipt()``.
    public func appReceipt() throws(ReceiptRefusal) -> AppReceipt? {
        guard let configuration = transport?.configuration, let url = configuration.receiptURL,
            // An unreadable file is treated like a missing one: the receipt is requested again.
            let receipt = try? Data(contentsOf: url)
        else { return nil }
        return try believed(receipt, by: configuration)
    }

    private func believed(
        _ receipt: Data,
        by configuration: StoreConfiguration
    ) throws(ReceiptRefusal) -> AppReceipt? {
        guard let validator else { return nil }
        return try validator.appReceipt(
            receipt,
            deviceID: configuration.deviceID.map { id in withUnsafeBytes(of: id.uuid) { Array($0) }
            }
        )
    }

    private func query(
        of configuration: StoreConfiguration,
        _ properties: [String: any Sendable]?
    ) throws -> String {
        var items: [URLQueryItem] = []
        if let device = configuration.deviceID {
            items.append(URLQueryItem(name: AppReceiptQuery.device, value: device.uuidString))
        }
        if let version = configuration.applicationVersion {
            items.append(URLQueryItem(name: AppReceiptQuery.applicationVersion, value: version))
        }
        for (name, value) in (properties ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard let isSet = value as? Bool else {
                throw SKError(.clientInvalid, detail: "the receipt property \(name) is not a Bool")
            }
            items.append(URLQueryItem(name: name, value: String(isSet)))
        }
        guard !items.isEmpty else { return "" }
        var components = URLComponents()
        components.queryItems = items
        return "?" + (components.percentEncodedQuery ?? "")
    }
}

/// Ends an app whose receipt is not valid (spec rule 90).
///
/// It first calls ``StoreConfiguration/invalidReceiptHandler``. The app ends with status 173, which
/// asks the system for a new receipt.
public func SKTerminateForInvalidReceipt() -> Never {
    SKPaymentQueue.default().transport?.configuration.invalidReceiptHandler?()
    FileHandle.standardError.write(
        Data("The receipt of this app is not valid; the app ends with status 173.\n".utf8)
    )
    exit(173)
}

/// ``SKReceiptRefreshRequest`` without its prefix.
public typealias ReceiptRefreshRequest = SKReceiptRefreshRequest
