import Messaging
package import Seals

/// The newest digest of a hash chain, as it is printed, stored and given again:
/// `payments/2026-11=9f3a…`, or `payments/ledger/2026-11=…` for a log other than the events.
package struct SealHead: Hashable, Sendable, CustomStringConvertible {
    /// The service.
    package let service: OperatedService
    /// The name of the log.
    package let log: String
    /// The month of the chain.
    package let month: LogMonth
    /// The digest of the newest seal.
    package let digest: LogDigest

    /// Makes a head.
    package init(service: OperatedService, log: String, month: LogMonth, digest: LogDigest) {
        self.service = service
        self.log = log
        self.month = month
        self.digest = digest
    }

    /// The head of a month that was checked.
    package init(service: OperatedService, month: SealReport.Month) {
        self.init(service: service, log: month.log, month: month.month, digest: month.head)
    }

    /// Reads `payments/2026-11=9f3a…`; `nil` if the text is anything else.
    package init?(argument: String) {
        let sides = argument.split(separator: "=", omittingEmptySubsequences: false)
        guard sides.count == 2, let digest = LogDigest(sides[1]) else { return nil }
        let parts = sides[0].split(separator: "/", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), let month = parts.last.flatMap({ LogMonth($0) }),
            let service = OperatedService(rawValue: String(parts[0]))
        else { return nil }
        self.init(
            service: service,
            log: parts.count == 3 ? String(parts[1]) : SealedLog.outboxName,
            month: month,
            digest: digest
        )
    }

    /// The hash chain, without its digest.
    package var chain: String {
        log == SealedLog.outboxName
            ? "\(service.rawValue)/\(month)" : "\(service.rawValue)/\(log)/\(month)"
    }

    /// The hash chain and its digest.
    package var description: String { "\(chain)=\(digest)" }

    /// Reads a file of heads, one per line; empty lines and lines that begin with `#` are skipped.
    ///
    /// - Throws: ``OperatorError`` with the number of a line that is not a head.
    package static func all(in text: String, of file: String) throws(OperatorError) -> [SealHead] {
        var heads: [SealHead] = []
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        for (number, line) in zip(1..., lines) where !line.isEmpty && !line.hasPrefix("#") {
            guard let head = SealHead(argument: String(line)) else {
                throw OperatorError(
                    .usage,
                    "Line \(number) of \(file) is not a head. Write it as "
                        + "payments/2026-11=<64 hexadecimal digits>."
                )
            }
            heads.append(head)
        }
        return heads
    }
}
