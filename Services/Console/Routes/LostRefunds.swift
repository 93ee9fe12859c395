import EventTypes
import Logging
import OperatorCore
import StoreAPI
import Synchronization

/// The refunds without an answer, one of a purchase at most.
///
/// A refund is noted before it is sent, and forgotten when the store has judged it. Until then nobody
/// can ask for another refund of this purchase: whoever opens it is offered to repeat that one, which
/// may have been made. With a folder they outlive a restart; without one, a restart forgets them.
final class LostRefunds: Sendable {
    /// The most refunds without an answer; beyond it, no further one is sent.
    static let countMax = 1000
    private static let ending = ".refund"

    private let refunds: Mutex<[TransactionID: SentRefund]>
    private let folder: StateFolder?
    private let logger: Logger

    /// Reads the refunds that a folder keeps.
    init(in folder: StateFolder? = nil, logger: Logger) {
        self.folder = folder
        self.logger = logger
        let kept = folder.map { folder in
            folder.names(ending: Self.ending).compactMap { name -> SentRefund? in
                let refund = folder.read(SentRefund.self, from: name)
                if refund == nil {
                    logger.error(
                        "the file of a refund without an answer cannot be read",
                        metadata: ["file": "\(name)"]
                    )
                }
                return refund
            }
        }
        refunds = Mutex(
            Dictionary((kept ?? []).map { ($0.transactionID, $0) }) { first, _ in first }
        )
    }

    /// The refund of a purchase that has no answer yet; `nil` if there is none.
    func refund(of id: TransactionID) -> SentRefund? { refunds.withLock { $0[id] } }

    /// The refund that a form asks to repeat.
    ///
    /// - Throws: ``ConsoleProblem`` if it has an answer by now.
    func repeated(_ key: IdempotencyKey, of id: TransactionID) throws(ConsoleProblem) -> SentRefund
    {
        guard let refund = refund(of: id), refund.key == key else {
            throw ConsoleProblem(
                409,
                "Nothing was done: this refund has an answer",
                "Somebody has repeated it meanwhile. Look at what happened to the purchase.",
                back: ActFormRules.back(to: id)
            )
        }
        return refund
    }

    /// Notes a refund before it is sent.
    ///
    /// - Returns: Whether it is sent for the first time.
    /// - Throws: ``ConsoleProblem`` if another refund of the purchase has no answer, or this one
    ///   cannot be noted.
    func begin(_ refund: SentRefund) throws -> Bool {
        let id = refund.transactionID
        return try refunds.withLock { refunds in
            if let other = refunds[id] {
                guard other == refund else { throw Self.otherFirst(id) }
                return false
            }
            guard refunds.count < Self.countMax else {
                throw ConsoleProblem(
                    503,
                    "Nothing was done: too many refunds have no answer",
                    "The console sends no further one before the store has answered some of them.",
                    back: ActFormRules.back(to: id)
                )
            }
            do {
                try folder?.write(refund, to: Self.name(of: id))
            } catch {
                logger.error("a refund could not be noted", metadata: ["error": "\(error)"])
                throw ConsoleProblem.unwritableFolder
            }
            refunds[id] = refund
            return true
        }
    }

    /// Forgets a refund that the store has judged.
    func forget(_ refund: SentRefund) {
        refunds.withLock { refunds in
            guard refunds[refund.transactionID] == refund else { return }
            refunds[refund.transactionID] = nil
            do {
                try folder?.remove(Self.name(of: refund.transactionID))
            } catch {
                // After a restart it is offered to be repeated, which the store recognises.
                logger.warning("a refund stays noted", metadata: ["error": "\(error)"])
            }
        }
    }

    private static func name(of id: TransactionID) -> String { "\(id)\(ending)" }

    private static func otherFirst(_ id: TransactionID) -> ConsoleProblem {
        ConsoleProblem(
            409,
            "Nothing was done: another refund of this purchase has no answer",
            "It may have been made. Open the purchase, and repeat that refund first.",
            back: ActFormRules.back(to: id)
        )
    }
}

extension OperatorError {
    /// Whether the service has judged a refund, so that it is settled what became of its key.
    ///
    /// A service that refuses the sender has not looked at the key. An answer that is no problem
    /// document comes from a proxy.
    var isVerdictOnRefund: Bool {
        guard let status, let problemCode else { return false }
        return (400..<500).contains(status) && ![401, 403, 408, 429].contains(status)
            && problemCode != "idempotency_key_reused"
    }
}
