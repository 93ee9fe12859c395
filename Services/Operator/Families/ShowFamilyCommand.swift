import ArgumentParser
import EventTypes
import NIOHTTP1
import OperatorCore
import StoreAPI

/// `counterfoil families show`.
struct ShowFamilyCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows a family and its members.",
        discussion: """
            JSON:
              {"family": {"id", "bundleID", "version", "organizer", "createdAt", "endedAt",
              "members": [{"accountID", "isSharing", "joinedAt"}]},
              "strangers": [accountID]}

            "strangers" are the members of whom the store knows nothing else: perhaps an id is \
            mistyped. It is missing if there are none.
            """
    )

    @OptionGroup var options: FamilyOptions

    func perform() async throws {
        try await options.store.show(.GET, Routes.adminFamily(options.family))
    }
}

/// The member of a family that a command is about.
struct FamilyMemberOptions: ParsableArguments {
    @OptionGroup var family: FamilyOptions

    @Argument(help: "The account.", transform: identifier)
    var account: AccountID

    /// Adds the account, or decides whether it shares.
    func include(sharing isSharing: Bool?, because reason: ActReason?) async throws {
        try await family.store.show(
            .PUT,
            Routes.familyMember(account, of: family.family),
            .json(FamilyMemberRequest(isSharing: isSharing, reason: reason))
        )
    }
}

/// `counterfoil families add`.
struct AddToFamilyCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Adds an account to a family.",
        discussion: """
            The account gets what the others share, and shares what it has. JSON: as in 'show'.
            """
    )

    @OptionGroup var member: FamilyMemberOptions
    @OptionGroup var why: ReasonOption

    func perform() async throws {
        try await member.include(sharing: nil, because: why.reason)
    }
}

/// `counterfoil families share`.
struct ShareInFamilyCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "share",
        abstract: "Decides whether a member shares its purchases.",
        discussion: "With 'off' the others lose what the member shared. JSON: as in 'show'."
    )

    /// Whether a member shares.
    enum Wish: String, ExpressibleByArgument {
        case on, off
    }

    @OptionGroup var member: FamilyMemberOptions
    @OptionGroup var why: ReasonOption

    @Argument(help: "on or off: whether the member shares.")
    var wish: Wish

    func perform() async throws {
        try await member.include(sharing: wish == .on, because: why.reason)
    }
}

/// `counterfoil families remove`.
struct RemoveFromFamilyCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Takes a member out of a family.",
        discussion: """
            The account loses what was shared with it, and the others lose what it shared. The \
            organizer cannot be taken out. JSON: as in 'show'.
            """
    )

    @OptionGroup var member: FamilyMemberOptions
    @OptionGroup var why: ReasonOption

    func perform() async throws {
        try await member.family.store.show(
            .POST,
            Routes.familyRemoval(of: member.account, from: member.family.family),
            .json(FamilyEndRequest(reason: why.reason))
        )
    }
}

/// `counterfoil families end`.
struct EndFamilyCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "end",
        abstract: "Ends a family.",
        discussion: "Each member loses what the others shared with it. JSON: as in 'show'."
    )

    @OptionGroup var options: FamilyOptions
    @OptionGroup var why: ReasonOption

    func perform() async throws {
        try await options.store.show(
            .POST,
            Routes.familyEnd(options.family),
            .json(FamilyEndRequest(reason: why.reason))
        )
    }
}
