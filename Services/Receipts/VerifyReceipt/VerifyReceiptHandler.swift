import EventTypes
import Foundation
import Logging
import ReceiptValidation
import ServiceKit

/// Answers servers' requests to `verifyReceipt`.
///
/// The validator that devices use also checks the receipt here, so that the two agree (spec rule
/// 84). The account's later purchases are added from the database.
struct VerifyReceiptHandler: Sendable {
    /// The number of a receipt's purchases that are looked up to find its account.
    private static let lookupsMax = 100
    /// A body up to this length is not large.
    ///
    /// It holds some 400 purchases.
    static let smallLength = 256 * 1024
    /// An answer up to this number of purchases is not large.
    static let smallCount = 400

    let reader: AppReceiptReader
    let secrets: SharedSecrets
    let logger: Logger
    /// The limits for concurrent work.
    let admission = VerifyReceiptAdmission()
    private let validator: ReceiptValidator

    /// Creates a handler.
    ///
    /// - Parameters:
    ///   - reader: Reads the account's purchases.
    ///   - roots: The roots of this store's receipts, in DER.
    ///   - secrets: The shared secrets of apps.
    ///   - logger: Logs failures of this service.
    init(reader: AppReceiptReader, roots: [[UInt8]], secrets: SharedSecrets, logger: Logger) {
        self.reader = reader
        self.secrets = secrets
        self.logger = logger
        validator = ReceiptValidator(
            ReceiptTrust(roots: roots, environment: reader.environment.ofReceipts)
        )
    }

    /// Answers a request.
    ///
    /// - Parameters:
    ///   - body: The body of the request.
    ///   - encode: Encodes the answer. A large one is encoded while it holds its permit.
    /// - Returns: The encoded answer.
    /// - Throws: Any error of `encode`.
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
                // The account of a small receipt may have bought much since.
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

    /// A request whose receipt has been verified.
    private struct Question {
        var receipt: AppReceipt
        /// The owner of the receipt, or `nil` if it has no purchases and so identifies nobody.
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

    /// Returns the answer with the account's purchases until now.
    ///
    /// - Returns: `nil` if there are more than `limit`, unless that is the limit of every receipt.
    private func answer(_ question: Question, upTo limit: Int) async throws -> VerifyReceiptAnswer?
    {
        var answer = VerifyReceiptAnswer(status: .valid)
        answer.environment = question.receipt.environment.rawValue
        answer.receipt = VerifyReceiptAnswer.Receipt(question.receipt, at: reader.now())
        guard let owner = question.owner else { return answer }
        // Reading one more shows whether there are more.
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
        let subscriptions = try await reader.subscriptions(of: owner)
        if !subscriptions.isEmpty {
            let now = reader.now()
            answer.pendingRenewalInfo = subscriptions.map {
                VerifyReceiptAnswer.Entry($0, at: now)
            }
        }
        return answer
    }

    /// Returns the receipt if it is valid and this store's.
    ///
    /// A receipt that names the other environment gets the status that refers to it, even if the
    /// signature is unknown here. The other store may have another root, and checks the receipt
    /// itself.
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

    /// Checks the shared secret.
    ///
    /// A secret that was sent has to be the app's. For subscriptions of an app that has one, it has
    /// to be sent.
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
