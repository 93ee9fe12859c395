import ArgumentParser
import ClockAndIDs
import EventTypes
import NIOHTTP1
import OperatorCore
import StoreAPI

/// An administrator's connection to the store's clock.
struct ClockOptions: ParsableArguments {
    @OptionGroup var store: StoreOptions
    @OptionGroup var keys: KeysOption
    @OptionGroup var admin: AdminOption

    /// The connection to `payments`, which owns the clock.
    func connection() async throws(OperatorError) -> StoreConnection {
        store.connection(
            to: .payments,
            token: try await admin.token(
                keys: keys.directory,
                at: .now(),
                lifetime: .seconds(3_600)
            )
        )
    }

    /// Sends a command to the clock and prints the clock after it.
    func change(_ path: String, _ content: StoreConnection.Content = .none) async throws {
        try show(
            try await connection().send(.POST, path, content, as: ClockResponse.self)
        )
    }

    /// Prints the clock.
    func show(_ clock: ClockResponse) throws {
        if store.json { try Console.say(json: clock) } else { Console.say(ClockReport(clock).text) }
    }
}

extension StoreConnection {
    /// Reads the store's clock.
    func clock() async throws(OperatorError) -> ClockResponse {
        try await send(.GET, Routes.adminClock, as: ClockResponse.self)
    }
}
