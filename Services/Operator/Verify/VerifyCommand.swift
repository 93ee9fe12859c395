import ArgumentParser
import Foundation
import Messaging
import OperatorCore
import Seals

extension SealHead: ExpressibleByArgument {}

/// `counterfoil verify`: checks the logs against their seals.
struct VerifyCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Verifies the event logs' hash chains: no event was edited, removed or inserted.",
        discussion: """
            Each service seals the events that it publishes. The seals of a month form a hash chain: \
            each is a digest of some events and of the seal before it. A row that was changed, \
            removed or inserted breaks the chain, and the command says where. Each log is read \
            once, in a snapshot, and nothing is blocked.

            Somebody who can change every table can also write new seals. So store the heads of \
            the chains elsewhere, and check later that the chains still contain them:

              counterfoil verify --heads-only > heads.txt
              counterfoil verify --heads heads.txt

            Months that have left the database ('counterfoil log') are read from their files:

              counterfoil verify --archives /var/lib/counterfoil/archives
            """
    )

    @Option(help: "Check this service only; may be repeated.")
    var service: [StoreOptions.Service] = []

    @Option(
        help: ArgumentHelp(
            "Require that a hash chain contains this digest; may be repeated.",
            valueName: "service/month=digest"
        )
    )
    var expect: [SealHead] = []

    @Option(help: "Require that the hash chains contain the digests in this file, one per line.")
    var heads: String?

    @Flag(help: "Print only the heads, in the form that --heads reads.")
    var headsOnly = false

    @Option(help: "The folder of archived months; without it, they are listed but not checked.")
    var archives: String?

    @OptionGroup var databases: DatabaseOptions
    @OptionGroup var output: OutputOptions

    /// A service and the findings in its logs.
    private struct Checked {
        let service: StoreOptions.Service
        let report: SealReport
    }

    func perform() async throws {
        let expected = try expect + headsInFile()
        var checked: [Checked] = []
        let asked = service.isEmpty ? StoreOptions.Service.allCases : service
        for service in StoreOptions.Service.allCases where asked.contains(service) {
            let report = try await SealReader.check(
                databases.address(of: service),
                expecting: expected.filter { $0.service == service }.map {
                    SealCheck.Expectation(log: $0.log, month: $0.month, head: $0.digest)
                },
                archives: archives
            )
            checked.append(Checked(service: service, report: report))
        }
        if output.json {
            try Console.say(json: checked.map(VerifyAnswer.init))
        } else if headsOnly {
            for head in Self.heads(checked) { Console.say(head.description) }
        } else {
            show(checked)
        }
        let findings = checked.reduce(0) {
            $0 + $1.report.findings.count + $1.report.furtherFindings
        }
        guard findings == 0 else {
            for found in checked {
                for finding in found.report.findings {
                    Console.complain("\(found.service.rawValue): \(finding)")
                }
                if found.report.furtherFindings > 0 {
                    Console.complain(
                        "\(found.service.rawValue): and \(found.report.furtherFindings) more"
                    )
                }
            }
            throw OperatorError(
                .failed,
                findings == 1
                    ? "One thing in the logs is not as it was sealed."
                    : "\(findings) things in the logs are not as they were sealed."
            )
        }
    }

    private func headsInFile() throws -> [SealHead] {
        guard let heads else { return [] }
        let text: String
        do {
            text = try String(contentsOfFile: heads, encoding: .utf8)
        } catch {
            throw OperatorError.unreadable(heads, error, .usage)
        }
        return try SealHead.all(in: text, of: heads)
    }

    private static func heads(_ checked: [Checked]) -> [SealHead] {
        checked.flatMap { found in
            found.report.months.map { SealHead(service: found.service, month: $0) }
        }
    }

    private func show(_ checked: [Checked]) {
        var rows = [["CHAIN", "ROWS", "SEALS", "HEAD"]]
        for found in checked {
            for month in found.report.months {
                rows.append([
                    SealHead(service: found.service, month: month).chain, "\(month.rows)",
                    "\(month.seals)", "\(month.head)",
                ])
            }
        }
        Console.say(output.palette.table(rows, numbers: [1, 2]))
        for found in checked {
            for archived in found.report.months.compactMap(\.archived) {
                Console.say(
                    "\(found.service.rawValue)/\(archived.month): \(archived.rowCount) rows are in "
                        + "\(archived.fileName) and were not looked at; check them with --archives DIR."
                )
            }
        }
        let unsealed = checked.reduce(0) { $0 + $1.report.unsealedRows }
        if unsealed > 0 { Console.say("\(unsealed) rows are not sealed yet.") }
    }

    /// A service's part of the answer as JSON.
    private struct VerifyAnswer: Encodable {
        struct Chain: Encodable {
            let log: String
            let month: String
            let rows: Int64
            let seals: Int64
            let head: String
            /// The file that holds the rows, if they were archived and not checked.
            let unread: String?
        }

        let service: String
        let chains: [Chain]
        let unsealedRows: Int64
        let findings: [String]
        let furtherFindings: Int

        init(_ checked: Checked) {
            service = checked.service.rawValue
            chains = checked.report.months.map { month in
                Chain(
                    log: month.log,
                    month: month.month.description,
                    rows: month.rows,
                    seals: month.seals,
                    head: month.head.description,
                    unread: month.archived?.fileName
                )
            }
            unsealedRows = checked.report.unsealedRows
            findings = checked.report.findings.map(\.description)
            furtherFindings = checked.report.furtherFindings
        }
    }
}
