import Foundation
import ServiceKit
import Testing

@testable import Fulfillment

@Suite struct ContentSettingsTests {
    /// Reads settings, with the key files that they refer to.
    private func read(
        _ environment: [String: String],
        accessKey: String = "the-access-key\n",
        secretKey: String = "the-secret-key\n"
    ) throws -> (settings: ContentSettings, problems: [SettingsProblem]) {
        let folder = ContentFolder()
        defer { folder.remove() }
        try folder.write(Array(accessKey.utf8), as: ["access"])
        try folder.write(Array(secretKey.utf8), as: ["secret"])
        var reader = SettingsReader(
            environment: environment.mapValues { $0.replacing("FOLDER", with: folder.path) }
        )
        let settings = ContentSettings(&reader)
        return (settings, reader.problems)
    }

    private let store = [
        "CONTENT_S3_ENDPOINT": "http://127.0.0.1:9000/", "CONTENT_S3_BUCKET": "contents",
        "CONTENT_S3_PREFIX": "store/content", "CONTENT_S3_REGION": "eu-central-1",
        "CONTENT_S3_ACCESS_KEY_FILE": "FOLDER/access",
        "CONTENT_S3_SECRET_KEY_FILE": "FOLDER/secret",
    ]

    @Test func withoutAStoreContentsAreInTheDirectory() throws {
        let (settings, problems) = try read(["CONTENT_DIRECTORY": "/somewhere"])
        #expect(problems.isEmpty)
        #expect(settings.store == nil && settings.directory == "/somewhere")
    }

    @Test func aStoreIsReadWithItsKeysWithoutWhatEditorsAddToFiles() throws {
        let (settings, problems) = try read(store)
        #expect(problems.isEmpty)
        #expect(settings.store?.endpoint == "http://127.0.0.1:9000")
        #expect(settings.store?.prefix == "store/content/")
        #expect(settings.store?.region == "eu-central-1")
        #expect(settings.store?.accessKey == "the-access-key")
        #expect(settings.store?.secretKey == "the-secret-key")
    }

    @Test(arguments: [
        ("CONTENT_S3_ENDPOINT", "ftp://store.example"),
        ("CONTENT_S3_ENDPOINT", "store.example"),
        ("CONTENT_S3_ENDPOINT", "https://store.example/bucket"),
        ("CONTENT_S3_ENDPOINT", "https://user:password@store.example"),
        ("CONTENT_S3_BUCKET", ""), ("CONTENT_S3_BUCKET", "a/b"),
        ("CONTENT_S3_REGION", "us east"), ("CONTENT_S3_PREFIX", "../up"),
        ("CONTENT_S3_PREFIX", "/store"), ("CONTENT_S3_PREFIX", "a b"),
        ("CONTENT_S3_ACCESS_KEY_FILE", ""), ("CONTENT_S3_SECRET_KEY_FILE", ""),
        ("CONTENT_S3_SECRET_KEY_FILE", "FOLDER/nowhere"),
        ("CONTENT_LENGTH_MAX", "5368709121"),
    ])
    func whatIsSetWrongIsRefusedByItsName(key: String, value: String) throws {
        let problems = try read(store.merging([key: value]) { $1 }).problems
        #expect(problems.map(\.key) == [key])
    }

    @Test func aStoresSettingWithoutTheStoreIsRefused() throws {
        let problems = try read(["CONTENT_S3_BUCKET": "contents"]).problems
        #expect(problems.map(\.key) == ["CONTENT_S3_BUCKET"])
    }

    @Test func aKeyFileThatHoldsNoKeyIsRefusedAndNoneOfItIsShown() throws {
        for secret in ["", " \n", "two words", "a\u{0}b"] {
            let problems = try read(store, secretKey: secret).problems
            #expect(problems.map(\.key) == ["CONTENT_S3_SECRET_KEY_FILE"])
            #expect(problems.allSatisfy { !$0.problem.contains("two") })
        }
    }
}
