import Foundation
import Testing

/// An independent implementation of the cryptography: the `openssl` command, which is on every
/// machine of this project.
struct OpenSSL {
    /// Runs `openssl` in a directory of its own that contains the given files.
    ///
    /// - Returns: The exit status and the output.
    static func run(
        _ arguments: [String],
        files: [String: [UInt8]]
    ) throws -> (status: Int32, output: String) {
        let (status, output, _) = try run(arguments, files: files, reading: nil)
        return (status, output)
    }

    /// Returns the content of a PKCS#7 that is signed under a root, according to `openssl cms
    /// -verify`.
    ///
    /// - Returns: `nil` if it is refused, with openssl's reason.
    static func content(
        of receipt: [UInt8],
        root: [UInt8],
        at seconds: Int64
    ) throws -> (content: [UInt8]?, reason: String) {
        let pem = """
            -----BEGIN CERTIFICATE-----
            \(Data(root).base64EncodedString(options: .lineLength64Characters))
            -----END CERTIFICATE-----

            """
        let (status, output, content) = try run(
            [
                "cms", "-verify", "-binary", "-inform", "DER", "-in", "receipt", "-CAfile",
                "root.pem", "-attime", "\(seconds)", "-out", "content",
            ],
            files: ["receipt": receipt, "root.pem": Array(pem.utf8)],
            reading: "content"
        )
        return (status == 0 ? content : nil, output)
    }

    private static func run(
        _ arguments: [String],
        files: [String: [UInt8]],
        reading name: String?
    ) throws -> (status: Int32, output: String, file: [UInt8]) {
        let directory = FileManager.default.temporaryDirectory
            .appending(path: "receipts-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer {
            // A directory left behind in the temporary directory does not affect later tests.
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
        // A file that was not written counts as empty. The status has the reason.
        let file = name.flatMap { try? Data(contentsOf: directory.appending(path: $0)) } ?? Data()
        return (
            process.terminationStatus, String(decoding: output, as: UTF8.self), Array(file)
        )
    }

    /// Encodes an ECDSA signature of r and s, 32 bytes each, as DER for `openssl dgst`.
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
