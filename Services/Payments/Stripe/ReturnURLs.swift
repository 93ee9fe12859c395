import EventTypes

/// The addresses to which buyers come back from their bank's page.
struct ReturnURLs: Hashable, Sendable {
    /// The address of the apps that have no other.
    let first: String
    /// The addresses of the apps that have their own.
    var apps: [BundleID: String] = [:]

    /// The address of an app.
    func of(_ app: BundleID) -> String { apps[app] ?? first }
}
