import EventTypes
import SwiftASN1
import TestSupport
import Testing
import X509

@testable import Receipts

@Suite struct SigningChainTests {
    @Test func aChainAsApplesVerifierWantsItIsAccepted() throws {
        let chain = try TestChain().signingChain()
        #expect(chain.id.count == 64)
        #expect(chain.validUntil == TestChain.validUntil.onMachines)
        #expect(chain.isValid(at: TestChain.now.onMachines))
        #expect(!chain.isValid(at: chain.validUntil.advanced(by: .milliseconds(1))))
    }

    @Test(arguments: TestChain.Fault.allCases)
    func aChainWithAFaultIsRefused(_ fault: TestChain.Fault) throws {
        let chain = try TestChain(fault)
        let refusal = #expect(throws: SigningChainRefusal.self) { try chain.signingChain() }
        #expect(refusal?.chainProblems.isEmpty == false)
    }

    @Test func everyProblemIsNamedAtOnce() throws {
        let refusal = #expect(throws: SigningChainRefusal.self) {
            try SigningChain(
                key: Array("no key".utf8),
                certificates: try TestChain(.markersSwapped).certificates,
                at: TestChain.now.onMachines.advanced(by: .seconds(20 * 365 * 86_400))
            )
        }
        let problems = try #require(refusal)
        #expect(problems.keyProblems.count == 1)
        // There are two wrong markers and three expired certificates.
        #expect(problems.chainProblems.count == 5)
        #expect(problems.description.contains("1.2.840.113635.100.6.11.1"))
    }

    @Test func filesThatAreNotPEMAreRefusedWithoutQuotingThem() throws {
        let secret = "-----BEGIN PRIVATE KEY-----\nc2VjcmV0c2VjcmV0\n-----END PRIVATE KEY-----\n"
        let refusal = #expect(throws: SigningChainRefusal.self) {
            try SigningChain(
                key: Array(secret.utf8),
                certificates: [],
                at: TestChain.now.onMachines
            )
        }
        let problems = try #require(refusal)
        #expect(problems.keyProblems.count == 1 && problems.chainProblems.count == 1)
        #expect(!problems.description.contains("c2VjcmV0"))
    }

    @Test func theKeyStandsInNoDescription() throws {
        let test = try TestChain()
        let chain = try test.signingChain()
        let lines = String(decoding: test.key, as: UTF8.self).split(separator: "\n")
        for text in ["\(chain)", String(reflecting: chain)] {
            #expect(!text.contains(lines[1]))
        }
        #expect("\(chain)" == "SigningChain(\(chain.id))")
    }

    @Test func opensslFollowsTheChainToTheRoot() throws {
        let pem = try TestChain().parsed.map { Array(try $0.serializeAsPEM().pemString.utf8) }
        let (status, output) = try OpenSSL.run(
            [
                "verify", "-attime", "\(TestChain.now.millisecondsSinceEpoch / 1000)",
                "-CAfile", "root.pem", "-untrusted", "intermediate.pem", "leaf.pem",
            ],
            files: ["leaf.pem": pem[0], "intermediate.pem": pem[1], "root.pem": pem[2]]
        )
        #expect(status == 0, "\(output)")
        #expect(output.contains("leaf.pem: OK"))
    }
}
