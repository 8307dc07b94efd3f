// Code that changes a property while code of others runs. Compiled by accesses.py, which has to find each line that
// ends with `// here`, and no other.
public protocol Transport {
    func send() -> Bool
}

struct Queue {
    var count = 0
    var step: () -> Void = {}

    mutating func flush(_ transport: any Transport) { if transport.send() { count += 1 } }

    mutating func drop(_ isOver: (Int) -> Bool) { if isOver(count) { count = 0 } }

    mutating func run() { step() }

    mutating func add() { count += 1 }
}

public class Base {
    func told() {}
}

public final class Listener: Base {
    private let body: () -> Void

    init(_ body: @escaping () -> Void) { self.body = body }

    override func told() { body() }
}

public final class Socket {
    private var queue = Queue()
    private var items = [1]
    private let transport: any Transport
    private let listener: Base
    private let isWanted: (Int) -> Bool
    public var onEnd: (() -> Void)?  // here
    public var cause: (any Error)?  // here
    public var size = 0
    public var onChange: (() -> Void)? {
        get { handler }
        set { _ = exchange(&handler, with: newValue) }
    }
    private var handler: (() -> Void)?

    public init(_ transport: any Transport, _ listener: Listener, _ isWanted: @escaping (Int) -> Bool) {
        self.transport = transport
        self.listener = listener
        self.isWanted = isWanted
    }

    public func changes() {
        queue.flush(transport)  // here
        queue.drop(isWanted)  // here
        queue.run()  // here
        tell(&queue.count)  // here
        items.removeAll { isWanted($0) }  // here
        items.removeAll(where: isWanted)  // here
    }

    public func sets(_ handler: @escaping () -> Void) {
        self.handler = handler  // here
    }

    public func leavesWhole() {
        queue.add()
        queue.drop { $0 > size }
        items.removeAll { $0 == 1 }
        var own = queue
        own.flush(transport)
        if transport.send() { queue.count += 1 }
        _ = handler.take()
    }

    private func tell(_ count: inout Int) {
        listener.told()
        count += 1
    }
}
