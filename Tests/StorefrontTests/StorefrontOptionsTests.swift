import ArgumentParser
import Foundation
import Testing

@testable import storefront

@Suite struct StorefrontOptionsTests {
    /// The folder of the real page.
    private static let pages = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Examples/Storefront/Pages").path

    private func check(_ arguments: [String] = [], pages: String = Self.pages) throws {
        let options = try StorefrontOptions.parse(
            ["--key", "app.pem", "--root", "root.cer", "--pages", pages] + arguments
        )
        try options.check()
    }

    @Test func onLoopbackItMayHaveAnAdministratorsKey() throws {
        try check()
        try check(["--administrator-key", "admin.pem"])
    }

    @Test func anotherAddressNeedsAPublicHost() throws {
        #expect(throws: StorefrontRefusal.self) { try check(["--host", "0.0.0.0"]) }
        try check(["--host", "0.0.0.0", "--public", "shop.example.com"])
    }

    @Test(arguments: ["127.0.0.1", "::1", "localhost", "0.0.0.0"])
    func aPublicServerHasNoAdministratorsKey(_ host: String) throws {
        // A proxy leads everybody to a server that listens only on loopback.
        let publicly = ["--host", host, "--public", "shop.example.com"]
        try check(publicly)
        #expect(throws: StorefrontRefusal.self) {
            try check(publicly + ["--administrator-key", "admin.pem"])
        }
    }

    @Test func aFolderWithoutThePageIsRefused() {
        #expect(throws: StorefrontRefusal.self) { try check(pages: "/nowhere") }
    }

    @Test func aPublicServerAnswersUnderItsPublicNameOnly() throws {
        let options = try StorefrontOptions.parse([
            "--key", "app.pem", "--root", "root.cer", "--public", "Shop.example.com",
        ])
        #expect(options.hosts == ["shop.example.com"])
    }
}
