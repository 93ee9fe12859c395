public import Foundation
public import ReceiptValidation
import StoreAPI

/// The property of a test receipt that has expired.
public let SKReceiptPropertyIsExpired = AppReceiptQuery.expired
/// The property of a test receipt that was revoked.
public let SKReceiptPropertyIsRevoked = AppReceiptQuery.revoked
/// The property of a test receipt of an app that was bought in volume.
public let SKReceiptPropertyIsVolumePurchase = AppReceiptQuery.volumePurchase

/// Asks the store for the app receipt and keeps it as a file (spec rules 78 to 83).
///
/// The receipt holds every purchase of the account in this app, from any device, signed by the
/// store; consumables only until they are finished. It makes no transactions. The file is at
/// ``StoreConfiguration/receiptURL`` and is replaced as a whole, or not at all: a receipt that
/// ``StoreConfiguration/receiptTrust`` does not believe replaces nothing.
///
/// `@unchecked`: the compiler wants the promise of ``SKRequest`` said again; what is added to it here
/// never changes.
public final class SKReceiptRefreshRequest: SKRequest, @unchecked Sendable {
    /// The properties asked for, for tests in the sandbox.
    public let receiptProperties: [String: any Sendable]?

    /// Makes a request; ``SKRequest/start()`` sends it.
    ///
    /// - Parameter properties: For tests in the sandbox, such as `[SKReceiptPropertyIsExpired: true]`;
    ///   `nil` asks for the receipt as it is.
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
    /// Where the app receipt is (`Bundle.appStoreReceiptURL`); there may be no file yet.
    public var receiptURL: URL? { transport?.configuration.receiptURL }

    /// Asks the store for the app receipt and keeps it; the `async` form of
    /// ``SKReceiptRefreshRequest``.
    ///
    /// - Parameter properties: For tests in the sandbox; `nil` asks for the receipt as it is.
    /// - Returns: The receipt, PKCS#7 in DER, as it was written.
    /// - Throws: ``SKError``, `ReceiptRefusal` if the receipt is not believed, `CancellationError`, or
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

    /// Reads the app receipt that is kept, without network.
    ///
    /// - Returns: What it says; `nil` if there is none, or ``StoreConfiguration/receiptTrust`` does
    ///   not say whom to believe. It may have expired.
    /// - Throws: `ReceiptRefusal` if it is not believed: ask for a new one, and where that does not
    ///   help, call ``SKTerminateForInvalidReceipt()``.
    public func appReceipt() throws(ReceiptRefusal) -> AppReceipt? {
        guard let configuration = transport?.configuration, let url = configuration.receiptURL,
            // A file that cannot be read is asked for again, like one that is not there.
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
                throw SKError(.clientInvalid, detail: "the receipt property \(name) is no Bool")
            }
            items.append(URLQueryItem(name: name, value: String(isSet)))
        }
        guard !items.isEmpty else { return "" }
        var components = URLComponents()
        components.queryItems = items
        return "?" + (components.percentEncodedQuery ?? "")
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

/// ``SKReceiptRefreshRequest`` without its prefix.
public typealias ReceiptRefreshRequest = SKReceiptRefreshRequest
