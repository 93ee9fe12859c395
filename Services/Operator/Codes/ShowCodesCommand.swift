import ArgumentParser
import NIOHTTP1
import OperatorCore
import StoreAPI

/// The campaign that a command is about.
struct CampaignOptions: ParsableArguments {
    @OptionGroup var store: StoreOptions
    @OptionGroup var access: SubscriptionAccess

    @Argument(help: "The number of the campaign, as 'list' shows it.")
    var campaign: Int64

    /// Prints a campaign.
    func show(_ response: CodeCampaignResponse) throws {
        if store.json { return try Console.say(json: response) }
        Console.say(CampaignReport.lines(of: response.campaign).joined(separator: "\n"))
    }
}

/// `counterfoil codes show`.
struct ShowCodesCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows a campaign: its offer, its redemptions, and who made and ended it.",
        discussion: """
            JSON:
              {"campaign": {"id", "bundleID", "productID", "offerID", "word", "count",
              "redemptions", "expiresAt", "createdAt", "created", "deactivatedAt",
              "deactivated"}}
            """
    )

    @OptionGroup var options: CampaignOptions

    func perform() async throws {
        try options.show(
            try await options.access.connection(of: options.store).send(
                .GET,
                Routes.adminCodeCampaign(options.campaign),
                as: CodeCampaignResponse.self
            )
        )
    }
}

/// `counterfoil codes deactivate`.
struct DeactivateCodesCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "deactivate",
        abstract: "Ends the codes of a campaign.",
        discussion: "Nobody can redeem them any more. What was redeemed stays."
    )

    @OptionGroup var options: CampaignOptions
    @OptionGroup var why: ReasonOption

    func perform() async throws {
        try options.show(
            try await options.access.connection(of: options.store).send(
                .POST,
                Routes.codeDeactivation(options.campaign),
                .json(CodeDeactivationRequest(reason: why.reason)),
                as: CodeCampaignResponse.self
            )
        )
    }
}

/// `counterfoil codes list`.
struct ListCodesCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists campaigns, the newest first.",
        discussion: "JSON: {\"campaigns\": [as in 'show']}"
    )

    @OptionGroup var store: StoreOptions
    @OptionGroup var access: SubscriptionAccess

    @Option(help: "The most campaigns to list.")
    var limit = 1000

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit must be above 0.") }
    }

    func perform() async throws {
        let connection = try await access.connection(of: store)
        let list = try await PagedList<CodeCampaign>(upTo: limit) { (next: Int64?) in
            let query = next.map { [(name: "before", value: String($0))] } ?? []
            let page = try await connection.send(
                .GET,
                Routes.adminCodeCampaigns,
                StoreConnection.Content(query: query),
                as: CodeCampaignsResponse.self
            )
            return (page.campaigns, page.next)
        }
        let campaigns = list.elements
        if store.json {
            try Console.say(json: CodeCampaignsResponse(campaigns: campaigns))
        } else if campaigns.isEmpty {
            Console.say(
                "There are no campaigns. 'counterfoil codes create --help' shows how to begin."
            )
        } else {
            Console.say(campaigns.map(CampaignReport.line).joined(separator: "\n"))
            if list.isCut { Console.say("There are more. Use --limit.") }
        }
    }
}
