import ArgumentParser
import Messaging
import OperatorCore
import Seals

/// The newest digest of a hash chain, as it is printed, stored and given again:
/// `payments/2026-11=9f3a…`, or `payments/ledger/2026-11=…` for a log other than the events.
struct SealHead: Hashable, Sendable, CustomStringConvertible, ExpressibleByArgument {
    let service: StoreOptions.Service
    let log: String
    let month: LogMonth
    let digest: LogDigest

    init(service: StoreOptions.Service, month: SealReport.Month) {
        self.service = service
        log = month.log
        self.month = month.month
        digest = month.head
    }

    init?(argument: String) {
        let sides = argument.split(separator: "=", omittingEmptySubsequences: false)
        guard sides.count == 2, let digest = LogDigest(sides[1]) else { return nil }
        let parts = sides[0].split(separator: "/", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), let month = parts.last.flatMap({ LogMonth($0) }),
            let service = StoreOptions.Service(rawValue: String(parts[0]))
        else { return nil }
        self.service = service
        self.log = parts.count == 3 ? String(parts[1]) : SealedLog.outbox.name
        self.month = month
        self.digest = digest
    }

    /// The hash chain, without its digest.
    var chain: String {
        log == SealedLog.outbox.name
            ? "\(service.rawValue)/\(month)" : "\(service.rawValue)/\(log)/\(month)"
    }

    var description: String { "\(chain)=\(digest)" }

    /// Reads a file of heads, one per line; empty lines and lines that begin with `#` are skipped.
    ///
    /// - Throws: ``OperatorError`` with the number of a line that is not a head.
    static func all(in text: String, of file: String) throws(OperatorError) -> [SealHead] {
        var heads: [SealHead] = []
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        for (number, line) in zip(1..., lines) where !line.isEmpty && !line.hasPrefix("#") {
            guard let head = SealHead(argument: String(line)) else {
                throw OperatorError(
                    .usage,
                    "Line \(number) of \(file) is no head. Write it as "
                        + "payments/2026-11=<64 hexadecimal digits>."
                )
            }
            heads.append(head)
        }
        return heads
    }
}
