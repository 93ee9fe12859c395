import EventTypes
import StoreAPI
import Testing

@testable import Fulfillment

@Suite struct WebhookSignerTests {
    @Test func theSignatureIsThatOfStandardWebhooksOwnExample() throws {
        let signer = try WebhookSigner(secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n")
        let headers = signer.headers(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
            time: MachineTime(millisecondsSinceEpoch: 1_614_265_330_000),
            body: Array(#"{"test": 2432232314}"#.utf8)
        )
        #expect(headers.map(\.name) == ["webhook-id", "webhook-timestamp", "webhook-signature"])
        #expect(headers[1].value == "1614265330")
        #expect(headers[2].value == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test(arguments: [
        "", "whsec_", "whsec_!!", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_c2hvcnQ=",
    ])
    func aSecretOfAnotherFormIsRefused(secret: String) {
        #expect(throws: FulfillmentError.self) { try WebhookSigner(secret: secret) }
    }

    @Test(arguments: [
        ("https://Merchant.example/a?b=c", "merchant.example"),
        ("http://127.0.0.1:8080/x", "127.0.0.1:8080"), ("not a url", "not a url"),
    ])
    func sendersShareThemselvesOutByHostAndPort(url: String, host: String) {
        #expect(EndpointAddress.host(of: url) == host)
    }
}
