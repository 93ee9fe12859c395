import EventTypes
import Foundation
import Logging
import ReceiptValidation
import ServiceKit

/// Answers what servers ask of `verifyReceipt`.
///
/// The receipt is believed by the same validator that devices use, so that the two agree (spec rule
/// 84); what the account has bought since is added from the database.
struct VerifyReceiptHandler: Sendable {
    /// How many of a receipt's purchases are looked up to find its account.
    private static let lookupsMax = 100

    let reader: AppReceiptReader
    let secrets: SharedSecrets
    let logger: Logger
    private let validator: ReceiptValidator

    /// Makes a handler.
    ///
    /// - Parameters:
    ///   - reader: Reads what the account has bought.
    ///   - roots: The roots that this store's receipts are signed under, in DER.
    ///   - secrets: The shared secrets of apps.
    ///   - logger: Told of failures of this service.
    init(reader: AppReceiptReader, roots: [[UInt8]], secrets: SharedSecrets, logger: Logger) {
        self.reader = reader
        self.secrets = secrets
        self.logger = logger
        validator = ReceiptValidator(
            ReceiptTrust(roots: roots, environment: reader.environment.ofReceipts)
        )
    }

    /// Answers a body.
    func answer(_ body: Data) async -> VerifyReceiptAnswer {
        do {
            return try await answer(VerifyReceiptRequest(body))
        } catch let status as VerifyReceiptStatus {
            return VerifyReceiptAnswer(status: status)
        } catch let error as any RetriableError where error.isRetriable {
            return VerifyReceiptAnswer(status: .unavailable)
        } catch {
            logger.error("A receipt could not be verified", metadata: ["error": "\(error)"])
            return VerifyReceiptAnswer(status: .failed)
        }
    }

    private func answer(_ request: VerifyReceiptRequest) async throws -> VerifyReceiptAnswer {
        let receipt = try believed(request.receipt)
        try checkSecret(request.password, for: receipt)
        guard let bundleID = BundleID(rawValue: receipt.bundleID) else {
            throw VerifyReceiptStatus.malformed
        }
        let ids = receipt.purchases.suffix(Self.lookupsMax).compactMap {
            TransactionID(rawValue: $0.transactionID)
        }
        var answer = VerifyReceiptAnswer(status: .valid)
        answer.environment = receipt.environment.rawValue
        answer.receipt = VerifyReceiptAnswer.Receipt(receipt, at: reader.now())
        guard !ids.isEmpty else { return answer }
        guard let account = try await reader.account(of: ids, in: bundleID) else {
            throw VerifyReceiptStatus.accountGone
        }
        let owner = (account: account, bundle: bundleID)
        let entries = try await reader.entries(of: owner)
        var question = AppReceiptQuestion()
        question.applicationVersion = receipt.applicationVersion
        answer.latestReceipt = Data(
            try reader.receipt(of: owner, question, entries: entries)
        ).base64EncodedString()
        answer.latestReceiptInfo = VerifyReceiptAnswer.latest(
            entries,
            excludesOldTransactions: request.excludesOldTransactions
        )
        return answer
    }

    /// The receipt, if it is this store's.
    ///
    /// One that says it is of the other environment is sent there, whoever signed it: the other
    /// store may have another root, and believes nothing that it has not signed.
    private func believed(_ bytes: [UInt8]) throws(VerifyReceiptStatus) -> AppReceipt {
        do throws(ReceiptRefusal) {
            return try validator.appReceipt(bytes)
        } catch {
            let claimed = AppReceipt.claimedEnvironment(of: bytes)
            guard let claimed, claimed != validator.trust.environment else {
                throw VerifyReceiptStatus(error)
            }
            throw claimed == .sandbox ? .sandboxReceipt : .productionReceipt
        }
    }

    /// A secret that was sent has to be the app's; one has to be sent for subscriptions of an app
    /// that has one.
    private func checkSecret(
        _ password: String?,
        for receipt: AppReceipt
    ) throws(VerifyReceiptStatus) {
        if let password {
            guard secrets.isSecret(password, of: receipt.bundleID) else { throw .sharedSecret }
        } else if secrets.has(receipt.bundleID),
            receipt.purchases.contains(where: { $0.expiresAt != nil })
        {
            throw .sharedSecret
        }
    }
}
