import Crypto
import EventTypes
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import ServiceKit
import TestSupport
import Testing

@testable import Receipts

/// The status of certificates, requested and verified by `openssl`.
@Suite struct OCSPResponderTests {
    private let files: StatusFiles
    private let directory: OCSPDirectory

    init() throws {
        files = try StatusFiles(try TestChain())
        directory = try files.directory()
    }

    /// Returns the request that `openssl` makes for a certificate.
    private func request(
        _ name: String,
        issuedBy issuer: String,
        _ options: String...
    ) throws -> [UInt8] {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "ocsp-request-\(UUID().uuidString)").path()
        defer {
            // A file left behind in the temporary directory does not affect later tests.
            try? FileManager.default.removeItem(atPath: folder)
        }
        let (status, output) = try OpenSSL.run(
            ["ocsp", "-issuer", "\(issuer).pem", "-reqout", folder] + options
                + (options.contains("-serial") ? [] : ["-cert", "\(name).pem"]),
            files: try files.pem()
        )
        try #require(status == 0, "\(output)")
        return Array(try Data(contentsOf: URL(filePath: folder)))
    }

    /// Returns the output of `openssl` for a response that it verifies with the root alone.
    private func read(
        _ response: [UInt8],
        _ name: String,
        issuedBy issuer: String,
        digest: String = "-sha1"
    ) throws -> String {
        var input = try files.pem()
        input["response.der"] = response
        let seconds = TestChain.now.millisecondsSinceEpoch / 1000
        return try OpenSSL.run(
            [
                "ocsp", "-issuer", "\(issuer).pem", digest, "-cert", "\(name).pem", "-no_nonce",
                "-respin", "response.der", "-CAfile", "root.pem", "-verify_other",
                "intermediate.pem", "-attime", "\(seconds)", "-validity_period", "999999999",
            ],
            files: input
        ).output
    }

    private func answer(_ request: [UInt8], at now: MachineTime = TestChain.now.onMachines) throws
        -> [UInt8]
    {
        try directory.responder(at: now).answer(request, at: now).bytes
    }

    @Test(
        arguments: [("leaf", "intermediate"), ("intermediate", "root")],
        [["-sha1"], ["-sha256", "-no_nonce"], ["-sha384"]]
    )
    func openSSLBelievesThatACertificateIsGood(
        _ certificate: (name: String, issuer: String),
        _ options: [String]
    ) throws {
        let request =
            options.count > 1
            ? try request(certificate.name, issuedBy: certificate.issuer, options[0], options[1])
            : try request(certificate.name, issuedBy: certificate.issuer, options[0])
        let output = try read(
            try answer(request),
            certificate.name,
            issuedBy: certificate.issuer,
            digest: options[0]
        )
        #expect(output.contains("Response verify OK"), "\(output)")
        #expect(output.contains("\(certificate.name).pem: good"), "\(output)")
    }

    @Test func aRevocationShowsWithinASecondWithItsTimeAndReason() throws {
        let request = try request("leaf", issuedBy: "intermediate")
        try files.revokeLeaf()
        let soon = TestChain.now.onMachines.advanced(by: .milliseconds(1000))
        let output = try read(
            try answer(request, at: soon),
            "leaf",
            issuedBy: "intermediate"
        )
        #expect(output.contains("Response verify OK"), "\(output)")
        #expect(output.contains("leaf.pem: revoked"), "\(output)")
        #expect(output.contains("Reason: keyCompromise"), "\(output)")
        #expect(output.contains("Revocation Time: Nov 21 01:00:00 2026 GMT"), "\(output)")
        let serial = try #require(try TestStatus.bytes(files.leafSerial))
        let status = directory.responder(at: soon).status(of: serial, issuedBy: 1)
        #expect(status == .revoked(at: "20261121010000Z", reason: 1))
    }

    @Test func filesThatCannotBeReadLeaveWhatWasReadBefore() throws {
        try files.write("intermediate-index.txt", "no register\n")
        let request = try request("leaf", issuedBy: "intermediate")
        let response = try answer(request, at: TestChain.now.onMachines.advanced(by: .seconds(5)))
        let output = try read(response, "leaf", issuedBy: "intermediate")
        #expect(output.contains("leaf.pem: good"), "\(output)")
        #expect(throws: ReceiptsError.self) { try files.directory() }
    }

    @Test func aNumberThatWasNeverIssuedIsUnknown() throws {
        let request = try request("leaf", issuedBy: "intermediate", "-serial", "0x1234")
        let response = try answer(request)
        // The status is [2] IMPLICIT NULL, directly after the certificate's id.
        #expect(response.firstRange(of: [0x12, 0x34, 0x82, 0x00]) != nil)
    }

    @Test func thoseOfOtherAuthoritiesAreNotAnsweredFor() throws {
        let others = try StatusFiles(try TestChain()).directory()
        let request = try request("leaf", issuedBy: "intermediate")
        let answer = try others.responder(at: TestChain.now.onMachines).answer(
            request,
            at: TestChain.now.onMachines
        )
        #expect(answer.bytes == [0x30, 3, 0x0A, 1, 6])
    }

    @Test(
        arguments: [
            [], [0], Array("hello".utf8), [0x30, 0x80], [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF],
            [UInt8](repeating: 0x30, count: 4096), [UInt8](repeating: 0, count: 100_000),
        ] as [[UInt8]]
    )
    func whatIsNoRequestIsMalformed(_ bytes: [UInt8]) throws {
        #expect(try answer(bytes) == [0x30, 3, 0x0A, 1, 1])
    }

    @Test func requestsThatAreCutShortAreMalformed() throws {
        let request = try request("leaf", issuedBy: "intermediate")
        for count in 0..<request.count {
            #expect(try answer(Array(request.prefix(count))) == [0x30, 3, 0x0A, 1, 1])
        }
    }

    @Test func aRequestInTheURLMayBeCachedAndOneWithANonceMayNot() async throws {
        let plain = try request("leaf", issuedBy: "intermediate", "-no_nonce")
        let nonce = try request("leaf", issuedBy: "intermediate", "-nonce")
        let router = try TestServers().router()
        OCSPRoutes(directory: directory, now: { TestChain.now.onMachines }).add(to: router)
        try await Application(responder: router.buildResponder()).test(.router) { client in
            for (request, isKept) in [(plain, true), (nonce, false)] {
                let encoded = try #require(
                    Data(request).base64EncodedString().addingPercentEncoding(
                        withAllowedCharacters: .alphanumerics
                    )
                )
                try await client.execute(uri: "/ocsp/\(encoded)", method: .get) { response in
                    #expect(response.status == .ok)
                    #expect(response.headers[.contentType] == "application/ocsp-response")
                    #expect(
                        response.headers[.cacheControl]
                            == (isKept
                                ? "public, max-age=300, must-revalidate, no-transform" : "no-store")
                    )
                    #expect(response.body.readableBytes > 200)
                }
            }
            try await client.execute(
                uri: "/ocsp",
                method: .post,
                body: ByteBuffer(bytes: plain)
            ) { response in
                #expect(response.status == .ok)
                #expect(response.headers[.cacheControl] == "no-store")
            }
        }
    }
}

enum TestStatus {
    /// Parses a number in hexadecimal into bytes.
    static func bytes(_ digits: String) throws -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = Substring(digits)
        while !rest.isEmpty {
            guard let byte = UInt8(rest.prefix(2), radix: 16) else { return nil }
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        return bytes
    }
}
