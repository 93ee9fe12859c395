import ArgumentParser
import ClockAndIDs
import EventTypes
import OperatorCore

/// An administrator's access to subscriptions.
struct SubscriptionAccess: ParsableArguments {
    @OptionGroup var keys: KeysOption
    @OptionGroup var admin: AdminOption

    /// The connection to `payments`, which owns the subscriptions.
    func connection(of store: StoreOptions) async throws(OperatorError) -> StoreConnection {
        store.connection(
            to: .payments,
            token: try await admin.token(
                keys: keys.directory,
                at: .now(),
                lifetime: .seconds(300)
            )
        )
    }
}
