extension StoreClock: Codable {
    private enum Key: String, CodingKey {
        case mode, at, from, since, rate, end
    }

    private enum Mode: String, Codable {
        case machines, frozen, running
    }

    /// Decodes the clock from the form that ``encode(to:)`` writes.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        switch try values.decode(Mode.self, forKey: .mode) {
        case .machines: self = .machines
        case .frozen: self = .frozen(at: try values.decode(StoreTime.self, forKey: .at))
        case .running:
            let text = try values.decode(String.self, forKey: .rate)
            guard let rate = ClockRate(text) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .rate,
                    in: values,
                    debugDescription: "expected a rate such as 1h=1d"
                )
            }
            self = .running(
                from: try values.decode(StoreTime.self, forKey: .from),
                since: MachineTime(
                    millisecondsSinceEpoch: try values.decode(Int64.self, forKey: .since)
                ),
                rate: rate,
                end: try values.decode(StoreTime.self, forKey: .end)
            )
        }
    }

    /// Encodes the clock as an object whose `mode` is `machines`, `frozen` or `running`.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        switch self {
        case .machines: try values.encode(Mode.machines, forKey: .mode)
        case .frozen(let time):
            try values.encode(Mode.frozen, forKey: .mode)
            try values.encode(time, forKey: .at)
        case .running(let start, let since, let rate, let end):
            try values.encode(Mode.running, forKey: .mode)
            try values.encode(start, forKey: .from)
            try values.encode(since, forKey: .since)
            try values.encode(rate.description, forKey: .rate)
            try values.encode(end, forKey: .end)
        }
    }
}
