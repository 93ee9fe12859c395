public import EventTypes

extension EventID {
    /// Makes a new id from random bits of the kernel.
    public init(time: StoreTime) {
        var generator = RandomBlock()
        self.init(time: time, using: &generator)
    }
}

extension EventID {
    /// Makes a new id for something that only processes know, such as the owner of a lease.
    public init(time: MachineTime) {
        self.init(time: StoreTime(millisecondsSinceEpoch: time.millisecondsSinceEpoch))
    }
}

extension PurchaseIntentID {
    /// Makes a new id: a UUID of version 7, like an event's.
    public init(time: StoreTime) { self.init(unchecked: EventID(time: time).description) }
}

extension FamilyID {
    /// Makes a new id: a UUID of version 7, like an event's.
    public init(time: StoreTime) { self.init(unchecked: EventID(time: time).description) }
}
