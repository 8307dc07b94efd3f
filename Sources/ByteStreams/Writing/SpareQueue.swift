/// Keeps the queue of a stream that gathers, while no stream of the loop does. Rarely do two gather in one turn.
final class SpareQueue {
    var queue: OutboundQueue?
}
