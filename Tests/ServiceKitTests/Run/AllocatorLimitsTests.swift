import Testing

@testable import ServiceKit

/// The limits of what glibc's allocator keeps.
@Suite struct AllocatorLimitsTests {
    @Test(arguments: [(1, 2), (2, 2), (6, 6), (64, 16)])
    func thereIsAnArenaForEachProcessor(processors: Int, arenas: Int) {
        let limits = AllocatorLimits(processors: processors, environment: [:])
        #expect(limits.values[.arenasMax] == Int32(arenas))
        #expect(limits.values.count == 3)
    }

    @Test func theOperatorsVariablesComeFirst() {
        let limits = AllocatorLimits(
            processors: 4,
            environment: ["MALLOC_ARENA_MAX": "8", "MALLOC_TRIM_THRESHOLD_": "131072"]
        )
        #expect(limits.values == [.mapThreshold: 1 << 20])
    }

    @Test func tunablesOfTheAllocatorReplaceAllOfThem() {
        func count(_ tunables: String) -> Int {
            AllocatorLimits(processors: 4, environment: ["GLIBC_TUNABLES": tunables]).values.count
        }
        #expect(count("glibc.malloc.arena_max=1") == 0)
        #expect(count("glibc.rtld.nns=4") == 3)
    }
}
