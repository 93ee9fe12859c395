import Foundation
import Testing

/// Somebody else's cryptography: the `openssl` command, which every machine of this project has.
struct OpenSSL {
    /// Runs `openssl` in a folder of its own that holds the files given.
    ///
    /// - Returns: Its exit status and what it wrote.
    static func run(
        _ arguments: [String],
        files: [String: [UInt8]]
    ) throws -> (status: Int32, output: String) {
        let directory = FileManager.default.temporaryDirectory
            .appending(path: "receipts-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer {
            // A folder left in the temporary directory harms no later test.
            try? FileManager.default.removeItem(at: directory)
        }
        for (name, bytes) in files {
            try Data(bytes).write(to: directory.appending(path: name))
        }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        process.currentDirectoryURL = directory
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        if process.terminationStatus == 127 {
            Issue.record("openssl is not installed; install the package openssl")
        }
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }

    /// An ECDSA signature of r and s, 32 bytes each, as the DER that `openssl dgst` reads.
    static func der(_ raw: [UInt8]) -> [UInt8] {
        func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
            var digits = Array(bytes.drop { $0 == 0 })
            if digits.isEmpty || digits[0] & 0x80 != 0 {
                digits.insert(0, at: 0)
            }
            return [0x02, UInt8(digits.count)] + digits
        }
        let body = integer(raw[0..<32]) + integer(raw[32..<64])
        return [0x30, UInt8(body.count)] + body
    }
}
