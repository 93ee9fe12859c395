public import Logging

/// A command of a service that ends by itself.
///
/// It reads its settings and returns its work.
public typealias ServiceWork =
    @Sendable (inout SettingsReader, Logger) throws -> @Sendable () async throws -> Void

/// A command that only one service has: it does its work, prints the result, and exits.
public struct ServiceCommand: Sendable {
    let name: String
    let meaning: String
    let prepare: @Sendable (inout SettingsReader, Logger) throws -> @Sendable () throws -> String

    /// Makes a command.
    ///
    /// - Parameters:
    ///   - name: The command's name.
    ///   - meaning: The command's description in the help.
    ///   - prepare: Reads the settings and returns the work, whose result is printed.
    public init(
        _ name: String,
        _ meaning: String,
        prepare:
            @escaping @Sendable (inout SettingsReader, Logger) throws ->
            @Sendable () throws ->
            String
    ) {
        self.name = name
        self.meaning = meaning
        self.prepare = prepare
    }
}
