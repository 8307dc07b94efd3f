/// A queue, first in, first out. Appending and taking an element take constant time on average.
package struct Fifo<Element> {
    private var elements: [Element?] = []
    private var head = 0

    package var count: Int { elements.count - head }
    package var isEmpty: Bool { count == 0 }
    package var first: Element? { isEmpty ? nil : elements[head] }
    package var all: [Element] { elements[head...].compactMap { $0 } }

    package init() {}

    package mutating func append(_ element: Element) { elements.append(.some(element)) }

    package mutating func removeAll(where shouldBeRemoved: (Element) -> Bool) {
        elements = all.filter { !shouldBeRemoved($0) }
        head = 0
    }

    package mutating func takeFirst() -> Element? {
        guard !isEmpty else { return nil }
        let element = elements[head]
        elements[head] = .none
        head += 1
        if head > 32, head > elements.count / 2 {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }
}
