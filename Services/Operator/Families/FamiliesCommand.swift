import ArgumentParser

/// `counterfoil families`: accounts that share their purchases.
struct FamiliesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "families",
        abstract: "Makes families, changes their members and ends them.",
        discussion: """
            The members of a family share their purchases of products whose isFamilyShareable is \
            true. A family has an organizer and from one to five other members, all in one app. An \
            account is in one family at a time.

            Examples:
              counterfoil families create --app com.example.app --organizer ada --member ben
              counterfoil families list --app com.example.app
              counterfoil families list --app com.example.app --account ben
              counterfoil families add FAMILY dora --reason "Asked by mail"
              counterfoil families share FAMILY ben off
              counterfoil families remove FAMILY ben
              counterfoil families end FAMILY
            """,
        subcommands: [
            CreateFamilyCommand.self, ListFamiliesCommand.self, ShowFamilyCommand.self,
            AddToFamilyCommand.self, ShareInFamilyCommand.self, RemoveFromFamilyCommand.self,
            EndFamilyCommand.self,
        ]
    )
}
