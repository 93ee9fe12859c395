public import Foundation

/// The folder that this package was built from.
public enum SourceTree {
    /// The folder of `Package.swift`, found from the place of this file.
    public static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The path of a file in it.
    public static func path(_ name: String) -> String { root.appendingPathComponent(name).path }
}
