import Messaging
import ServiceKit

/// A failure of `receipts` to sign, store or serve, without payload, token or key material.
struct ReceiptsError: RetriableHandlerError, RetriableError, Hashable, CustomStringConvertible {
    /// The kinds of failure.
    ///
    /// It is a struct so that kinds can be added.
    struct Code: Hashable, Sendable, CustomStringConvertible {
        let description: String

        /// The transaction in the event is not paid, so there is nothing to sign.
        static let transactionNotPaid = Code(description: "transaction_not_paid")
        /// The product type has no name in Apple's vocabulary known to this version.
        static let productTypeUnknown = Code(description: "product_type_unknown")
        /// The price does not fit into the milliunits of a signed transaction.
        static let priceOutOfRange = Code(description: "price_out_of_range")
        /// The clock, or the transaction's date, lies outside the validity of the certificates.
        static let chainNotValid = Code(description: "chain_not_valid")
        /// A file in `OCSP_DIRECTORY` is missing or invalid.
        static let statusFilesUnusable = Code(description: "status_files_unusable")
        /// A signing chain that was stored is not there.
        static let signingChainMissing = Code(description: "signing_chain_missing")
        /// A transaction that has to be named has no receipt.
        static let receiptMissing = Code(description: "receipt_missing")
        /// A row in this service's own tables is not as it was written.
        static let storedReceiptMalformed = Code(description: "stored_receipt_malformed")
    }

    /// The kind of failure.
    let code: Code
    /// The failure and, if possible, its remedy.
    let detail: String

    /// Whether the same event or request can succeed later, after the operator has replaced the
    /// chain.
    var isRetriable: Bool { code == .chainNotValid }

    var description: String { "\(code): \(detail)" }
}
