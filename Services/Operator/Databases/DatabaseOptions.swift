import ArgumentParser
import Foundation
import OperatorCore

/// The addresses of the services' databases, for the commands that read them.
struct DatabaseOptions: ParsableArguments {
    @Option(help: Self.help(of: .catalog)) var catalogDatabaseURL: String?
    @Option(help: Self.help(of: .payments)) var paymentsDatabaseURL: String?
    @Option(help: Self.help(of: .receipts)) var receiptsDatabaseURL: String?
    @Option(help: Self.help(of: .fulfillment)) var fulfillmentDatabaseURL: String?

    /// The addresses of the databases.
    func addresses(
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> DatabaseAddresses {
        let asked: [OperatedService: String?] = [
            .catalog: catalogDatabaseURL, .payments: paymentsDatabaseURL,
            .receipts: receiptsDatabaseURL, .fulfillment: fulfillmentDatabaseURL,
        ]
        return DatabaseAddresses(urls: asked.compactMapValues(\.self), environment)
    }

    /// The address of a service's database.
    func address(
        of service: OperatedService,
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> DatabaseAddress {
        addresses(environment).address(of: service)
    }

    private static func help(of service: OperatedService) -> ArgumentHelp {
        ArgumentHelp(
            """
            The database of \(service.rawValue) (or \(DatabaseAddresses.variable(of: service)), where others do not see \
            the password; default \(DatabaseAddresses.defaultURL(of: service))).
            """
        )
    }
}
