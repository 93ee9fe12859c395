import ArgumentParser

/// `counterfoil keys`: the keys and certificates of the services and the operator.
struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Creates, rotates and revokes the keys and certificates of a store.",
        subcommands: [
            CreateKeysCommand.self, RotateKeysCommand.self, RevokeKeysCommand.self,
            ServerKeysCommand.self,
        ]
    )
}
