import Testing
import UVFutures

struct DescriptorEventsTests {
    @Test("events are described by their names, and none is part of another")
    func names() {
        let all: [(DescriptorEvents, String)] = [
            (.readable, "readable"), (.writable, "writable"), (.disconnected, "disconnected"),
            (.prioritized, "prioritized"), (.failed, "failed"),
        ]
        for (event, name) in all { #expect("\(event)" == name) }
        #expect("\(DescriptorEvents([.readable, .failed]))" == "readable, failed")
        #expect("\(DescriptorEvents())" == "nothing")
    }
}
