public import Foundation

/// The folder that this package was built from.
public enum SourceTree {
    /// The folder of `Package.swift`, derived from the location of this file.
    public static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// Returns the path of a file in the folder.
    public static func path(_ name: String) -> String { root.appendingPathComponent(name).path }
}
