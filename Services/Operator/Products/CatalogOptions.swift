import ArgumentParser
import ClockAndIDs
import EventTypes
import OperatorCore

/// An administrator's connection to the catalog.
struct CatalogOptions: ParsableArguments {
    @OptionGroup var store: StoreOptions
    @OptionGroup var keys: KeysOption
    @OptionGroup var admin: AdminOption

    func connection() async throws(OperatorError) -> StoreConnection {
        store.connection(
            to: .catalog,
            token: try await admin.token(
                keys: keys.directory,
                at: .now(),
                lifetime: .seconds(300)
            )
        )
    }
}
