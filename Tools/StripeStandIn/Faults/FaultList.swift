/// The faults that have not yet met all their requests.
struct FaultList: Sendable {
    private var faults: [StandInFault] = []

    mutating func add(_ fault: StandInFault) { faults.append(fault) }

    /// Lets the requests go on as usual.
    mutating func clear() { faults.removeAll() }

    /// Returns the fault that meets a request, and counts it.
    mutating func next(_ method: String, _ path: String) -> StandInFault.Kind? {
        guard
            let index = faults.firstIndex(where: {
                $0.count > 0 && path.hasPrefix($0.path) && ($0.method ?? method) == method
            })
        else { return nil }
        faults[index].count -= 1
        let kind = faults[index].kind
        if faults[index].count == 0 { faults.remove(at: index) }
        return kind
    }
}
