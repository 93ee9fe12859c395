import Foundation
import StoreHarness

/// The settings of `counterfoil` for a local store, as a file that the shell reads.
struct OperatorEnvironment {
    private let store: StoreHarness

    init(_ store: StoreHarness) {
        self.store = store
    }

    /// The file's path, relative to the current directory if it is below it.
    static func path(of store: StoreHarness) -> String {
        let path = store.directory + "/operator.env"
        let here = FileManager.default.currentDirectoryPath + "/"
        return path.hasPrefix(here) ? String(path.dropFirst(here.count)) : path
    }

    /// Writes the file so that only its owner can read it: URLs may hold passwords.
    func write() throws {
        let path = store.directory + "/operator.env"
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    private var text: String {
        var values = store.operatorEnvironment.sorted { $0.key < $1.key }
        values.append((key: "COUNTERFOIL_CONSOLE_URL", value: ConsoleProcess.origin))
        // This makes `counterfoil` the one of this build.
        values.append((key: "PATH", value: BuiltExecutables.directory + ":$PATH"))
        return
            "# Settings of counterfoil for the store in this folder; the next run rewrites them.\n"
            + values.map { "export \($0.key)=\"\($0.value)\"\n" }.joined()
    }
}
