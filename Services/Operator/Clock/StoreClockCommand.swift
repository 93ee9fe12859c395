import ArgumentParser
import EventTypes
import NIOHTTP1
import OperatorCore
import StoreAPI

/// `counterfoil clock`: the store's clock.
struct StoreClockCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clock",
        abstract: "Shows and sets the store's clock, in a sandbox.",
        discussion: """
            The store's clock dates purchases, receipts and the end of approvals. In a sandbox it can \
            be set, so that a month passes in a second. It only moves forward. Tokens and \
            certificates follow the machines' clock.

            Examples:
              counterfoil clock show
              counterfoil clock freeze
              counterfoil clock advance 31d
              counterfoil clock set 2027-03-01T12:00:00Z
              counterfoil clock rate 1h=1d

            A store in production has no such clock: every subcommand but 'resume' fails with 404.
            """,
        subcommands: [
            ShowClockCommand.self, AdvanceClockCommand.self, SetClockCommand.self,
            RateClockCommand.self, FreezeClockCommand.self, RunClockCommand.self,
            ResumeClockCommand.self,
        ]
    )
}

/// `counterfoil clock show`.
struct ShowClockCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows the store's time, how the clock runs, and an advance that is under way."
    )

    @OptionGroup var options: ClockOptions

    func perform() async throws { try options.show(try await options.connection().clock()) }
}

/// `counterfoil clock advance`.
struct AdvanceClockCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "advance",
        abstract: "Advances the store's clock by a span, and waits until everything due is done.",
        discussion: """
            The clock stops at each time at which something is due, and goes on when that is done. \
            The command returns when the clock is at its target and every service follows it. If \
            the command is interrupted, the advance goes on; see 'counterfoil clock show'.

            Spans are numbers with w, d, h, m, s or ms, larger units first.

            Examples:
              counterfoil clock advance 31d
              counterfoil clock advance 1h30m --timeout 300
            """
    )

    @OptionGroup var options: ClockOptions
    @OptionGroup var wait: ClockWaitOptions

    @Argument(help: "The span, such as 31d.")
    var span: String

    func validate() throws {
        guard ClockSpan(span) != nil else {
            throw ValidationError(
                "'\(span)' is not a span: write numbers with w, d, h, m, s or ms, such as 31d or 1h30m."
            )
        }
    }

    func perform() async throws {
        try await wait.advance(ClockAdvanceRequest(by: span), options)
    }
}

/// `counterfoil clock set`.
struct SetClockCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Advances the store's clock to a time, and waits until everything due is done.",
        discussion: """
            The time has to be later than the store's. The clock is advanced as by 'clock advance'.

            Example: counterfoil clock set 2027-03-01T12:00:00Z
            """
    )

    @OptionGroup var options: ClockOptions
    @OptionGroup var wait: ClockWaitOptions

    @Argument(help: "The time, as 2027-03-01T12:00:00Z.")
    var time: String

    func validate() throws {
        guard StoreTime(time) != nil else {
            throw ValidationError("'\(time)' is not a time: write it as 2027-03-01T12:00:00Z.")
        }
    }

    func perform() async throws {
        try await wait.advance(ClockAdvanceRequest(to: StoreTime(time)), options)
    }
}

/// `counterfoil clock rate`.
struct RateClockCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "rate",
        abstract: "Runs the store's clock at a rate.",
        discussion: """
            1h=1d means that a day passes in the store while an hour passes on the machines. The \
            store's clock is at least as fast as the machines'. 'apple' is the speed of Apple's \
            sandbox: a month in five minutes, and a year in an hour. SANDBOX_SUBSCRIPTION_RATE makes \
            only subscriptions faster, as Apple's sandbox does.

            Examples:
              counterfoil clock rate 1h=1d
              counterfoil clock rate 5m=30d
              counterfoil clock rate apple
            """
    )

    @OptionGroup var options: ClockOptions

    @Argument(help: "The rate, such as 1h=1d, or apple.")
    var rate: String

    /// A year in an hour.
    private static let apple = "1h=8766h"

    private var text: String { rate == "apple" ? Self.apple : rate }

    func validate() throws {
        guard ClockRate(text) != nil else {
            throw ValidationError(
                "'\(rate)' is not a rate: write it as 1h=1d, not slower than the machines' clock."
            )
        }
    }

    func perform() async throws {
        let request = try StoreConnection.Content.json(ClockRunRequest(rate: text))
        try await options.change(Routes.adminClockRun, request)
    }
}

/// `counterfoil clock freeze`.
struct FreezeClockCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "freeze",
        abstract: "Freezes the store's clock at its present time."
    )

    @OptionGroup var options: ClockOptions

    func perform() async throws { try await options.change(Routes.adminClockFreeze) }
}

/// `counterfoil clock run`.
struct RunClockCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Runs the store's clock on from its present time, as fast as the machines'."
    )

    @OptionGroup var options: ClockOptions

    func perform() async throws {
        try await options.change(Routes.adminClockRun, try .json(ClockRunRequest()))
    }
}

/// `counterfoil clock resume`.
struct ResumeClockCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Resumes an advance that failed, or renewals after the clock was set ahead.",
        discussion: """
            In a sandbox, an advance goes on after its cause was repaired.

            In production, no subscription is charged or ended after the database's clock was set \
            ahead by more than an hour. If the clock is wrong, set it: the work then goes on by \
            itself. If it is right, this command says so, and everything that is due by then is done.
            """
    )

    @OptionGroup var options: ClockOptions
    @OptionGroup var wait: ClockWaitOptions

    func perform() async throws {
        let payments = try await options.connection()
        let clock = try await payments.send(
            .POST,
            Routes.adminClockResume,
            as: ClockResponse.self
        )
        try options.show(clock)
        // An advance stops the clock, so there is none to wait for.
        guard clock.mode != .machines else { return }
        try await wait.untilThere(options)
    }
}
