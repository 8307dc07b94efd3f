internal import Futures

/// Gets the events of one iteration for a task that waits, without a future for each element.
final class EventAsker: ElementAsker {
    let events: DescriptorEvents
    private let watch: DescriptorWatch
    private var source: ElementSource<DescriptorEvents>?

    init(_ watch: DescriptorWatch, _ events: DescriptorEvents) {
        self.watch = watch
        self.events = events
    }

    var subject: String? { "an event of descriptor \(watch.descriptor)" }

    func ask(for wait: ElementWait) -> Bool {
        guard watch.add(self) else { return false }
        source = (wait as! ElementSource<DescriptorEvents>)
        return true
    }

    func stopAsking(for wait: ElementWait) {
        if source.take() != nil { watch.remove(self) }
    }

    func deliver(_ events: DescriptorEvents) { source.take()?.deliver(events) }

    func end(because error: (any Error)?) { source.take()?.end(because: error) }
}
