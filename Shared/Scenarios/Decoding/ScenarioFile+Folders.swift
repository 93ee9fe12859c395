import Foundation

extension ScenarioFile {
    /// Returns the paths of scenario files, with the files of a folder in place of each folder.
    ///
    /// A folder's files are those whose names end with `.yaml`, `.yml` or `.json`, in the order of
    /// their names. Folders within it are not looked into.
    ///
    /// - Parameter named: Files and folders. A path of neither is returned as it is.
    /// - Returns: The files, each folder's in its place.
    /// - Throws: ``ScenarioFileProblems`` if a folder has no scenario files, or an error of the
    ///   file system if it cannot be read.
    public static func paths(_ named: [String]) throws -> [String] {
        try named.flatMap { path -> [String] in
            var isFolder: ObjCBool = false
            let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
            guard exists, isFolder.boolValue else { return [path] }
            let files = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
                .filter { name in [".yaml", ".yml", ".json"].contains { name.hasSuffix($0) } }
            guard !files.isEmpty else {
                throw ScenarioFileProblems(lines: ["\(path): there are no scenario files"])
            }
            let folder = path.hasSuffix("/") ? path : path + "/"
            return files.map { folder + $0 }
        }
    }
}
