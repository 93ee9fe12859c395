import EventTypes
import Foundation
import Logging
import Synchronization

/// The registrations of apps, besides their keys: `<bundle id>/app.json` in `APP_KEYS_DIRECTORY`.
///
/// They are read at the start, and again when an unknown app is requested, at most every five
/// seconds. Files are found by listing the directory, never by making a path from a token.
final class AppRegistry: Sendable {
    /// The registration of an app.
    struct App: Hashable, Sendable, Decodable {
        /// The app's number, which every answer of the server API contains.
        var appAppleID: Int64
        /// The version in app transactions, or `1.0` if none is registered.
        var version: String?
    }

    /// The result of looking up an app.
    enum Registration: Hashable, Sendable {
        case registered(App)
        /// The file exists but cannot be read or parsed at present.
        case unreadable
        case missing
    }

    private struct State {
        var apps: [BundleID: Registration]
        var readAgainAt: MachineTime
    }

    private static let readingInterval = Duration.seconds(5)

    private let directory: String
    private let state: Mutex<State>
    private let now: @Sendable () -> MachineTime
    private let logger: Logger

    init(directory: String, now: @escaping @Sendable () -> MachineTime, logger: Logger) {
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

    /// Returns the app with a bundle id, if it is registered.
    func app(_ bundleID: BundleID) -> App? {
        guard case .registered(let app) = registration(of: bundleID) else { return nil }
        return app
    }

    /// Looks up the app with a bundle id.
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
        // A directory that cannot be listed was refused at the start by the reader of the keys.
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
