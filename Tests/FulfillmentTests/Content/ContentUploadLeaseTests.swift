import EventTypes
import Postgres
import Synchronization
import TestSupport
import Testing

@testable import Fulfillment

@Suite(.timeLimit(.minutes(10)))
struct ContentUploadLeaseTests {
    private let bytes = Array("the first level".utf8)
    private var digest: ContentDigest { HostedContent.sample(bytes: bytes).sha256 }

    @Test(arguments: ContentForm.allCases)
    func anUploadThatTakesHoursRenewsItsLease(form: ContentForm) async throws {
        try await withContents(form) { store, place in
            let stop = Stop()
            let keeps = Mutex(0)
            let slow = store.contents(
                StoppedStorage(
                    storage: place.storage,
                    beforeKeep: {
                        keeps.withLock { $0 += 1 }
                        await stop.pass()
                    }
                ),
                renewal: .milliseconds(20)
            )
            async let outcome = slow.upload(bytes)
            try await stop.reached()
            let cleaner = store.contents(place.storage)
            for _ in 1...5 {
                store.clock.advance(by: HostedContentHandler.lease * 0.9)
                let due = store.clock.now().advanced(by: HostedContentHandler.lease * 0.5)
                try await eventually("the lease to be renewed") {
                    try await store.uploadLeaseEnd().flatMap { $0 > due ? true : nil }
                }
                #expect(try await cleaner.removeLeftovers() == 0)
            }
            await stop.open()
            #expect(try await outcome.isNew)
            #expect(keeps.withLock { $0 } == 1, "It is not stored a second time.")
            #expect(try place.stored() == [digest.rawValue: bytes])
            #expect(try await store.contentUploads() == 0)
        }
    }

    @Test(arguments: ContentForm.allCases)
    func anUploadWhoseLeaseWasTakenBackStopsStoringAndBeginsAgain(form: ContentForm) async throws {
        try await withContents(form) { store, place in
            let keeps = Mutex(0)
            let wasCancelled = Mutex(false)
            let contents = store.contents(
                StoppedStorage(
                    storage: place.storage,
                    beforeKeep: {
                        guard
                            keeps.withLock({
                                $0 += 1; return $0 == 1
                            })
                        else { return }
                        do {
                            // The store never finishes unless it is cancelled.
                            try await Task.sleep(for: .seconds(3600))
                        } catch {
                            wasCancelled.withLock { $0 = true }
                            throw error
                        }
                    }
                ),
                renewal: .milliseconds(20)
            )
            async let outcome = contents.upload(bytes)
            try await eventually("the bytes to be on their way") {
                keeps.withLock { $0 } == 1 ? true : nil
            }
            // A cleaner whose clock is far ahead. It skips a row that is being renewed.
            let ahead = store.clock.machineNow().advanced(by: HostedContentHandler.lease * 2)
            try await eventually("the lease to be taken back") {
                try await store.client.withTransaction { connection in
                    let leftover = try ContentUploadStore.takeOver(
                        at: ahead,
                        until: ahead,
                        on: connection
                    )
                    guard let leftover else { return Bool?.none }
                    try ContentUploadStore.end(leftover.number, of: digest, on: connection)
                    return true
                }
            }
            #expect(try await outcome.isNew)
            #expect(wasCancelled.withLock { $0 })
            #expect(keeps.withLock { $0 } == 2)
            #expect(try place.stored() == [digest.rawValue: bytes])
            #expect(try await store.contentUploads() == 0)
        }
    }

    @Test func anUploadWhoseBytesAnotherOneRecordsGoesOnAndBothAreOnRecord() async throws {
        try await withContents(.disk) { store, place in
            let stop = Stop()
            let keeps = Mutex(0)
            let slow = store.contents(
                StoppedStorage(
                    storage: place.storage,
                    beforeKeep: {
                        keeps.withLock { $0 += 1 }
                        await stop.pass()
                    }
                ),
                renewal: .milliseconds(20)
            )
            async let second = slow.upload(bytes, of: "level.2")
            try await stop.reached()
            try await store.recordWhileLeaseIsRenewed(HostedContent.sample(bytes: bytes))
            // The upload has learned that there is nothing to renew any more, and continues.
            await stop.open()
            #expect(try await second.isNew)
            #expect(keeps.withLock { $0 } == 1, "It is not stored a second time.")
            #expect(try place.stored() == [digest.rawValue: bytes])
            #expect(try await store.contentUploads() == 0)
        }
    }

    @Test func aRemovalIsOverLongBeforeItsBytesMayBeStoredAgain() {
        let settings = S3Settings(
            endpoint: "",
            bucket: "",
            region: "",
            prefix: "",
            accessKey: "",
            secretKey: "",
            timeout: .seconds(600),
            connectionsMax: 1
        )
        #expect(settings.removalMax * 2 < HostedContentHandler.removalLease)
    }
}

extension FulfillmentDatabase {
    /// Records the content of the only upload under way, as another upload of the same bytes does.
    ///
    /// It waits until a renewal of the lease waits for it, and returns once that renewal has ended.
    fileprivate func recordWhileLeaseIsRenewed(_ content: HostedContent) async throws {
        try await client.withTransaction { connection in
            let number = try #require(
                try connection.query("SELECT number FROM content_uploads FOR UPDATE").first?
                    .decode(Int64.self)
            )
            var isWaiting = false
            while !isWaiting {
                isWaiting =
                    try connection.query(
                        """
                        SELECT EXISTS (
                            SELECT FROM pg_locks WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid))
                        )
                        """
                    ).first?.decode(Bool.self) ?? false
            }
            _ = try HostedContentStore.record(content, now: startOfTime, on: connection)
            try ContentUploadStore.end(number, of: content.sha256, on: connection)
        }
        try await client.withTransaction { connection in
            // It waits for the renewal, which has the table's lock until its commit.
            try connection.execute("LOCK TABLE content_uploads IN SHARE ROW EXCLUSIVE MODE")
        }
    }
}
