package import EventTypes
package import Seals

extension LogMonth {
    /// The month that contains a moment.
    package init(_ time: StoreTime) {
        self.init(microsecondsSinceEpoch: time.millisecondsSinceEpoch * 1000)
    }
}
