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

    /// What is known of an app.
    enum Registration: Hashable, Sendable {
        case registered(App)
        /// There is a file, which cannot be read or understood at present.
        case unreadable
        case missing
    }

    private struct State {
        var apps: [BundleID: Registration]
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
        guard case .registered(let app) = registration(of: bundleID) else { return nil }
        return app
    }

    /// What is known of the app of a bundle id.
    func registration(of bundleID: BundleID) -> Registration {
        let now = now()
        return state.withLock { state in
            if case .registered? = state.apps[bundleID] { return state.apps[bundleID] ?? .missing }
            if now >= state.readAgainAt {
                state.readAgainAt = now.advanced(by: Self.readingInterval)
                state.apps = Self.read(directory, logger)
            }
            return state.apps[bundleID] ?? .missing
        }
    }

    private static func read(_ directory: String, _ logger: Logger) -> [BundleID: Registration] {
        // A directory that cannot be listed is refused at the start, by who reads keys from it.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        var apps: [BundleID: Registration] = [:]
        for name in names {
            let file = URL(fileURLWithPath: "\(directory)/\(name)/app.json")
            guard let bundleID = BundleID(rawValue: name),
                FileManager.default.fileExists(atPath: file.path)
            else { continue }
            do {
                apps[bundleID] = .registered(
                    try JSONDecoder().decode(App.self, from: try Data(contentsOf: file))
                )
            } catch {
                apps[bundleID] = .unreadable
                logger.warning(
                    "an app's registration cannot be used",
                    metadata: ["file": "\(file.path)", "error": "\(error)"]
                )
            }
        }
        return apps
    }
}
