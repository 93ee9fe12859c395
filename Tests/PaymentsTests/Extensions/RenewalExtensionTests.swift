import EventTypes
import ServiceKit
import TestSupport
import Testing

@testable import Payments

/// The bodies with which merchants' servers extend subscriptions.
@Suite struct RenewalExtensionTests {
    private let app = BundleID(unchecked: "com.example.app")

    private func text(_ days: String, _ reason: String, _ id: String, _ more: String = "") -> String
    {
        """
        {"extendByDays":\(days),"extendReasonCode":\(reason),"requestIdentifier":\(id)\(more)}
        """
    }

    private func code(_ text: String) -> Int? {
        do throws(ServerAPIError) {
            _ = try RenewalExtension(Array(text.utf8))
            return nil
        } catch {
            return error.code
        }
    }

    private func massCode(_ more: String) -> Int? {
        do throws(ServerAPIError) {
            let body = text("3", "1", "\"r\"", more)
            _ = try RenewalExtension(Array(body.utf8)).all(in: app, at: startTime)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func itsFieldsAreWithinApplesBounds() {
        let long = String(repeating: "x", count: 128)
        #expect(code(text("1", "0", "\"r\"")) == nil && code(text("90", "3", "\"\(long)\"")) == nil)
        for days in ["0", "91", "-1", "\"3\"", "null"] {
            #expect(code(text(days, "1", "\"r\"")) == 4_000_009)
        }
        for reason in ["-1", "4", "\"1\"", "null"] {
            #expect(code(text("3", reason, "\"r\"")) == 4_000_010)
        }
        for id in ["\"\"", "\"\(long)x\"", "7", "null"] {
            #expect(code(text("3", "1", id)) == 4_000_011)
        }
        #expect(code("[]") == 4_000_000 && code("") == 4_000_000)
    }

    /// Otherwise a subscriber would miss the days of that request for all subscribers.
    @Test func identifiersOfTheStoreItselfAreRefused() {
        #expect(code(text("3", "1", "\"mass extension 7\"")) == 4_000_011)
        #expect(code(text("3", "1", "\"mass\"")) == nil)
    }

    @Test func anIdentifierWithTheNumberOfACardIsRefused() {
        #expect(code(text("3", "1", "\"4242 4242 4242 4242\"")) == 4_000_011)
        #expect(code(text("3", "1", "\"4242424242424242\"")) == 4_000_011)
        #expect(code(text("3", "1", "\"4242424242424241\"")) == nil)
        #expect(code(text("3", "1", "\"42424242-4242-4242-8242-424242424242\"")) == nil)
    }

    @Test func allSubscribersAreThoseOfAProductAndOfStorefronts() {
        #expect(massCode(",\"productId\":\"pro\"") == nil)
        #expect(massCode(",\"productId\":\"pro\",\"storefrontCountryCodes\":[\"USA\"]") == nil)
        #expect(massCode("") == 4_000_023)
        #expect(massCode(",\"productId\":\"p r o\"") == 4_000_023)
        #expect(massCode(",\"productId\":\"pro\",\"storefrontCountryCodes\":[]") == 4_000_027)
        #expect(massCode(",\"productId\":\"pro\",\"storefrontCountryCodes\":[\"US\"]") == 4_000_028)
    }
}
