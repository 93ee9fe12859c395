import Foundation

/// The executables of this build.
///
/// They are next to the test bundle or tool that is running.
public enum BuiltExecutables {
    /// The build folder of the running program, or `COUNTERFOIL_BUILD_DIRECTORY`.
    public static var directory: String {
        if let given = ProcessInfo.processInfo.environment["COUNTERFOIL_BUILD_DIRECTORY"] {
            return given
        }
        let program =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
            ?? CommandLine.arguments.first ?? ""  // No /proc: the name it was started by.
        return URL(fileURLWithPath: program).deletingLastPathComponent().path
    }

    /// Returns the path of an executable of this package.
    ///
    /// - Parameter name: The product's name: `catalog`, `counterfoil`, …
    /// - Returns: The path.
    /// - Throws: ``HarnessError`` if it was not built.
    public static func path(_ name: String) throws -> String {
        let path = directory + "/" + name
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw HarnessError("There is no executable \(path): run `swift build` first.")
        }
        return path
    }
}
