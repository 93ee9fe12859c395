import ArgumentParser
import EventTypes
import NIOHTTP1
import OperatorCore
import StoreAPI

/// The store in which a command about families works.
struct FamilyStoreOptions: ParsableArguments {
    @OptionGroup var store: StoreOptions
    @OptionGroup var access: SubscriptionAccess

    /// Sends a request about one family, and prints the family.
    func show(
        _ method: HTTPMethod,
        _ path: String,
        _ content: StoreConnection.Content = StoreConnection.Content()
    ) async throws {
        let response = try await access.connection(of: store).send(
            method,
            path,
            content,
            as: FamilyResponse.self
        )
        if store.json { return try Console.say(json: response) }
        guard let family = response.family else { return }
        let warning = FamilyReport.line(about: response.strangers ?? [])
        let lines = FamilyReport.lines(of: family) + [warning].compactMap(\.self)
        Console.say(lines.joined(separator: "\n"))
    }
}

/// The family that a command is about.
struct FamilyOptions: ParsableArguments {
    @OptionGroup var store: FamilyStoreOptions

    @Argument(help: "The family, by its id as 'list' shows it.", transform: identifier)
    var family: FamilyID
}
