import ArgumentParser
import EventTypes
import NIOHTTP1
import OperatorCore
import StoreAPI

/// `counterfoil offers`: the offers of subscriptions.
struct OffersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "offers",
        abstract: "Lists the offers of subscriptions.",
        discussion: """
            An offer is a price below the ordinary one for the first periods. There are four types:
              introductory  for accounts that never had one in the group
              promotional   for present and former subscribers; your server signs it
              code          for whoever redeems one of its codes ('counterfoil codes')
              winBack       for accounts whose subscription has ended

            An offer is part of its product. The console changes it, and so does \
            'counterfoil products import'.

            Examples:
              counterfoil offers list
              counterfoil offers list com.example.club.monthly
            """,
        subcommands: [ListOffersCommand.self]
    )
}

/// `counterfoil offers list`.
struct ListOffersCommand: OperatorSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the offers of all products, or of one, active or not.",
        discussion: """
            JSON:
              {"offers": [{"productID", "type", "id", "isActive", "mode", "period",
               "numberOfPeriods", "prices"}]}
            """
    )

    @OptionGroup var catalog: CatalogOptions

    @Argument(help: "The product's id.", transform: identifier)
    var product: ProductID?

    private struct Answer: Encodable {
        let offers: [ListedOffer]
    }

    func perform() async throws {
        let document = try await catalog.connection().send(
            .GET,
            Routes.adminCatalog,
            as: CatalogDocument.self
        )
        let offers = try ListedOffer.all(in: document, of: product)
        if catalog.store.json {
            try Console.say(json: Answer(offers: offers))
        } else if offers.isEmpty {
            Console.say("There are no offers.")
        } else {
            Console.say(catalog.store.output.palette.table(ListedOffer.table(offers)))
        }
    }
}
