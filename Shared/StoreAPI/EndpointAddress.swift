import Foundation

/// The addresses of merchants' endpoints: where webhooks and notifications go.
///
/// Pure.
public enum EndpointAddress {
    /// The longest address, in bytes.
    public static let lengthMax = 2048

    /// The host that an address leads to, in lower case and with its port, by which senders share
    /// themselves out; the whole address where it names none.
    public static func host(of url: String) -> String {
        guard let components = URLComponents(string: url), let host = components.host else {
            return url
        }
        return host.lowercased() + (components.port.map { ":\($0)" } ?? "")
    }

    /// What is wrong with an address; `nil` if nothing is.
    public static func problem(of text: String) -> String? {
        guard text.utf8.count <= lengthMax else { return "is longer than \(lengthMax) bytes" }
        let isVisible = text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        guard isVisible, let url = URLComponents(string: text),
            ["http", "https"].contains(url.scheme?.lowercased()), url.host?.isEmpty == false
        else { return "is not an absolute http or https URL" }
        if url.user != nil || url.password != nil { return "must not hold a user or password" }
        if url.fragment != nil { return "must not hold a fragment" }
        return nil
    }
}
