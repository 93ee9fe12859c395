import ArgumentParser
import Foundation

/// The options of the storefront.
struct StorefrontOptions: ParsableArguments, Sendable {
    @OptionGroup var store: StoreAddresses
    @Option(help: "The app's private key (PEM); the store knows it by the file's name.")
    var key: String
    @Option(help: "The store's root certificate (DER), by which receipts are verified.")
    var root: String
    @Option(help: "The app, as the store knows it.")
    var bundle = "com.example.app"
    @Option(help: "The folder of the page's files.")
    var pages = "Pages"
    @Option(help: "The address to listen on; another than loopback needs --public.")
    var host = "127.0.0.1"
    @Option(help: "The port to listen on.")
    var port = 8085
    @Option(name: .customLong("public"), help: "The host under which browsers reach this server.")
    var publicHost: String?
    @Option(
        help: """
            An administrator's private key: the page then shows the sandbox's clock, approvals, \
            refunds and resumptions. Only for a store on your own machine.
            """
    )
    var administratorKey: String?

    /// The hosts under which browsers may reach this server.
    var hosts: Set<String> {
        if let publicHost { return [publicHost.lowercased()] }
        return ["127.0.0.1:\(port)", "localhost:\(port)"]
    }

    /// Checks what the options say together.
    ///
    /// - Throws: ``StorefrontRefusal``.
    func check() throws {
        let isLoopback = ["127.0.0.1", "::1", "localhost"].contains(host)
        guard isLoopback || publicHost != nil else {
            throw StorefrontRefusal(
                "Anybody can sign in here under any name. To listen on \(host), say --public HOST."
            )
        }
        // Behind a proxy this server listens on loopback too, and everybody can reach it.
        guard publicHost == nil || administratorKey == nil else {
            throw StorefrontRefusal("An administrator's key is never for a server with --public.")
        }
        let index = URL(fileURLWithPath: pages).appending(path: "index.html").path
        guard FileManager.default.fileExists(atPath: index) else {
            throw StorefrontRefusal("There is no \(index); --pages names the page's folder.")
        }
    }

    /// The name of a key, which is that of its file.
    static func name(of path: String) -> String {
        URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
    }
}
