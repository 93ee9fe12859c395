import StoreHarness

/// One kind of database transaction of a purchase, as a script of the ceiling.
struct CeilingTransaction: Sendable {
    /// The sessions that scripts run in.
    ///
    /// Scripts of one session run one after the other, and all sessions run concurrently.
    enum Session: String, CaseIterable, Sendable {
        case payments
        case sandbox
        case receipts
        case fulfillment

        /// The service whose database it uses; the sandbox keeps its books in that of `payments`.
        var service: StoreService {
            switch self {
            case .payments, .sandbox: .payments
            case .receipts: .receipts
            case .fulfillment: .fulfillment
            }
        }
    }

    /// The script's name without `.sql`.
    let script: String
    let session: Session
    /// The name of its batches in ``BatchSizes``.
    let batch: String
    /// Whether it reads a log that all clients of its session write to; then only the first client
    /// runs it.
    var readsLog = false

    /// The database transactions that accept a payment and show it in its account's queue.
    static let accepting = [
        CeilingTransaction(script: "payments-accept", session: .payments, batch: "accept"),
        relay(.payments),
        CeilingTransaction(
            script: "fulfillment-purchasing",
            session: .fulfillment,
            batch: "consume in fulfillment"
        ),
        relay(.fulfillment),
    ]

    /// The database transactions that turn an accepted payment into a finished purchase in all
    /// books.
    static let draining = [
        CeilingTransaction(script: "sandbox-charge", session: .sandbox, batch: "charge"),
        CeilingTransaction(script: "payments-settle", session: .payments, batch: "settle"),
        relay(.payments),
        CeilingTransaction(
            script: "payments-seal",
            session: .payments,
            batch: "seal",
            readsLog: true
        ),
        CeilingTransaction(
            script: "receipts-sign",
            session: .receipts,
            batch: "consume in receipts"
        ),
        relay(.receipts),
        CeilingTransaction(
            script: "fulfillment-purchased",
            session: .fulfillment,
            batch: "consume in fulfillment"
        ),
        relay(.fulfillment),
        CeilingTransaction(script: "fulfillment-finish", session: .fulfillment, batch: "finish"),
        relay(.fulfillment),
        CeilingTransaction(
            script: "payments-finished",
            session: .payments,
            batch: "consume in payments"
        ),
        CeilingTransaction(
            script: "receipts-finished",
            session: .receipts,
            batch: "consume in receipts"
        ),
    ]

    private static func relay(_ session: Session) -> CeilingTransaction {
        CeilingTransaction(
            script: "relay",
            session: session,
            batch: "relay in \(session.rawValue)",
            readsLog: true
        )
    }

    /// The name of the variable that counts its purchases.
    var counter: String { "done_" + script.replacing("-", with: "_") }

    /// Its part of a pgbench script: the batches of one round.
    ///
    /// - Parameters:
    ///   - text: Of its script.
    ///   - round: How many purchases each client does in a round.
    ///   - clients: How many clients its session has.
    ///   - size: How large its batches are on average.
    /// - Returns: The text, repeated for each batch after the batch's first purchase and size.
    func script(_ text: String, round: Int, clients: Int, size: Double) -> String {
        let rows = readsLog ? round * clients : round
        let count = max(1, Int((Double(rows) / size).rounded()))
        var parts: [String] = []
        var done = 0
        for index in 1...count {
            let next = rows * index / count
            parts.append("\\set n \(next - done)")
            if readsLog {
                parts.append(text)
            } else {
                // Each client has a hundred million numbers of its own, above all that the services
                // assign.
                parts.append("\\set first 2000000000 + :client_id * 100000000 + :\(counter)")
                parts.append(text)
                parts.append("\\set \(counter) :\(counter) + :n")
            }
            done = next
        }
        if readsLog { parts = ["\\if :client_id = 0"] + parts + ["\\endif"] }
        return parts.joined(separator: "\n") + "\n"
    }
}
