import EventTypes
import Foundation
import Logging
import Synchronization

/// What the store knows of apps beside their keys: `<bundle id>/app.json` in `APP_KEYS_DIRECTORY`.
///
/// Read at the start, and again when an app is asked for that is not there, at most every five
/// seconds. Found by listing the directory, never by making a path of what a token says.
final class AppRegistry: Sendable {
    /// An app.
    struct App: Hashable, Sendable, Decodable {
        /// The app's number, as every answer of the server API gives it.
        var appAppleID: Int64
        /// The version that app transactions name; `1.0` where none is registered.
        var version: String?
    }

    private struct State {
        var apps: [BundleID: App]
        var readAgainAt: Timestamp
    }

    private static let readingInterval = Duration.seconds(5)

    private let directory: String
    private let state: Mutex<State>
    private let now: @Sendable () -> Timestamp
    private let logger: Logger

    init(directory: String, now: @escaping @Sendable () -> Timestamp, logger: Logger) {
        self.directory = directory
        self.now = now
        self.logger = logger
        state = Mutex(
            State(
                apps: Self.read(directory, logger),
                readAgainAt: now().advanced(by: Self.readingInterval)
            )
        )
    }

    /// The app of a bundle id, if it is registered.
    func app(_ bundleID: BundleID) -> App? {
        let now = now()
        return state.withLock { state in
            if let app = state.apps[bundleID] { return app }
            guard now >= state.readAgainAt else { return nil }
            state.readAgainAt = now.advanced(by: Self.readingInterval)
            state.apps = Self.read(directory, logger)
            return state.apps[bundleID]
        }
    }

    private static func read(_ directory: String, _ logger: Logger) -> [BundleID: App] {
        // A directory that cannot be listed is refused at the start, by who reads keys from it.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        var apps: [BundleID: App] = [:]
        for name in names {
            let file = URL(fileURLWithPath: "\(directory)/\(name)/app.json")
            guard let bundleID = BundleID(rawValue: name),
                FileManager.default.fileExists(atPath: file.path)
            else { continue }
            do {
                apps[bundleID] = try JSONDecoder().decode(
                    App.self,
                    from: try Data(contentsOf: file)
                )
            } catch {
                logger.warning(
                    "an app's registration cannot be used",
                    metadata: ["file": "\(file.path)", "error": "\(error)"]
                )
            }
        }
        return apps
    }
}
