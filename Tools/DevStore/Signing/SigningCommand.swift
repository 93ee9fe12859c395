import ArgumentParser
import StoreHarness

/// `devstore signing`: measures what signatures, their checks, receipts and long histories cost.
struct SigningCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signing",
        abstract: "Measures what signatures, receipts and long histories cost.",
        discussion: """
            Runs `openssl speed ecdsap256` and `receipts measure` in turn on one core, compares \
            them, and builds a receipt. Then it starts a fresh store and reads, over HTTP, a \
            receipt, one account's long history from the first page to the last, and \
            notifications from a long log. Use a release build: make signing.

            Exits with 1 if a goal is missed. Apart from the milliseconds, all goals are ratios \
            of two measurements of the same run: a signature to openssl's, a check of a JWS to \
            the bare check of its signature, the last pages of a history to its first, and a \
            page of a long log to one of a short log.
            """
    )

    @Option(help: "How many rounds to measure openssl and receipts in turn; the best one counts.")
    var rounds = 3

    @Option(help: "How many purchases the receipt contains.")
    var purchases = 1_000

    @Option(help: "How many transactions the history has, and how many notifications the log has.")
    var transactions = 100_000

    @OptionGroup var store: MeasuredStore

    func validate() throws {
        guard rounds > 0, purchases > 0, transactions >= 1_000 else {
            throw ValidationError("--rounds and --purchases from 1, --transactions from 1000.")
        }
    }

    func run() async throws {
        try await store.measure(
            "Signing",
            target: "signing",
            settings: [.receipts: ["SERVER_API_REQUESTS_PER_SECOND": "100000"]]
        ) { terminal, store in
            let signatures = try await SigningRun(terminal: terminal, keys: store.keys)
                .measure(rounds: rounds)
            let history = try await HistoryRun(terminal: terminal, store: store)
            let receipt = try await history.receipt(of: purchases)
            let pages = try await history.walk(transactions)
            let log = try await history.notifications(transactions)
            return terminal.judge([
                Goal("a signature, to openssl's", signatures.signing, 1.5),
                Goal("a check of a JWS, to its bare signature's", signatures.verification, 1.5),
                Goal("ms to build a receipt of 1,000 purchases", signatures.receipt, 5.0),
                Goal("ms to get a receipt of \(purchases), p50", receipt, 20.0),
                Goal("the last pages of a history, to the first", pages, 1.5),
                Goal("a page of a long log, to one of a short", log, 2.0),
            ])
        }
    }
}
