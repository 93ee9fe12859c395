import AsyncHTTPClient
import Crypto
import EventTypes
import Foundation
import NIOCore
import NIOHTTP1
import StoreAPI
import Synchronization
import Testing
import TestSupport

@testable import PaymentQueue

@Suite(.timeLimit(.minutes(10)))
struct ContentDownloadTests {
    private func withOrigin(
        _ body: @Sendable (Origin) async throws -> Void
    ) async throws {
        let origin = Origin(bytes: (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 2) })
        // A leftover folder does no harm.
        defer { try? FileManager.default.removeItem(atPath: origin.directory) }
        try await body(origin)
    }

    @Test func aContentArrivesWholeUnderItsDigestWithProgressFromStartToEnd() async throws {
        try await withOrigin { origin in
            let reports = Mutex<[DownloadProgress]>([])
            let path = try await origin.download().run { progress in
                reports.withLock { $0.append(progress) }
            }
            #expect(path == "\(origin.directory)/\(origin.digest)")
            #expect(FileManager.default.contents(atPath: path) == Data(origin.bytes))
            #expect(origin.files == [origin.digest.rawValue])
            let written = reports.withLock { $0.map(\.bytesWritten) }
            #expect(written.first == 0 && written.last == 100_000)
            #expect(written == written.sorted() && written.count > 10)
            #expect(reports.withLock { $0.last?.timeRemaining } == .zero)
            #expect(reports.withLock { $0.dropFirst(2).allSatisfy { $0.timeRemaining != nil } })
            #expect(origin.requests.map(\.range) == [nil])
            #expect(origin.requests.map(\.authorization) == ["Bearer token-1"])
        }
    }

    @Test func aLostConnectionIsWaitedOutAndOnlyWhatIsMissingIsAskedFor() async throws {
        try await withOrigin { origin in
            origin.faults = [.cut(after: 30_000), .noAnswer, .status(503), .cut(after: 20_000)]
            _ = try await origin.download().run()
            let tag = "\"\(origin.digest)\""
            #expect(
                origin.requests.map(\.range)
                    == [nil, "bytes=30000-", "bytes=30000-", "bytes=30000-", "bytes=50000-"]
            )
            #expect(origin.requests.map(\.ifRange) == [nil, tag, tag, tag, tag])
            #expect(origin.requests.last?.authorization == "Bearer token-5")
            #expect(
                origin.waits == [.milliseconds(500), .seconds(1), .seconds(2), .milliseconds(500)]
            )
            #expect(origin.isDownloaded)
        }
    }

    @Test func aDownloadThatFailsOftenStopsAndItsBytesStay() async throws {
        try await withOrigin { origin in
            origin.faults = [.cut(after: 10_000)] + Array(repeating: .noAnswer, count: 10)
            let error = await #expect(throws: ContentDownloadError.self) {
                _ = try await origin.download().run()
            }
            #expect(error?.code == .notReachable)
            #expect(origin.requests.count == 10)
            #expect(origin.partLength == 10_000)
            origin.faults = []
            _ = try await origin.download().run()
            #expect(origin.requests.last?.range == "bytes=10000-")
            #expect(origin.isDownloaded)
        }
    }

    @Test func aPauseKeepsTheBytesAndTheNextRunAsksForTheRest() async throws {
        try await withOrigin { origin in
            for pause in 1...5 {
                origin.faults = [.hang(after: 15_000)]
                let task = Task { _ = try await origin.download().run() }
                try await eventually("pause \(pause) to be reached") {
                    origin.partLength == pause * 15_000 ? true : nil
                }
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
                #expect(origin.partLength == pause * 15_000)
            }
            _ = try await origin.download().run()
            #expect(origin.requests.last?.range == "bytes=75000-")
            #expect(origin.isDownloaded)
        }
    }

    @Test func whatAnotherProcessLeftIsResumedUnlessItIsTooLong() async throws {
        try await withOrigin { origin in
            try origin.writePart(Array(origin.bytes[..<60_000]))
            _ = try await origin.download().run()
            #expect(origin.requests.map(\.range) == ["bytes=60000-"])
            try FileManager.default.removeItem(atPath: origin.directory)
            try origin.writePart(origin.bytes + [0])
            _ = try await origin.download().run()
            #expect(origin.requests.last?.range == nil)
            try FileManager.default.removeItem(atPath: origin.directory)
            try origin.writePart(origin.bytes)
            _ = try await origin.download().run()
            #expect(origin.requests.count == 2)
            #expect(origin.isDownloaded)
        }
    }

    @Test func whatIsThereWholeIsNotAskedForAgainAndWhatIsDamagedIs() async throws {
        try await withOrigin { origin in
            let path = try await origin.download().run()
            let written = Mutex<[Int64]>([])
            _ = try await origin.download().run { progress in
                written.withLock { $0.append(progress.bytesWritten) }
            }
            #expect(origin.requests.count == 1)
            #expect(written.withLock { $0.last } == 100_000)
            #expect(origin.isDownloaded)
            var damaged = origin.bytes
            damaged[7] ^= 1
            try Data(damaged).write(to: URL(fileURLWithPath: path))
            _ = try await origin.download().run()
            #expect(origin.requests.count == 2)
            #expect(origin.isDownloaded)
        }
    }

    @Test func aTokenThatCannotBeHadAtTheMomentIsWaitedForAsTheStoreIs() async throws {
        try await withOrigin { origin in
            origin.faults = [.status(401)]
            origin.lacksToken = true
            _ = try await origin.download().run()
            #expect(origin.requests.map(\.authorization) == ["Bearer token-2", "Bearer token-3"])
            #expect(origin.isDownloaded)
        }
    }

    @Test func aCorruptedPartIsFoundByTheDigestAndThrownAway() async throws {
        try await withOrigin { origin in
            var part = Array(origin.bytes[..<60_000])
            part[31_000] ^= 1
            try origin.writePart(part)
            let error = await #expect(throws: ContentDownloadError.self) {
                _ = try await origin.download().run()
            }
            #expect(error?.code == .digestDiffers)
            #expect(origin.files.isEmpty)
            _ = try await origin.download().run()
            #expect(origin.isDownloaded)
        }
    }

    @Test func aStoreThatIgnoresTheRangeDoesNotTurnProgressBack() async throws {
        try await withOrigin { origin in
            try origin.writePart(Array(origin.bytes[..<60_000]))
            origin.faults = [.ignoredRange]
            let written = Mutex<[Int64]>([])
            _ = try await origin.download().run { progress in
                written.withLock { $0.append(progress.bytesWritten) }
            }
            #expect(written.withLock { $0 == $0.sorted() && $0.first == 60_000 })
            #expect(origin.isDownloaded)
        }
    }

    @Test func aRefusalHasTheStoresOwnWordsAndIsNotRetried() async throws {
        try await withOrigin { origin in
            origin.faults = [.problem(409, "transaction_finished")]
            let error = await #expect(throws: ContentDownloadError.self) {
                _ = try await origin.download().run()
            }
            #expect(error?.code == .refused)
            #expect(error?.problem?.code == "transaction_finished")
            #expect(origin.requests.count == 1)
        }
    }

    @Test func moreBytesThanThereShouldBeAreNotWritten() async throws {
        try await withOrigin { origin in
            origin.faults = [.excess]
            let error = await #expect(throws: ContentDownloadError.self) {
                _ = try await origin.download().run()
            }
            #expect(error?.code == .answerUnexpected)
            #expect(origin.partLength ?? 0 <= 100_000)
        }
    }

    @Test func aDiscardRemovesOnlyAnUnfinishedPart() async throws {
        try await withOrigin { origin in
            try origin.writePart([1])
            try Data([1]).write(to: URL(fileURLWithPath: origin.directory + "/other"))
            try await origin.download().discard()
            #expect(origin.files == ["other"])
            let path = try await origin.download().run()
            try await origin.download().discard()
            #expect(FileManager.default.fileExists(atPath: path))
        }
    }

    @Test func oneContentIsDownloadedOnceAtATime() async throws {
        try await withOrigin { origin in
            origin.faults = [.hang(after: 10_000)]
            let first = Task { _ = try await origin.download().run() }
            try await eventually("the first to have begun") {
                origin.partLength == 10_000 ? true : nil
            }
            let error = await #expect(throws: ContentDownloadError.self) {
                _ = try await origin.download().run()
            }
            #expect(error?.code == .inProgress)
            await #expect(throws: ContentDownloadError.self) {
                try await origin.download().discard()
            }
            first.cancel()
            await #expect(throws: CancellationError.self) { try await first.value }
            _ = try await origin.download().run()
            #expect(origin.isDownloaded)
        }
    }

    @Test func aDirectoryThatCannotBeWrittenIsAFailureWithItsReason() async throws {
        try await withOrigin { origin in
            try origin.writePart([1])
            let file = "\(origin.directory)/\(origin.digest).part"
            let error = await #expect(throws: ContentDownloadError.self) {
                _ = try await origin.download(to: file + "/below").run()
            }
            #expect(error?.code == .directoryUnusable)
            #expect(error?.message.contains("/below") == true)
            #expect(origin.requests.isEmpty)
        }
    }

    @Test func aFullDiskIsAnErrorOfItsOwnAndIsNotRetried() async throws {
        // Every write to it fails for want of room.
        try #require(FileManager.default.fileExists(atPath: "/dev/full"))
        try await withOrigin { origin in
            try FileManager.default.createDirectory(
                atPath: origin.directory,
                withIntermediateDirectories: true
            )
            try FileManager.default.createSymbolicLink(
                atPath: "\(origin.directory)/\(origin.digest).part",
                withDestinationPath: "/dev/full"
            )
            let error = await #expect(throws: ContentDownloadError.self) {
                _ = try await origin.download().run()
            }
            #expect(error?.code == .diskFull)
            #expect(origin.requests.count == 1)
        }
    }
}
