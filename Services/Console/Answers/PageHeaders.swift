import HTTPTypes

/// The headers of every answer.
///
/// Pure.
enum PageHeaders {
    /// The policy of all pages.
    ///
    /// Browsers load files of this server and nothing else, and no text ever becomes markup or a
    /// script in them.
    static let policy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'",
        "connect-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
        "require-trusted-types-for 'script'", "trusted-types 'none'",
    ].joined(separator: "; ")

    private static let fields = [
        ("Content-Security-Policy", policy), ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Permissions-Policy", "camera=(), geolocation=(), microphone=()"),
    ]

    /// The headers of an answer that is no file of the page.
    static func all(isSecure: Bool) -> HTTPFields {
        var headers: HTTPFields = [:]
        add(to: &headers, isFile: false, isSecure: isSecure)
        return headers
    }

    /// Adds the headers.
    ///
    /// - Parameters:
    ///   - headers: The headers of an answer.
    ///   - isFile: Whether the answer is a file of the page, which may be kept; data may not.
    ///   - isSecure: Whether browsers reach the console by HTTPS, and are to do so for a year.
    static func add(to headers: inout HTTPFields, isFile: Bool, isSecure: Bool) {
        if isSecure { headers[.strictTransportSecurity] = "max-age=31536000" }
        for (name, value) in fields {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        headers[.cacheControl] = isFile ? "no-cache" : "no-store"
    }
}
