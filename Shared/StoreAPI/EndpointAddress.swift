import Foundation

/// The addresses of merchants' endpoints, which receive webhooks and notifications.
///
/// It does no I/O.
public enum EndpointAddress {
    /// The maximum length of an address in bytes.
    public static let lengthMax = 2048

    /// Returns the host of an address, in lower case and with its port.
    ///
    /// It is the whole address if there is no host.
    ///
    /// Senders divide their capacity by host.
    public static func host(of url: String) -> String {
        guard let components = URLComponents(string: url), let host = components.host else {
            return url
        }
        return host.lowercased() + (components.port.map { ":\($0)" } ?? "")
    }

    /// Returns the problem with an address; `nil` if the address is valid.
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
