package import Foundation

/// Files that are written beside their place first, so that nobody ever sees half of one.
package enum DraftFile {
    /// Writes a file that must not exist, and waits until the disk has it.
    ///
    /// The mode is set when the file is created, so others can never read a private one.
    ///
    /// - Parameters:
    ///   - contents: The contents.
    ///   - path: The draft.
    ///   - isPrivate: Whether only its owner may read it.
    /// - Throws: An error of the file system; then a part of the draft may be left.
    package static func write(_ contents: Data, to path: String, isPrivate: Bool) throws {
        let descriptor = open(
            path,
            O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
            isPrivate ? 0o600 : 0o644
        )
        guard descriptor >= 0 else { throw systemError() }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try file.write(contentsOf: contents)
        try file.synchronize()
    }

    /// Puts a draft in its place at once, also over a file that is there.
    ///
    /// - Throws: An error of the file system; then nothing has been changed.
    package static func put(_ draft: String, at path: String) throws {
        guard rename(draft, path) == 0 else { throw systemError() }
    }

    private static func systemError() -> POSIXError {
        POSIXError(POSIXError.Code(rawValue: errno) ?? .EIO)
    }
}
