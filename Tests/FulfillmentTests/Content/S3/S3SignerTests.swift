import Crypto
import EventTypes
import Testing

@testable import Fulfillment

/// The examples of the Amazon S3 API reference ("Signature Calculations for the Authorization
/// Header: Transferring Payload in a Single Chunk").
@Suite struct S3SignerTests {
    private let signer = S3Signer(
        accessKey: "AKIAIOSFODNN7EXAMPLE",
        secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        region: "us-east-1"
    )
    private let host = "examplebucket.s3.amazonaws.com"
    private let time = "20130524T000000Z"

    @Test func aRequestWithoutABodyHasThePublishedSignature() {
        let authorization = signer.authorization(
            "GET",
            "/test.txt",
            headers: [
                "host": host, "range": "bytes=0-9", "x-amz-date": time,
                "x-amz-content-sha256": S3Signer.emptyPayload.rawValue,
            ],
            payload: S3Signer.emptyPayload,
            time: time
        )
        #expect(
            authorization
                == "AWS4-HMAC-SHA256 "
                + "Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
                + "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
                + "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        )
    }

    @Test func aRequestWithABodyHasThePublishedSignature() {
        let payload = ContentDigest(bytes: SHA256.hash(data: Array("Welcome to Amazon S3.".utf8)))
        let authorization = signer.authorization(
            "PUT",
            "/test%24file.text",
            headers: [
                "date": "Fri, 24 May 2013 00:00:00 GMT", "host": host, "x-amz-date": time,
                "x-amz-content-sha256": payload.rawValue,
                "x-amz-storage-class": "REDUCED_REDUNDANCY",
            ],
            payload: payload,
            time: time
        )
        #expect(
            authorization.hasSuffix(
                "Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
            )
        )
    }

    @Test func theTimeIsInTheFormThatIsSigned() throws {
        let moment = try #require(MachineTime("2013-05-24T01:02:03.456Z"))
        #expect(S3Signer.time(moment) == "20130524T010203Z")
    }
}
