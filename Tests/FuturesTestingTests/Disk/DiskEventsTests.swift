import Testing
import UVFutures

@testable import FuturesTesting

struct DiskEventsTests {
    private let name = RelativePath(bytes: Array("x".utf8))

    @Test("events go to who watches the directory, and no more than the system keeps")
    func overflow() throws {
        var events = DiskEvents()
        for source in 1...2 { events.add(source: UInt64(source)) }
        let watch = try events.watch(7, for: .ofFiles, by: 1)
        #expect(try events.watch(7, for: .ofFiles, by: 1) == watch)
        _ = try events.watch(8, for: .ofFiles, by: 2)
        for number in 0..<20_000 { events.add(number % 2 == 0 ? .modified : .attributes, 7, name) }
        #expect(events.ready == [1])
        let told = events.take(1)
        #expect(told.count == 16_385)
        #expect(told.first?.watch == watch && told.last?.watch == -1)
        #expect(told.last?.changes.contains(.overflow) == true)
        #expect(events.take(1).isEmpty)
    }

    @Test("a watch ends with its directory, and with its source")
    func ends() throws {
        var events = DiskEvents()
        events.add(source: 1)
        _ = try events.watch(7, for: .ofFiles, by: 1)
        events.deleted(7)
        #expect(
            events.take(1).map(\.changes.rawValue) == [FileEventMask.selfDeleted, .ignored].map(\.rawValue))
        events.add(.modified, 7, name)
        #expect(events.ready.isEmpty)
        events.removeWatch(try events.watch(8, for: .ofFiles, by: 1), by: 1)
        #expect(events.take(1).map(\.changes.rawValue) == [FileEventMask.ignored.rawValue])
        _ = try events.watch(9, for: .ofFiles, by: 1)
        events.remove(1)
        events.add(.modified, 9, name)
        #expect(events.ready.isEmpty)
        #expect(throws: SystemError.self) { try events.watch(9, for: .ofFiles, by: 1) }
    }
}
