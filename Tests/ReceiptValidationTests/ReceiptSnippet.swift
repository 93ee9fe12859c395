import Foundation
import ReceiptValidation

/// The Swift code of `ReceiptValidation.md`, compiled; `SnippetTests` in TidyTests compares the two.
private struct ReceiptSnippet {
    let rootInDER: [UInt8]
    let jws: String
    let receiptURL: URL
    let deviceID: [UInt8]

    func validate() throws {
        let validator = ReceiptValidator(
            ReceiptTrust(roots: [rootInDER], bundleID: "com.example.app", environment: .production)
        )
        let transaction = try validator.verify(jws, as: JWSTransaction.self)
        let receipt = try validator.appReceipt(Data(contentsOf: receiptURL), deviceID: deviceID)
        _ = (transaction, receipt)
    }
}
