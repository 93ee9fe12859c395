import ArgumentParser
import ClockAndIDs
import EventTypes
import OperatorCore

/// `counterfoil why`: the whole story of a purchase.
struct WhyCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "why",
        abstract: "Shows every step of a purchase, and what it is waiting for.",
        discussion: """
            For a transaction or an order, it shows every state, charge, posting, event, \
            receipt, delivery, webhook, notification and finish from all services, in order of \
            time, with trace ids. For the first transaction of a subscription, it tells the whole \
            life of it in words: renewals, charges that failed, grace, changes and the end. For an \
            account, it lists the purchases and what holds them \
            back.

            Examples:
              counterfoil why 2175520387220000
              counterfoil why W1XTKZ7Y3GH0W
              counterfoil why ada
              counterfoil why 2175520387220000 --json

            Exit codes:
              0   the steps were printed, in whatever state the purchase is
              1   no service knows the subject
              69  a database is unavailable

            JSON of a transaction:
              {"transactionID", "orderID", "accountID", …,
               "postings": [{"kind", "time", "entries": [{"account", "amount"}]}],
               "steps": [{"time", "service", "kind", "text", "traceID", "isProblem"}],
               "waitsFor": [sentences], "subscription": sentence, "subscriptionID",
               "books": what 'counterfoil reconcile --transactions' lists for it (the type
                 TransactionBooks of the library StoreAPI),
               "differences": [as 'reconcile' lists them]}
            JSON of an account:
              {"accountID", "purchases": [...], "isCut", "deadLetters": [...]}
            """
    )

    @OptionGroup var databases: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "A transaction id, an order id, or an account id.")
    var subject: String

    @Flag(help: "Take the subject for an account, even if it looks like a transaction or an order.")
    var account = false

    @Option(help: "The most purchases to list for an account, from 1 to 1000.")
    var limit = 20

    func validate() throws {
        guard (1...1000).contains(limit) else {
            throw ValidationError("--limit must be from 1 to 1000.")
        }
        guard StorySubject(subject, isAccount: account) != nil else {
            throw ValidationError(
                "'\(subject)' is not a transaction, not an order, and not \(AccountID.form)."
            )
        }
    }

    func perform() async throws {
        let machineTime = MachineTime.now()
        let now = try await DatabaseReader.storeTime(databases.addresses())
        let reader = StoryReader(databases: databases.addresses())
        switch StorySubject(subject, isAccount: account) {
        case .transaction(let id):
            let story = try await StoryBooksReader(databases: databases.addresses())
                .story(of: id, at: now, machineTime)
            if output.json { return try Console.say(json: story) }
            story.lines(output.palette).forEach(Console.say)
        case .account(let account):
            guard let story = try await reader.story(of: account, limit: limit) else {
                throw OperatorError(
                    .failed,
                    """
                    No account '\(account)' has bought anything. If you meant an order or a \
                    transaction, a letter or digit in it is wrong.
                    """
                )
            }
            if output.json { return try Console.say(json: story) }
            story.lines(output.palette, at: now).forEach(Console.say)
        case nil: break
        }
    }
}
