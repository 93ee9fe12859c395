import Foundation
import StoreHarness

/// What `counterfoil` has to know of a store that runs here: a file for the shell to read.
struct OperatorEnvironment {
    private let store: StoreHarness

    init(_ store: StoreHarness) {
        self.store = store
    }

    /// Where the file is, from here if it is below here.
    static func path(of store: StoreHarness) -> String {
        let path = store.directory + "/operator.env"
        let here = FileManager.default.currentDirectoryPath + "/"
        return path.hasPrefix(here) ? String(path.dropFirst(here.count)) : path
    }

    /// Writes the file, for nobody else to read: URLs may hold passwords.
    func write() throws {
        let path = store.directory + "/operator.env"
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    private var text: String {
        var values = store.operatorEnvironment.sorted { $0.key < $1.key }
        // So that `counterfoil` is the one of this build.
        values.append((key: "PATH", value: BuiltExecutables.directory + ":$PATH"))
        return
            "# Settings of counterfoil for the store in this folder; the next run rewrites them.\n"
            + values.map { "export \($0.key)=\"\($0.value)\"\n" }.joined()
    }
}
