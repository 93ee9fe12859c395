import ArgumentParser
import EventTypes
import NIOHTTP1
import OperatorCore
import StoreAPI

/// `counterfoil codes create`.
struct CreateCodesCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Makes one-time codes, or a custom code.",
        discussion: """
            One-time codes are printed as CSV, one a line under the heading 'code'. Keep the output: \
            nobody can print them again. If it is lost, deactivate the campaign, whose number is \
            printed on standard error, and make new codes.

            JSON:
              {"campaign": as in 'show', "codes": ["..."]}
            """
    )

    @OptionGroup var store: StoreOptions
    @OptionGroup var access: SubscriptionAccess
    @OptionGroup var why: ReasonOption

    @Option(help: "The app in which the codes are good, by its bundle id.", transform: identifier)
    var app: BundleID

    @Option(help: "The subscription.", transform: identifier)
    var product: ProductID

    @Option(help: "The offer, one of the product's codeOffers.", transform: identifier)
    var offer: OfferID

    @Option(help: "How many one-time codes to make, or how often the custom code is good.")
    var count: Int

    @Option(help: "The custom code: 4 to 64 letters and digits. Without it, one-time codes.")
    var word: String?

    @Option(
        name: .customLong("expires"),
        help: "The end by the store's clock, such as 2027-06-30T22:00:00Z (default: no end).",
        transform: moment
    )
    var expiresAt: StoreTime?

    func perform() async throws {
        let request = CodeCampaignRequest(
            bundleID: app,
            productID: product,
            offerID: offer,
            count: count,
            word: word,
            expiresAt: expiresAt,
            reason: why.reason
        )
        let made = try await access.connection(of: store).send(
            .POST,
            Routes.adminCodeCampaigns,
            .json(request),
            as: CodeCampaignResponse.self
        )
        if store.json { return try Console.say(json: made) }
        guard let codes = made.codes else {
            return Console.say(CampaignReport.lines(of: made.campaign).joined(separator: "\n"))
        }
        Console.complain("made campaign \(made.campaign.id); these codes are never printed again")
        Console.say((["code"] + codes).joined(separator: "\n"))
    }
}
