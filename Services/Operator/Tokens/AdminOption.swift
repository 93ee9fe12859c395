import ArgumentParser
import EventTypes
import Foundation
import OperatorCore
import StoreAPI

/// The option that selects the acting administrator.
struct AdminOption: ParsableArguments {
    @Option(
        name: [.customLong("administrator"), .customLong("admin")],
        help: "The administrator's name; needed only if several administrators have keys."
    )
    var administrator: String?

    /// The administrator: the one that was named, or the only one that has a key.
    func name(keys: KeyDirectory) throws(OperatorError) -> AdministratorName {
        let folder = keys.privateKeys.appending(path: "administrators")
        let names = keys.names(in: folder).filter { $0.hasSuffix(".pem") }
            .map { String($0.dropLast(4)) }
        let only = try KeyDirectory.only(
            administrator,
            in: names,
            of: folder,
            option: "--administrator"
        )
        guard let name = AdministratorName(rawValue: only) else {
            throw OperatorError(.usage, "'\(only)' is not \(AdministratorName.form).")
        }
        return name
    }

    /// Makes a token for the administrator.
    ///
    /// The scopes narrow the token; without any it has all that the key has.
    func token(
        keys: KeyDirectory,
        at time: MachineTime,
        lifetime: Duration,
        scopes: [AdministratorScope] = []
    ) async throws(OperatorError) -> String {
        let name = try name(keys: keys).rawValue
        let signer = try keys.tokenSigner(
            keys.administratorPrivateKey(name: name),
            named: name
        )
        return try await signer.adminToken(from: time, lifetime: lifetime, scopes: scopes)
    }
}
