import Testing

@testable import Messaging

@Suite struct RowNewsTests {
    private func newsAfterALook(through xid: UInt64) -> RowNews {
        let news = RowNews()
        news.beginLook()
        news.saw(rowsThrough: xid)
        return news
    }

    @Test func theFirstLookIsDue() {
        #expect(RowNews().isThere)
    }

    @Test func aLookTakesTheNews() {
        let news = newsAfterALook(through: 7)
        #expect(!news.isThere)
        news.note()
        #expect(news.isThere)
        news.beginLook()
        #expect(!news.isThere)
    }

    @Test func rowsThatALookHasSeenAreNoNews() {
        let news = newsAfterALook(through: 7)
        for xid: UInt64 in [3, 7] {
            let isNew = news.note(rowsAt: xid)
            #expect(!isNew)
        }
        #expect(!news.isThere)
    }

    @Test func laterAndUnknownRowsAreNews() {
        for xid: UInt64? in [8, nil] {
            let news = newsAfterALook(through: 7)
            let isNew = news.note(rowsAt: xid)
            #expect(isNew)
            #expect(news.isThere)
        }
    }

    @Test func aLaterLookForEarlierRowsForgetsNothing() {
        let news = newsAfterALook(through: 7)
        news.saw(rowsThrough: 5)
        let isNew = news.note(rowsAt: 6)
        #expect(!isNew)
    }
}
