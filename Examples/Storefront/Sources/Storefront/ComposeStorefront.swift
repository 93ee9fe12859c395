import AsyncHTTPClient
import Foundation
import Hummingbird
import Logging
import ReceiptValidation

/// Makes the routes of the storefront and what they need.
///
/// - Parameters:
///   - options: The options of the command line.
///   - client: The HTTP client, which the caller shuts down.
///   - logger: Receives what goes wrong.
/// - Returns: The router.
/// - Throws: ``StorefrontRefusal`` for options that do not fit or a store that is no sandbox, and
///   errors of files.
func composeStorefront(
    _ options: StorefrontOptions,
    client: HTTPClient,
    logger: Logger
) async throws -> Router<BasicRequestContext> {
    try options.check()
    let signer = try await TokenSigner(
        pem: try String(contentsOfFile: options.key, encoding: .utf8),
        keyID: StorefrontOptions.name(of: options.key),
        issuer: options.bundle,
        audience: "counterfoil"
    )
    let store = StoreCaller(client: client, addresses: options.store, signer: signer)
    try await SandboxCheck(store: store, logger: logger).run()
    let sessions = SessionRoutes(
        sessions: Sessions(),
        hasControls: options.administratorKey != nil
    )
    // A shop ships the root certificate with its files. One that it downloaded would prove nothing.
    let root = try Data(contentsOf: URL(fileURLWithPath: options.root))
    let receipts = ReceiptRoutes(
        store: store,
        sessions: sessions,
        validator: ReceiptValidator(
            ReceiptTrust(roots: [Array(root)], bundleID: options.bundle, environment: .sandbox)
        )
    )

    let router = Router(context: BasicRequestContext.self)
    router.add(middleware: PageGuard(hosts: options.hosts, logger: logger))
    router.add(middleware: CompressedPages(folder: options.pages, logger: logger))
    router.add(middleware: FileMiddleware(options.pages, searchForIndexHtml: true, logger: logger))
    sessions.add(to: router)
    receipts.add(to: router)
    RelayRoutes(store: store, sessions: sessions).add(to: router)
    ActionRoutes(store: store, sessions: sessions).add(to: router)
    CodePageRoutes(store: store, sessions: sessions).add(to: router)
    OwnedRoutes(store: store, sessions: sessions, receipts: receipts).add(to: router)
    HealthRoutes(store: store).add(to: router)
    if let key = options.administratorKey {
        let name = StorefrontOptions.name(of: key)
        SandboxRoutes(
            store: store,
            sessions: sessions,
            signer: try await TokenSigner(
                pem: try String(contentsOfFile: key, encoding: .utf8),
                keyID: name,
                issuer: "administrator",
                audience: "counterfoil-admin"
            ),
            administrator: name
        ).add(to: router)
    }
    return router
}
