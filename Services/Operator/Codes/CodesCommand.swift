import ArgumentParser

/// `counterfoil codes`: offer codes.
struct CodesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "codes",
        abstract: "Makes offer codes of subscriptions, shows campaigns and ends them.",
        discussion: """
            A code gives one of the product's code offers: put those into the catalog first, as \
            codeOffers of the product. People redeem codes on the store's page, which the app opens.

            A one-time code is good once. It is printed when it is made and never again, because the \
            store keeps only its digest. A custom code is a word that many people may redeem, each of \
            them once, until its redemptions are used up.

            Examples:
              counterfoil codes create --app shop --product club --offer spring --count 9
              counterfoil codes create --app shop --product club --offer spring \\
                --word SPRING2027 --count 5000 --reason "Leaflets"
              counterfoil codes list
              counterfoil codes deactivate 3 --reason "The leaflets were lost"
            """,
        subcommands: [
            CreateCodesCommand.self, ListCodesCommand.self, ShowCodesCommand.self,
            DeactivateCodesCommand.self,
        ]
    )
}
