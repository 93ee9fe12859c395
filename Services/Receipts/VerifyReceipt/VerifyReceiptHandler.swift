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
    /// A body of so many bytes is one of the many; it holds some 400 purchases.
    static let smallLength = 256 * 1024
    /// So many purchases of an account are an answer as others.
    static let smallCount = 400

    let reader: AppReceiptReader
    let secrets: SharedSecrets
    let logger: Logger
    /// How much is in work at once.
    let admission = VerifyReceiptAdmission()
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
    ///
    /// - Parameters:
    ///   - body: The request's.
    ///   - encode: Writes the answer; what is large is written while it has its place.
    /// - Returns: What was written.
    /// - Throws: What writing throws.
    func answer<Encoded: Sendable>(
        _ body: Data,
        _ encode: (VerifyReceiptAnswer) throws -> Encoded
    ) async throws -> Encoded {
        do {
            guard body.count > Self.smallLength else {
                let question = try await question(body)
                if let answer = try await answer(question, upTo: Self.smallCount) {
                    return try encode(answer)
                }
                // A small receipt may be of an account that has bought much since.
                return try await admission.large {
                    try encode(try await wholeAnswer(question))
                }
            }
            return try await admission.large {
                try encode(try await wholeAnswer(try await question(body)))
            }
        } catch let status as VerifyReceiptStatus {
            return try encode(VerifyReceiptAnswer(status: status))
        } catch let error as any RetriableError where error.isRetriable {
            return try encode(VerifyReceiptAnswer(status: .unavailable))
        } catch {
            logger.error("A receipt could not be verified", metadata: ["error": "\(error)"])
            return try encode(VerifyReceiptAnswer(status: .failed))
        }
    }

    /// What is asked, of a receipt that is believed.
    private struct Question {
        var receipt: AppReceipt
        /// Whose it is; `nil` for a receipt without purchases, which tells of nobody.
        var owner: (account: AccountID, bundle: BundleID)?
        var excludesOldTransactions: Bool
    }

    private func question(_ body: Data) async throws -> Question {
        let request = try VerifyReceiptRequest(body)
        let receipt = try believed(request.receipt)
        try checkSecret(request.password, for: receipt)
        guard let bundleID = BundleID(rawValue: receipt.bundleID) else {
            throw VerifyReceiptStatus.malformed
        }
        var question = Question(
            receipt: receipt,
            excludesOldTransactions: request.excludesOldTransactions
        )
        let ids = receipt.purchases.suffix(Self.lookupsMax).compactMap {
            TransactionID(rawValue: $0.transactionID)
        }
        guard !ids.isEmpty else { return question }
        guard let account = try await reader.account(of: ids, in: bundleID) else {
            throw VerifyReceiptStatus.accountGone
        }
        question.owner = (account, bundleID)
        return question
    }

    private func wholeAnswer(_ question: Question) async throws -> VerifyReceiptAnswer {
        guard let answer = try await answer(question, upTo: AppReceiptReader.entriesMax) else {
            throw VerifyReceiptStatus.failed
        }
        return answer
    }

    /// The answer, with what the account has bought by now.
    ///
    /// - Returns: `nil` if that is more than `limit`, unless no receipt has more.
    private func answer(_ question: Question, upTo limit: Int) async throws -> VerifyReceiptAnswer?
    {
        var answer = VerifyReceiptAnswer(status: .valid)
        answer.environment = question.receipt.environment.rawValue
        answer.receipt = VerifyReceiptAnswer.Receipt(question.receipt, at: reader.now())
        guard let owner = question.owner else { return answer }
        // One more tells whether there are more.
        let limit = min(limit + 1, AppReceiptReader.entriesMax)
        let entries = try await reader.entries(of: owner, upTo: limit)
        guard entries.count < limit || limit == AppReceiptReader.entriesMax else { return nil }
        var present = AppReceiptQuestion()
        present.applicationVersion = question.receipt.applicationVersion
        answer.latestReceipt = Data(
            try reader.receipt(of: owner, present, entries: entries)
        ).base64EncodedString()
        answer.latestReceiptInfo = VerifyReceiptAnswer.latest(
            entries,
            excludesOldTransactions: question.excludesOldTransactions
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
