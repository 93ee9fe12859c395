import Foundation

/// Compresses and decompresses streams with the program `gzip`.
///
/// The program is on every system, and its format will still be readable in fifty years.
final class Gzip: Sendable {
    private let process = Process()
    /// The end of the pipe that is written when compressing, and read when decompressing.
    let handle: FileHandle
    private let path: String

    /// Begins to compress into a file that is open for writing.
    ///
    /// If `gzip` ends early, SIGPIPE ends this process, unless that signal is ignored.
    ///
    /// - Throws: ``ArchiveError``.
    init(into file: FileHandle, path: String) throws(ArchiveError) {
        let pipe = Pipe()
        handle = pipe.fileHandleForWriting
        self.path = path
        // The output contains no name and no time, so that the same events always give the same
        // file.
        try start(["-n", "-c"], input: pipe, output: file)
        // gzip has its own copy of this end. If ours stayed open, gzip would never see the end of
        // its input.
        try? pipe.fileHandleForReading.close()
    }

    /// Begins to decompress a file.
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
        try? pipe.fileHandleForWriting.close()  // gzip has its own copy.
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

    /// Waits until everything is processed.
    ///
    /// - Throws: ``ArchiveError`` if `gzip` failed; the reason is on standard error.
    func finish() throws(ArchiveError) {
        try? handle.close()  // gzip's exit code shows any failure.
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

    /// Stops the program early.
    func stop() {
        try? handle.close()  // Nothing reads it any more.
        if process.isRunning { process.terminate() }
    }
}
