import Messaging
import ServiceKit

/// Why `receipts` did not sign, store or serve, without payload, token or key material.
struct ReceiptsError: RetriableHandlerError, RetriableError, Hashable, CustomStringConvertible {
    /// The kinds of failure; a struct, so that it can grow.
    struct Code: Hashable, Sendable, CustomStringConvertible {
        let description: String

        /// The event's transaction is not paid for, so there is nothing to sign.
        static let transactionNotPaid = Code(description: "transaction_not_paid")
        /// The product type has no name in Apple's vocabulary that this version knows.
        static let productTypeUnknown = Code(description: "product_type_unknown")
        /// The price does not fit the milliunits of a signed transaction.
        static let priceOutOfRange = Code(description: "price_out_of_range")
        /// The clock, or the transaction's date, lies outside the validity of the certificates.
        static let chainNotValid = Code(description: "chain_not_valid")
        /// A file in `OCSP_DIRECTORY` is missing, or is not what it has to be.
        static let statusFilesUnusable = Code(description: "status_files_unusable")
        /// A row of our own tables is not what we wrote.
        static let storedReceiptMalformed = Code(description: "stored_receipt_malformed")
    }

    /// What kind of failure it is.
    let code: Code
    /// What happened and, where there is something to do, what.
    let detail: String

    /// Whether the same event or request can succeed later: once the operator has
    /// replaced the chain.
    var isRetriable: Bool { code == .chainNotValid }

    var description: String { "\(code): \(detail)" }
}
