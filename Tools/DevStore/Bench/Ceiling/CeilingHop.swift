import StoreHarness

/// One kind of database transaction on a purchase's way, as a script of the ceiling.
struct CeilingHop: Sendable {
    /// Whose session it runs in; those of one run one after the other, all of them at once.
    enum Session: String, CaseIterable, Sendable {
        case payments
        case sandbox
        case receipts
        case fulfillment

        /// Whose database it is in: the sandbox keeps its books in that of `payments`.
        var service: StoreService {
            switch self {
            case .payments, .sandbox: .payments
            case .receipts: .receipts
            case .fulfillment: .fulfillment
            }
        }
    }

    /// The script's name, without its `.sql`.
    let script: String
    let session: Session
    /// The name of its batches in ``BatchSizes``.
    let batch: String
    /// Whether it reads a log that all clients of its session write: then the first alone does it.
    var readsLog = false

    /// What a payment is accepted by, up to where its account sees that it was.
    static let accepting = [
        CeilingHop(script: "payments-accept", session: .payments, batch: "accept"),
        relay(.payments),
        CeilingHop(
            script: "fulfillment-purchasing",
            session: .fulfillment,
            batch: "consume in fulfillment"
        ),
        relay(.fulfillment),
    ]

    /// What makes an accepted payment a finished purchase that all books have.
    static let draining = [
        CeilingHop(script: "sandbox-charge", session: .sandbox, batch: "charge"),
        CeilingHop(script: "payments-settle", session: .payments, batch: "settle"),
        relay(.payments),
        CeilingHop(script: "payments-seal", session: .payments, batch: "seal", readsLog: true),
        CeilingHop(script: "receipts-sign", session: .receipts, batch: "consume in receipts"),
        relay(.receipts),
        CeilingHop(
            script: "fulfillment-purchased",
            session: .fulfillment,
            batch: "consume in fulfillment"
        ),
        relay(.fulfillment),
        CeilingHop(script: "fulfillment-finish", session: .fulfillment, batch: "finish"),
        relay(.fulfillment),
        CeilingHop(script: "payments-finished", session: .payments, batch: "consume in payments"),
        CeilingHop(script: "receipts-finished", session: .receipts, batch: "consume in receipts"),
    ]

    private static func relay(_ session: Session) -> CeilingHop {
        CeilingHop(
            script: "relay",
            session: session,
            batch: "relay in \(session.rawValue)",
            readsLog: true
        )
    }

    /// The name of the variable that counts the purchases that it has done.
    var counter: String { "done_" + script.replacing("-", with: "_") }

    /// Its part of a pgbench script: as many batches as make a round.
    ///
    /// - Parameters:
    ///   - text: Of its script.
    ///   - round: How many purchases each client does in a round.
    ///   - clients: How many clients its session has.
    ///   - size: How large its batches are on average.
    /// - Returns: The text, with a batch's first purchase and size before each.
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
                // Each client has a hundred million numbers, behind all that the services give out.
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
