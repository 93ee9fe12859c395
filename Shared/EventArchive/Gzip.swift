import Foundation

/// Compresses and expands streams with the program `gzip`, which is on every system there is: its
/// files are read by everything, in fifty years too.
///
/// `@unchecked`: Foundation's `Process` and `FileHandle` are not declared sendable; one task at a
/// time uses them.
final class Gzip: @unchecked Sendable {
    private let process = Process()
    /// What goes in, or comes out.
    let handle: FileHandle
    private let path: String

    /// Begins to compress into a file that is open for writing.
    ///
    /// The process ends with SIGPIPE if `gzip` does, unless that signal is ignored.
    ///
    /// - Throws: ``ArchiveError``.
    init(into file: FileHandle, path: String) throws(ArchiveError) {
        let pipe = Pipe()
        handle = pipe.fileHandleForWriting
        self.path = path
        // No name and no time in it: the same events give the same file.
        try start(["-n", "-c"], input: pipe, output: file)
        // Its copy is gzip's; with this one open it would never see an end.
        try? pipe.fileHandleForReading.close()
    }

    /// Begins to expand a file.
    ///
    /// - Throws: ``ArchiveError``.
    init(outOf path: String) throws(ArchiveError) {
        let pipe = Pipe()
        handle = pipe.fileHandleForReading
        self.path = path
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw ArchiveError(.eventFile, "\(path) cannot be read.")
        }
        try start(["-d", "-c"], input: file, output: pipe)
        try? pipe.fileHandleForWriting.close()  // Its copy is gzip's.
    }

    private func start(_ arguments: [String], input: Any, output: Any) throws(ArchiveError) {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["gzip"] + arguments
        process.standardInput = input
        process.standardOutput = output
        do {
            try process.run()
        } catch {
            throw ArchiveError(
                .eventFile,
                "gzip cannot be started for \(path): \(error.localizedDescription)"
            )
        }
    }

    /// Waits until everything is through.
    ///
    /// - Throws: ``ArchiveError`` if `gzip` failed; it has said on standard error why.
    func finish() throws(ArchiveError) {
        try? handle.close()  // Closed or not, gzip's exit code says how it went.
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw ArchiveError(
                .eventFile,
                process.terminationStatus == 127
                    ? "\(path) is compressed, and there is no gzip on this machine; install it."
                    : "gzip failed on \(path); it says above why. Is the disk full, or the file cut?"
            )
        }
    }

    /// Ends it before its time.
    func stop() {
        try? handle.close()  // Nobody reads on.
        if process.isRunning { process.terminate() }
    }
}
