import Foundation

/// The address that browsers show: scheme, host and port.
struct ConsoleOrigin: Hashable, Sendable {
    /// The address on a developer's machine.
    static let usual = ConsoleOrigin(text: "http://127.0.0.1:8086", authority: "127.0.0.1:8086")

    /// The origin as browsers write it: `https://console.example.com`.
    let text: String
    /// The host and the port as the header `Host` has them.
    let authority: String

    private init(text: String, authority: String) {
        self.text = text
        self.authority = authority
    }

    /// Reads an origin.
    ///
    /// - Returns: `nil` if the text is more or less than scheme, host and port.
    init?(_ text: String) {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme,
            ["http", "https"].contains(scheme), let host = parts.host, !host.isEmpty,
            ["", "/"].contains(parts.path), parts.query == nil, parts.fragment == nil,
            parts.user == nil
        else { return nil }
        authority = host.lowercased() + (parts.port.map { ":\($0)" } ?? "")
        self.text = "\(scheme)://\(authority)"
    }
}
