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

    @Test("an event is left out only if it is the same as the one before it")
    func merging() throws {
        var events = DiskEvents()
        events.add(source: 1)
        let watches = try [7, 8].map { try events.watch($0, for: .ofFiles, by: 1) }
        let other = RelativePath(bytes: Array("y".utf8))
        for _ in 0..<2 { events.add(.modified, 7, name) }
        for _ in 0..<2 { events.add(.modified, 8, name) }
        for _ in 0..<2 { events.add(.modified, 8, other) }
        for _ in 0..<2 { events.add(.attributes, 8, other) }
        events.add(.modified, 8, other)
        let told = events.take(1)
        #expect(told.map(\.watch) == [watches[0]] + Array(repeating: watches[1], count: 4))
        #expect(told.map(\.name) == [name, name, other, other, other])
        let (modified, attributes) = (FileEventMask.modified.rawValue, FileEventMask.attributes.rawValue)
        #expect(told.map(\.changes.rawValue) == [modified, modified, modified, attributes, modified])
    }

    @Test("the two events of a rename have a number that they share with no other event")
    func cookies() throws {
        var events = DiskEvents()
        events.add(source: 1)
        for directory: UInt64 in [7, 8] { _ = try events.watch(directory, for: .ofFiles, by: 1) }
        events.add(.created, 7, name)
        for _ in 0..<2 { events.addRename(7, name, 8, name, isDirectory: false) }
        let told = events.take(1)
        let cookies = told.map(\.cookie)
        #expect(cookies == [0, cookies[1], cookies[1], cookies[3], cookies[3]])
        #expect(Set(cookies).count == 3)
        #expect(told.allSatisfy { !$0.changes.contains(.isDirectory) })
    }
}
