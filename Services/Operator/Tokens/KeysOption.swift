import ArgumentParser
import Foundation

/// The option for the directory that `keys create` made, which holds the keys that sign tokens.
struct KeysOption: ParsableArguments {
    @Option(
        name: .customLong("keys"),
        help: "The directory that 'keys create' made (or COUNTERFOIL_KEYS; default .dev/keys)."
    )
    var path: String?

    var directory: KeyDirectory {
        KeyDirectory(
            path: path ?? ProcessInfo.processInfo.environment["COUNTERFOIL_KEYS"] ?? ".dev/keys"
        )
    }
}
