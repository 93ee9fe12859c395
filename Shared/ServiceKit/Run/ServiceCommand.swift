public import Logging

/// A command of a service that ends by itself: reads its settings, and returns what it does.
public typealias ServiceWork =
    @Sendable (inout SettingsReader, Logger) throws -> @Sendable () async throws -> Void

/// A command that one service has beside those of all: it does its work, prints, and exits.
public struct ServiceCommand: Sendable {
    let name: String
    let meaning: String
    let prepare: @Sendable (inout SettingsReader, Logger) throws -> @Sendable () throws -> String

    /// Makes a command.
    ///
    /// - Parameters:
    ///   - name: The word that it is called by.
    ///   - meaning: What it does, as the help says it.
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
