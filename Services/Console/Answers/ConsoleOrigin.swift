import Foundation

/// The address that browsers show: scheme, host and port.
struct ConsoleOrigin: Hashable, Sendable {
    /// The address on a developer's machine.
    static let usual = ConsoleOrigin(
        text: "http://127.0.0.1:8086",
        authority: "127.0.0.1:8086"
    )

    /// The origin as browsers write it: `https://console.example.com`.
    let text: String
    /// The host and the port as the header `Host` has them.
    let authority: String

    private let isPlain: Bool
    private let isLoopback: Bool

    private init(text: String, authority: String) {
        self.text = text
        self.authority = authority
        isPlain = true
        isLoopback = true
    }

    /// Reads an origin.
    ///
    /// A browser leaves the usual port of a scheme out, so `https://host:443` is `https://host`.
    ///
    /// - Returns: `nil` if the text is more or less than scheme, host and port.
    init?(_ text: String) {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            let usualPort = Self.usualPorts[scheme], let host = parts.host, !host.isEmpty,
            ["", "/"].contains(parts.path), parts.query == nil, parts.fragment == nil,
            parts.user == nil
        else { return nil }
        let port = parts.port == usualPort ? nil : parts.port
        authority = host.lowercased() + (port.map { ":\($0)" } ?? "")
        self.text = "\(scheme)://\(authority)"
        isPlain = scheme == "http"
        isLoopback = ["localhost", "127.0.0.1", "[::1]", "::1"].contains(host.lowercased())
    }

    private static let usualPorts = ["http": 80, "https": 443]

    /// Whether nothing protects what is sent: plain HTTP to another machine.
    var isUnprotected: Bool { isPlain && !isLoopback }

    /// Whether browsers reach it by HTTPS.
    var isSecure: Bool { !isPlain }

    /// Whether a header `Host` names this console, with or without the usual port.
    func isNamed(by host: String) -> Bool {
        let usual = isPlain ? ":80" : ":443"
        let host = host.lowercased()
        return host == authority || host == authority + usual && !hasPort
    }

    private var hasPort: Bool { authority.split(separator: "]").last?.contains(":") == true }
}
