import EventTypes
import Foundation
import Logging
import ServiceKit
import TestSupport
import Testing

@testable import Receipts

/// Temporary refusals of the App Store Server API, and those that begin at a certain time.
struct ServerAPIRefusalTests {
    private let now = MachineTime(millisecondsSinceEpoch: 1_800_000_000_000)

    @Test func aPageTokenIsGoodForADay() throws {
        let start = NotificationHistoryToken(xid: 77, position: 12)
        let token = NotificationPageToken(start, issuedAt: now).text
        for passed in [Duration.zero, .seconds(86_400)] {
            #expect(try NotificationPageToken(token, at: now.advanced(by: passed)).start == start)
        }
        let error = #expect(throws: ServerAPIError.self) {
            try NotificationPageToken(token, at: now.advanced(by: .seconds(86_401)))
        }
        #expect(error?.code == 4_000_017)
    }

    @Test(arguments: [
        "", "x", "1-2", "1-2-", "1-2-3-4", "1--3", "1-2--3", "-1-2-3", "1-2-zzzzzzzzzz", "é-2-3",
    ])
    func whatIsNoPageTokenIsRefused(text: String) {
        let error = #expect(throws: ServerAPIError.self) {
            try NotificationPageToken(text, at: now)
        }
        #expect(error?.code == 4_000_014)
    }

    @Test func anAppThatCannotBeReadIsNotAnAppThatIsMissing() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "apps-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let app = folder.appending(path: "com.example.app")
        try FileManager.default.createDirectory(at: app, withIntermediateDirectories: true)
        let file = app.appending(path: "app.json")
        // An incomplete file, as an editor may leave it for a moment.
        try Data("{\"appAppleID\":".utf8).write(to: file)
        let clock = ManualClock(StoreTime(millisecondsSinceEpoch: now.millisecondsSinceEpoch))
        let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let apps = AppRegistry(directory: folder.path, now: clock.machineNow, logger: quiet)
        let bundle = BundleID(unchecked: "com.example.app")
        #expect(apps.registration(of: bundle) == .unreadable)
        #expect(apps.registration(of: BundleID(unchecked: "com.example.other")) == .missing)
        #expect(apps.app(bundle) == nil)
        try Data("{\"appAppleID\":7}".utf8).write(to: file)
        clock.advance(by: .seconds(5))
        #expect(apps.registration(of: bundle) == .registered(AppRegistry.App(appAppleID: 7)))
    }
}
