import ArgumentParser
import ClockAndIDs
import EventTypes
import Foundation
import OperatorCore

/// `counterfoil dead-letters`: events that services could not apply, and those that wait behind
/// them.
struct DeadLettersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead-letters",
        abstract: "Lists events that services could not apply, and redrives or discards them.",
        discussion: """
            An event that a service cannot apply is dead. Later events of the same key (the \
            account) are parked behind it; events of other keys continue. Fix the cause and \
            redrive: the service then applies the key's events again, in order, or says why it \
            cannot. Discard an event that can never be applied: the reason is stored, and the \
            events parked behind it are applied without it.

            Examples:
              counterfoil dead-letters list
              counterfoil dead-letters show receipts 12
              counterfoil dead-letters redrive ada
              counterfoil dead-letters redrive --all
              counterfoil dead-letters discard receipts 12 --reason "sent by a test"
            """,
        subcommands: [
            ListDeadLettersCommand.self, ShowDeadLetterCommand.self, RedriveCommand.self,
            DiscardDeadLetterCommand.self,
        ]
    )
}

/// `counterfoil dead-letters list`.
struct ListDeadLettersCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists dead and parked events, the oldest of each service first.",
        discussion: "JSON: {\"deadLetters\": [as in 'show', without data], \"isCut\"}"
    )

    @OptionGroup var databases: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Option(help: "List one service only: payments, receipts or fulfillment.")
    var service: StoreOptions.Service?

    @Option(help: "List one key only: an account, or a product.")
    var key: String?

    @Flag(help: "Also list events that were redriven or discarded.")
    var all = false

    @Option(help: "The most events to list for each service, from 1 to 10000.")
    var limit = 100

    func validate() throws {
        guard (1...10_000).contains(limit) else {
            throw ValidationError("--limit must be from 1 to 10000.")
        }
    }

    private struct Answer: Encodable {
        let deadLetters: [RecordedDeadLetter]
        let isCut: Bool
    }

    func perform() async throws {
        var letters: [RecordedDeadLetter] = []
        var isCut = false
        for service in service.map({ [$0] }) ?? OperatedService.consumers {
            let query = DeadLetterStore.Query(key: key, isAll: all, limit: limit + 1)
            let found = try await DatabaseReader.read(databases.address(of: service)) {
                connection in
                try DeadLetterStore.letters(query, on: connection)
            }
            letters += found.prefix(limit)
            isCut = isCut || found.count > limit
        }
        if output.json {
            try Console.say(json: Answer(deadLetters: letters, isCut: isCut))
            return
        }
        guard !letters.isEmpty else {
            let isEvery = key == nil && service == nil && !all
            Console.say(
                isEvery ? "There are no dead letters." : "There are no such dead letters."
            )
            return
        }
        Console.say(
            output.palette.table(RecordedDeadLetter.table(letters, at: .now()), numbers: [1])
        )
        if isCut { Console.say("There are more. Use --limit, --service or --key.") }
    }
}

/// One dead letter, named by the service and its number there.
struct DeadLetterOptions: ParsableArguments {
    @OptionGroup var databases: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The service: payments, receipts or fulfillment.")
    var service: StoreOptions.Service

    @Argument(help: "The number that 'list' shows.")
    var id: Int64

    var address: DatabaseAddress { databases.address(of: service) }

    /// The dead letter, settled or not.
    func letter() async throws -> RecordedDeadLetter {
        let (service, id) = (service, id)
        let letters = try await DatabaseReader.read(address) { connection in
            try DeadLetterStore.letters(.init(id: id, isAll: true), on: connection)
        }
        guard let letter = letters.first else {
            throw OperatorError(
                .failed,
                "\(service.rawValue) has no dead letter \(id): see 'counterfoil dead-letters list'."
            )
        }
        return letter
    }
}

/// `counterfoil dead-letters show`.
struct ShowDeadLetterCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows one event with its data, and how many wait behind it.",
        discussion: """
            JSON:
              {"deadLetter": {...}, "data" (if it is JSON), "dataBase64" (if it is not),
               "waiting": the number of open events of the same key}
            """
    )

    @OptionGroup var options: DeadLetterOptions

    func perform() async throws {
        let letter = try await options.letter()
        let (data, open) = try await DatabaseReader.read(options.address) { connection in
            (
                try DeadLetterStore.data(of: letter.id, on: connection) ?? Data(),
                try DeadLetterStore.open(key: letter.key, on: connection).all
            )
        }
        if options.output.json {
            Console.say(try Self.json(letter, data, open: open))
            return
        }
        let palette = options.output.palette
        Console.say(palette.table(letter.fields(at: .now())))
        Console.say("")
        Console.say(EventText.text(of: data))
        let others = open - (letter.isOpen ? 1 : 0)
        if others > 0 {
            Console.say("")
            Console.say("\(others) more of \(letter.key) wait: see 'list --key \(letter.key)'.")
        }
        if letter.isOpen {
            Console.say("")
            Console.say("Once the cause is fixed: counterfoil dead-letters redrive \(letter.key)")
        }
    }

    private static func json(
        _ letter: RecordedDeadLetter,
        _ data: Data,
        open: Int
    ) throws -> String {
        let encoder = JSONEncoder()
        var answer: [String: Any] = [
            "deadLetter": try JSONSerialization.jsonObject(with: encoder.encode(letter)),
            "waiting": open,
        ]
        // Data that is not JSON is shown byte for byte.
        if let value = try? JSONSerialization.jsonObject(with: data, options: [.fragmentsAllowed]) {
            answer["data"] = value
        } else {
            answer["dataBase64"] = data.base64EncodedString()
        }
        return String(
            decoding: try JSONSerialization.data(
                withJSONObject: answer,
                options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            ),
            as: UTF8.self
        )
    }
}

/// `counterfoil dead-letters discard`.
struct DiscardDeadLetterCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "discard",
        abstract: "Discards one event for good, with a reason; events parked behind it continue.",
        discussion: """
            The event stays in the table, but it never takes effect. For a purchase that may \
            mean that somebody has paid for nothing, so look at 'counterfoil why' first, and \
            refund if necessary.

            Example:
              counterfoil dead-letters discard receipts 12 --reason "sent by a test"
            """
    )

    @OptionGroup var options: DeadLetterOptions
    @OptionGroup var keys: KeysOption
    @OptionGroup var admin: AdminOption

    @Option(
        help: "The reason; it is stored with the event and your name.",
        transform: ReasonOption.parse
    )
    var reason: ActReason

    func perform() async throws {
        let before = try await options.letter()
        let id = options.id
        let act = Act(decidedBy: try admin.name(keys: keys.directory), reason: reason)
        let isDone = try await DatabaseReader.change(options.address) { connection in
            try DeadLetterStore.discard(id, by: act, on: connection)
        }
        let letter = try await options.letter()
        guard isDone else {
            let when = letter.settledAt.map { " at \($0)" } ?? ""
            throw OperatorError(
                .failed,
                "\(letter.service) \(letter.id) is \(letter.state) already\(when); nothing changed."
            )
        }
        if options.output.json {
            try Console.say(json: letter)
            return
        }
        Console.say("\(letter.service) \(letter.id) is discarded \(act)")
        if before.state == "dead" {
            Console.say("The events of \(letter.key) parked behind it are applied within a second.")
        }
    }
}
